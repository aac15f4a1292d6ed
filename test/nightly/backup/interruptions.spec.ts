import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backup, restore, verify } from '../../../src/backup/commands.js';
import {
  backupOf,
  type CommandProcess,
  commandSucceeds,
  contentOf,
  emptyDatabase,
  newFolder,
  refusal,
  relationsOf,
  startCommand,
  startProgram,
  variablesOf,
} from '../../support/backup-scene.js';
import { eventually } from '../../support/eventually.js';
import { startS3Server } from '../../support/s3-server.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

const ROWS = 60_000;
const MIB = 1024 ** 2;
/** For a machine that does much else. */
const TIMEOUT_MS = 240_000;

let source: TestDatabase;
let archive: string;
beforeAll(async () => {
  source = await createTestDatabase();
  // 60 MB of text that hardly compresses.
  await onServer(source.url, (client) =>
    client.query(
      `INSERT INTO haulers (id, name)
       SELECT gen_random_uuid(), (SELECT string_agg(md5(n::text || part::text), '') FROM generate_series(1, 32) part)
         FROM generate_series(1, ${ROWS}) n`,
    ),
  );
  archive = await backupOf(source.url);
}, TIMEOUT_MS);
afterAll(() => source.drop(), TIMEOUT_MS);

/** Waits until a session of the command runs a statement of this form, and returns its process id. */
const statementIn = ({ url }: TestDatabase, form: string): Promise<number> =>
  eventually(() =>
    onServer(url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'haulbridge backup' AND query LIKE $1 AND state <> 'idle'`,
        [form],
      );
      if (rows[0] === undefined) throw new Error(`no statement ${form}`);
      return rows[0].pid;
    }),
  );

/** The highest resident memory of a process while it runs, in bytes. Linux only. */
async function peakMemory({ child, ended }: CommandProcess): Promise<number> {
  let [peak, isRunning] = [0, true];
  void ended.then(() => (isRunning = false));
  while (isRunning) {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
    } catch {
      // It has just ended.
    }
    await delay(20);
  }
  return peak;
}

test(
  'backup and restore of 60 MB of rows need little memory, and restore says how far it is',
  async () => {
    const target = await emptyDatabase();
    const heap = ['--max-old-space-size=96'];
    for (const words of [
      ['backup', '--to', join(newFolder(), 'a.tar')],
      ['restore', '--from', archive, '--database', target.url],
    ]) {
      const command = startCommand(words, variablesOf(source.url), heap);
      const peak = await peakMemory(command);
      expect([await command.ended, command.output()]).toEqual([0, expect.stringContaining(`${ROWS + 1} rows`)]);
      expect(peak).toBeLessThan(400 * MIB);
    }
    const haulers = (content: Record<string, string>) => content['table haulers'];
    expect(haulers(await contentOf(target.url))).toBe(haulers(await contentOf(source.url)));
    await target.drop();
  },
  TIMEOUT_MS,
);

test(
  'a backup that is interrupted or loses its connection leaves no file, and one that is killed none of that name',
  async () => {
    const folder = newFolder();
    const to = join(folder, 'haulbridge.tar');
    // The last large table is locked, so that the backup stops in the middle.
    await onServer(source.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE tickets');
      const command = startCommand(['backup', '--to', to], variablesOf(source.url));
      await statementIn(source, '%FROM "tickets"%');
      command.child.kill('SIGTERM');
      await client.query('COMMIT');
      expect([await command.ended, command.output()]).toEqual([1, expect.stringMatching(/error: interrupted\n$/)]);
      expect(readdirSync(folder)).toEqual([]);

      await client.query('BEGIN; LOCK TABLE tickets');
      const lost = refusal((context) => backup({ to }, context), source.url);
      const pid = await statementIn(source, '%FROM "tickets"%');
      await client.query('SELECT pg_terminate_backend($1)', [pid]);
      expect(await lost).toMatch(/^DATABASE_URL: the (service|database) /);
      expect(readdirSync(folder)).toEqual([]);

      const killed = startCommand(['backup', '--to', to], variablesOf(source.url));
      await statementIn(source, '%FROM "tickets"%');
      killed.child.kill('SIGKILL');
      expect(await killed.ended).toBe('SIGKILL');
      expect(existsSync(to)).toBe(false);
      await client.query('COMMIT');
    });
  },
  TIMEOUT_MS,
);

test(
  'a backup to a bucket that fails leaves neither an object nor an upload',
  async () => {
    const s3 = await startS3Server();
    await onServer(source.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE tickets');
      const failed = refusal((context) => backup({ to: s3.storageUrl('haulbridge.tar') }, context), source.url);
      const pid = await statementIn(source, '%FROM "tickets"%');
      await eventually(async () => expect(await s3.keysOfUploads()).toEqual(['haulbridge.tar']));
      await client.query('SELECT pg_terminate_backend($1)', [pid]);
      expect(await failed).toMatch(/^DATABASE_URL: the (service|database) /);
      await client.query('COMMIT');
    });
    expect(await s3.keysOfUploads()).toEqual([]);
    expect(readdirSync(join(s3.directory, 'objects'))).toEqual([]);
    await s3.stop();
  },
  TIMEOUT_MS,
);

test(
  'a restore or a verification that is killed, or loses its connection, leaves the database as it was',
  async () => {
    const target = await emptyDatabase();
    const words = ['restore', '--from', archive, '--database', target.url];
    const killed = startCommand(words, variablesOf(source.url));
    await statementIn(target, 'COPY%');
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    await eventually(async () => expect(await relationsOf(target.url)).toEqual([]));

    const lost = refusal((context) => restore({ from: archive, database: target.url }, context), source.url);
    const pid = await statementIn(target, 'COPY%');
    await onServer(target.url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]));
    expect(await lost).toMatch(/^DATABASE_URL: the (service|database) /);
    expect(await relationsOf(target.url)).toEqual([]);

    const relations = (await relationsOf(source.url)).sort();
    const verifying = startCommand(['backup', 'verify', '--from', archive], variablesOf(source.url));
    await statementIn(source, 'COPY%FROM STDIN%');
    verifying.child.kill('SIGKILL');
    expect(await verifying.ended).toBe('SIGKILL');
    await eventually(async () => expect((await relationsOf(source.url)).sort()).toEqual(relations));
    await target.drop();
  },
  TIMEOUT_MS,
);

test(
  'a verification that fails removes what it restored, and records no time',
  async () => {
    const odd = await createTestDatabase();
    await onServer(odd.url, (client) => client.query('ALTER TABLE sites ADD COLUMN by_hand text'));
    const from = await backupOf(odd.url);
    const relations = (await relationsOf(odd.url)).sort();
    expect(await refusal((context) => verify({ from }, context), odd.url)).toMatch(/^the table sites of the archive/);
    expect((await relationsOf(odd.url)).sort()).toEqual(relations);
    const { rows } = await onServer(odd.url, (client) => client.query('SELECT FROM backup_verifications'));
    expect(rows).toEqual([]);
    await odd.drop();
  },
  TIMEOUT_MS,
);

test(
  'a service on the embedded database is backed up while it runs and while it does not, and goes on from the backup',
  async () => {
    const [oldDir, newDir, folder] = [newFolder(), newFolder(), newFolder()];
    const variables = (DATA_DIR: string) => ({ DATA_DIR, PORT: '0', DEMO: 'false', LOG_LEVEL: 'silent' });
    const serve = async (dataDir: string) => {
      const service = startProgram('src/main.ts', [], variables(dataDir));
      await eventually(() => expect(service.output()).toMatch(/listens on/));
      return service;
    };
    const first = await serve(oldDir);
    await commandSucceeds(['hauler', 'create', '--name', 'Embedded'], variables(oldDir));
    const [running, stopped] = [join(folder, 'running.tar'), join(folder, 'stopped.tar')];
    expect(await commandSucceeds(['backup', '--to', running], variables(oldDir))).toMatch(/^wrote /m);
    expect(await commandSucceeds(['backup', 'verify', '--from', running], variables(oldDir))).toMatch(/^verified /m);
    first.child.kill('SIGTERM');
    await first.ended;
    expect(await commandSucceeds(['backup', '--to', stopped], variables(oldDir))).toMatch(/^wrote /m);

    const refused = startCommand(['restore', '--from', stopped], variables(newDir));
    expect([await refused.ended, refused.output()]).toEqual([
      1,
      expect.stringContaining('copy the file of the old DATA_DIR'),
    ]);
    expect(readdirSync(newDir)).toEqual([]);
    copyFileSync(join(oldDir, 'secrets.json'), join(newDir, 'secrets.json'));
    expect(await commandSucceeds(['restore', '--from', stopped], variables(newDir))).toMatch(/^restored /m);
    const second = await serve(newDir);
    expect(await commandSucceeds(['hauler', 'list'], variables(newDir))).toContain('Embedded');
    second.child.kill('SIGTERM');
    await second.ended;
  },
  TIMEOUT_MS,
);
