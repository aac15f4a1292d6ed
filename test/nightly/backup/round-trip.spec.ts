import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, restore, verify } from '../../../src/backup/commands.js';
import { migrate } from '../../../src/database/migrate.js';
import { MIGRATIONS } from '../../../src/database/migrations.js';
import { seedDemo } from '../../../src/demo/seed.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { backupOf, contentOf, emptyDatabase, refusal, relationsOf, succeed } from '../../support/backup-scene.js';
import { eventually } from '../../support/eventually.js';
import { fillEmptyTables } from '../../support/filled-tables.js';
import { startS3Server } from '../../support/s3-server.js';
import { onServer } from '../../support/test-run.js';
import { createExchangeDays } from '../../support/exchange-days.js';

let service: TestApp;
let archive: string;
let before: Record<string, string>;
const source = () => service.env.DATABASE_URL;

beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  await seedDemo(service.env, service.url);
  // The work of the demo comes to rest, so that the source stays as the archive has it.
  await eventually(async () => {
    const sql = `SELECT (SELECT count(*) FROM reference_clips) AS clips, (SELECT count(*) FROM recordings WHERE status <> 'stored') AS open`;
    expect(await service.dataSource.query(sql)).toEqual([{ clips: '2', open: '0' }]);
  });
  // The day of an exchange that a restore must create, because the migrations create only those from today on.
  await createExchangeDays(service.database, new Date('2026-01-05'), new Date('2026-01-05'));
  await service.app.close();
  await onServer(source(), async (client) => {
    expect(await fillEmptyTables(client)).toEqual({});
    await client.query(
      `UPDATE exchanges SET id = '019b8b7a-8c00-7000-8000-000000000001' WHERE id = (SELECT max(id::text)::uuid FROM exchanges)`,
    );
  });
  archive = await backupOf(source());
  before = await contentOf(source());
});
afterAll(() => service.close());

/** Without what a restore writes itself. */
function withoutMarks(content: Record<string, string>): Record<string, string> {
  const marks = ['table outbound_stop', 'table schema_version'];
  return Object.fromEntries(Object.entries(content).filter(([name]) => !marks.includes(name)));
}

async function restored(from: string): Promise<Record<string, string>> {
  const target = await emptyDatabase();
  try {
    await succeed((context) => restore({ from, database: target.url }, context), source());
    const { rows } = await onServer(target.url, (client) =>
      client.query<{ reason: string }>('SELECT reason FROM outbound_stop'),
    );
    expect(rows).toEqual([{ reason: expect.stringMatching(/^restored from a backup of 2/) }]);
    return withoutMarks(await contentOf(target.url));
  } finally {
    await target.drop();
  }
}

describe('a backup', () => {
  test('is restored with every row, sequence, index and constraint', async () => {
    const tables = Object.entries(before).filter(([name]) => name.startsWith('table '));
    expect(tables.length).toBeGreaterThan(35);
    expect(tables.filter(([, content]) => content.startsWith('0 rows'))).toEqual([]);
    expect(await restored(archive)).toEqual(withoutMarks(before));
  });

  test('is a tar archive of its owner alone, whose streams zstd can read', () => {
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    const names = execFileSync('tar', ['-tf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(names[0]).toBe('haulbridge-backup.json');
    expect(names).toContain('data/haulers/000001.zst');
    const manifest = execFileSync('tar', ['-xOf', archive, 'manifest.json'], { encoding: 'utf8' });
    expect(JSON.parse(manifest)).toMatchObject({ formatVersion: 1, migrations: MIGRATIONS.map(({ name }) => name) });
    expect(manifest).not.toContain(service.env.SECRETS_KEY.toString('hex'));
    expect(readdirSync(dirname(archive))).toEqual(['haulbridge.tar']);
  });

  test('goes to an object of a bucket and comes back from there', async () => {
    const s3 = await startS3Server({ locked: true });
    const place = s3.storageUrl('backups/haulbridge.tar');
    await succeed((context) => backup({ to: place }, context), source());
    expect(await restored(place)).toEqual(withoutMarks(before));
    expect(await s3.keysOfUploads()).toEqual([]);
    expect(await refusal((context) => restore({ from: s3.storageUrl('other.tar') }, context), source())).toBe(
      '--from: there is no object other.tar',
    );
    await s3.stop();
    expect(await refusal((context) => backup({ to: place }, context), source())).toMatch(
      /^--to: The storage \(S3\) failed/,
    );
  });

  test('has the rows of one moment, while others write', async () => {
    const busy = await emptyDatabase();
    await migrate(busy.url);
    await onServer(busy.url, (client) =>
      client.query(`INSERT INTO haulers (id, name) SELECT gen_random_uuid(), 'many' FROM generate_series(1, 30000)`),
    );
    let [isWriting, pairs] = [true, 0];
    const writing = onServer(busy.url, async (client) => {
      // The first table and a later one, in one transaction.
      for (; isWriting; pairs++)
        await client.query(
          `BEGIN; INSERT INTO haulers (id, name) VALUES (gen_random_uuid(), 'pair');
           INSERT INTO reference_clocks (customer_id, offset_ms) VALUES ('${pairs}', 0); COMMIT`,
        );
    });
    await eventually(() => expect(pairs).toBeGreaterThan(10));
    const [atStart, from] = [pairs, await backupOf(busy.url)];
    isWriting = false;
    await writing;
    expect(pairs).toBeGreaterThan(atStart + 10);
    const target = await emptyDatabase();
    await succeed((context) => restore({ from, database: target.url }, context), source());
    const { rows } = await onServer(target.url, (client) =>
      client.query<{ one: number; other: number }>(
        `SELECT (SELECT count(*) FROM haulers WHERE name = 'pair')::int AS one, (SELECT count(*) FROM reference_clocks)::int AS other`,
      ),
    );
    expect(rows[0]?.one).toBeGreaterThanOrEqual(atStart);
    expect(rows[0]?.other).toBe(rows[0]?.one);
    await Promise.all([busy.drop(), target.drop()]);
  });
});

describe('backup verify', () => {
  test('leaves nothing behind but the time, which /metrics of every instance shows', async () => {
    const metric = async () => {
      const instance = await startTestApp({ on: service });
      const headers = { Authorization: `Bearer ${instance.env.ADMIN_TOKEN}` };
      const { text } = await instance.call('GET', '/metrics', { headers });
      await instance.close();
      return /^backup_last_verified_timestamp (\S+)$/m.exec(text)?.[1];
    };
    await onServer(source(), (client) => client.query('DELETE FROM backup_verifications'));
    expect(await metric()).toBeUndefined();
    const content = () => contentOf(source(), ['backup_verifications']);
    const [contentBefore, relations] = [await content(), (await relationsOf(source())).sort()];
    const { sentence } = await succeed((context) => verify({ from: archive }, context), source());
    expect(sentence).toMatch(/^verified the backup of \S+: \d+ tables, \d+ rows$/);
    expect(await content()).toEqual(contentBefore);
    expect((await relationsOf(source())).sort()).toEqual(relations);
    expect(Number(await metric()) * 1000).toBeGreaterThan(Date.now() - 60_000);
  });
});
