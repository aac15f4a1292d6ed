import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { doctor } from '../../../src/backup/doctor.js';
import { WORK } from '../../../src/backup/doctor.repository.js';
import { clockVerdict, replicationVerdict } from '../../../src/backup/doctor.rules.js';
import { newFolder, run, startCommand, variablesOf } from '../../support/backup-scene.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';
import { createExchangeDays, daysAgo, queryingOf } from '../../support/exchange-days.js';

let database: TestDatabase;
let storage: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  storage = newFolder();
  await sql(`DELETE FROM backup_verifications;
    INSERT INTO backup_verifications (verified_at, archive_created_at) VALUES (now() - interval '5 hours', now() - interval '6 hours')`);
});

const sql = (text: string) => onServer(database.url, (client) => client.query(text));

async function examine(url = database.url) {
  const outcome = await run((context) => doctor(context), url, { STORAGE_URL: `file:${storage}` });
  if ('failure' in outcome) throw new Error(outcome.failure);
  const { details, failure } = outcome.result;
  const checks = details['checks'] as { name: string; ok: boolean; text: string }[];
  const texts = Object.fromEntries(checks.map(({ name, text }) => [name, text]));
  return { wrong: checks.filter(({ ok }) => !ok).map(({ name }) => name), texts, failure };
}

test('each line is ok, or says what to do, and the exit code is 1', async () => {
  const variables = { ...variablesOf(database.url), STORAGE_URL: `file:${storage}` };
  const good = startCommand(['doctor'], variables);
  expect([await good.ended, good.output().trimEnd().split('\n')]).toEqual([
    0,
    [
      expect.stringMatching(/^ok {5}database {5}PostgreSQL \d+(\.\d+)?.*, primary, takes writes$/),
      expect.stringMatching(/^ok {5}replication {2}no standby is connected$/),
      expect.stringMatching(/^ok {5}migrations {3}\d+ applied, none pending, none unknown$/),
      expect.stringMatching(
        /^ok {5}partitions {3}exchanges \d+, [23] days ahead; recordings \d+, [12] months ahead; ticket_revisions \d+, [12] months ahead$/,
      ),
      expect.stringMatching(/^ok {5}due work {5}nothing is due$/),
      expect.stringMatching(/^ok {5}storage {6}takes files/),
      expect.stringMatching(/^ok {5}sums by day {2}trucks compared with the recordings: 0; none differs$/),
      expect.stringMatching(/^ok {5}backup {7}verified 5 h ago, of \d{4}-/),
      expect.stringMatching(/^ok {5}clock {8}0\.\d s (behind|ahead of) the database$/),
    ],
  ]);
  await sql('DELETE FROM backup_verifications');
  const bad = startCommand(['doctor'], variables);
  expect([await bad.ended, bad.output()]).toEqual([
    1,
    expect.stringMatching(
      /^WRONG {2}backup {7}no backup was ever verified: run backup and backup verify$[^]*^error: to be put right: backup$/m,
    ),
  ]);
});

test('a backup that was verified long ago, work that waits, missing partitions and a pending migration are wrong', async () => {
  const other = await createTestDatabase();
  await onServer(other.url, async (client) => {
    await client.query(
      `INSERT INTO backup_verifications (verified_at, archive_created_at) VALUES (now() - interval '8 days', now())`,
    );
    await client.query(`DO $$ DECLARE part regclass; BEGIN
      FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'exchanges'::regclass LOOP EXECUTE 'DROP TABLE ' || part; END LOOP; END $$`);
    await createExchangeDays(queryingOf(client), daysAgo(2), daysAgo(1));
    await client.query(`INSERT INTO haulers (id, name) VALUES ('01a00000-0000-7000-8000-000000000001', 'h')`);
    await client.query(
      `INSERT INTO reference_video_requests (id, customer_id, truck_id, camera_id, start_time, end_time, status, due_at, created_at)
       VALUES (gen_random_uuid(), 'c', 't', 'cam', now(), now(), 'processing', now() - interval '40 minutes', now())`,
    );
    await client.query(`DELETE FROM migrations WHERE name LIKE 'CreateBackupVerifications%'`);
  });
  const { wrong, texts, failure } = await examine(other.url);
  expect(wrong).toEqual(['migrations', 'partitions', 'due work', 'backup']);
  expect(failure).toBe('to be put right: migrations, partitions, due work, backup');
  expect(texts).toMatchObject({
    migrations: expect.stringMatching(/^1 pending \(CreateBackupVerifications\d+\): run npm run migrate$/),
    partitions: expect.stringMatching(
      /^exchanges 2, -1 days ahead; recordings \d+, [12] months ahead; ticket_revisions \d+, [12] months ahead: start the service, which creates those of exchanges$/,
    ),
    'due work': 'the oldest waits: clips of the reference partner 40 min: start the service, or look at its log',
    backup: expect.stringMatching(/^verified 192 h ago, of \S+: run backup and backup verify$/),
  });
  await other.drop();
});

test('a read-only database, a storage that takes no files, and a database without tables are wrong', async () => {
  const readOnly = Object.assign(new URL(database.url), { search: '?options=-c%20default_transaction_read_only%3Don' });
  writeFileSync(join(storage, '.partial'), 'in the way');
  chmodSync(storage, 0o500);
  const { wrong, texts } = await examine(readOnly.href);
  expect(wrong).toEqual(['database', 'storage']);
  expect(texts['database']).toMatch(/primary, but read-only/);
  expect(texts['storage']).toMatch(/^STORAGE_URL: The video storage failed/);
  const empty = await createTestDatabase({ migrated: false });
  expect((await examine(empty.url)).wrong).toEqual(expect.arrayContaining(['migrations', 'due work', 'backup']));
  await empty.drop();
});

test('a database that cannot be reached is one sentence', async () => {
  const away = Object.assign(new URL(database.url), { port: '1' });
  const outcome = await run((context) => doctor(context), away.href);
  expect(outcome).toEqual({ failure: expect.stringMatching(/^DATABASE_URL: .+ECONNREFUSED/) });
});

test('all tables with scheduled work are looked at', async () => {
  const { rows } = await onServer(database.url, (client) =>
    client.query<{ name: string }>(
      `SELECT attrelid::regclass::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        WHERE attname IN ('due_at', 'started_at', 'attempts') GROUP BY 1 HAVING count(*) = 3`,
    ),
  );
  expect(new Set(rows.map(({ name }) => name).filter((name) => name !== 'sync_runs'))).toEqual(
    new Set(WORK.map(({ table }) => table)),
  );
});

test('standbys that are late, hidden or missing, and clocks that differ', () => {
  const standby = { name: 'one', state: 'streaming', syncState: 'async', lagSeconds: 1 };
  expect(replicationVerdict([standby], '')).toEqual({ ok: true, text: 'one streaming async, 1 s behind' });
  expect(replicationVerdict([standby], 'one')).toMatchObject({
    ok: false,
    text: expect.stringContaining('commits wait'),
  });
  expect(replicationVerdict([{ ...standby, lagSeconds: 300 }], '').ok).toBe(false);
  expect(replicationVerdict([{ ...standby, state: null }], 'one')).toMatchObject({
    ok: true,
    text: expect.stringContaining('GRANT pg_monitor'),
  });
  expect([clockVerdict(1900).ok, clockVerdict(-2100).ok, clockVerdict(5 * 86_400_000).ok]).toEqual([
    true,
    false,
    false,
  ]);
});
