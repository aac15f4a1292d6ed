import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  backupOf,
  commandSucceeds,
  emptyDatabase,
  newFolder,
  relationsOf,
  startCommand,
  startProgram,
  variablesOf,
} from '../../support/backup-scene.js';
import { eventually } from '../../support/eventually.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

const ROWS = 60_000;
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

test(
  'a restore or a verification that is killed leaves the database as it was',
  async () => {
    const target = await emptyDatabase();
    const words = ['restore', '--from', archive, '--database', target.url];
    const killed = startCommand(words, variablesOf(source.url));
    await statementIn(target, 'COPY%');
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    await eventually(async () => expect(await relationsOf(target.url)).toEqual([]));

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
