import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Database } from '../../../src/core/database/database.js';
import { migrate } from '../../../src/core/database/migrate.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { requiredProgram } from '../../support/programs.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let stage: TestDatabase;

beforeAll(async () => void (stage = await createTestDatabase({ migrated: false })));
afterAll(() => stage.drop());

const SETTINGS = `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
  current_setting('plan_cache_mode') AS plan`;

test.each([
  ['refuses startup options', ''],
  ['drops startup options', 'ignore_startup_parameters = options'],
])('behind PgBouncer in transaction mode that %s, each statement has its settings', async (_, line) => {
  const { url, pooler } = await startPooler(line);
  const database = new Database({ DATABASE_URL: url, DATABASE_POOL: 3 });
  try {
    await eventually(() => database.query('SELECT 1'));
    expect(await database.query(SETTINGS)).toEqual([{ statement: '4s', lock: '0', plan: 'auto' }]);
    const hot = { statement: '4s', lock: '200ms', plan: 'force_generic_plan' };
    expect(await database.query(SETTINGS, [], { pool: 'hot' })).toEqual([hot]);
    expect(
      await database.transaction((transaction) => transaction.query(SETTINGS), {
        settings: { lock_timeout: '7s' },
        statementTimeoutMs: 9_000,
      }),
    ).toEqual([{ statement: '9s', lock: '7s', plan: 'auto' }]);
    await database.transaction(
      async (transaction) => {
        await transaction.query('CREATE TEMP TABLE numbers (n integer) ON COMMIT DROP');
        await transaction.copyIn('COPY numbers FROM STDIN', ['1\n', '2\n']);
        expect(await transaction.query('SELECT n FROM numbers ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
      },
      { pool: 'bulk' },
    );
    await migrate(url);
    expect(await migrate(url)).toEqual([]);
  } finally {
    await database.onApplicationShutdown();
    pooler.kill('SIGINT');
  }
});

async function startPooler(line: string): Promise<{ url: string; pooler: ChildProcess }> {
  const url = new URL(stage.url);
  const folder = mkdtempSync(join(tmpdir(), 'pooler-'));
  chmodSync(folder, 0o755);
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${url.username}" "${decodeURIComponent(url.password)}"\n`);
  const file = join(folder, 'pgbouncer.ini');
  const port = await freePort();
  const configuration = [
    '[databases]',
    `* = host=${url.hostname} port=${url.port}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'pool_mode = transaction'],
    ...['auth_type = trust', `auth_file = ${users}`, line],
  ];
  writeFileSync(file, `${configuration.join('\n')}\n`);
  const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn(requiredProgram('pgbouncer'), ['-q', ...asOther, file], { stdio: 'ignore' });
  url.port = String(port);
  return { url: url.href, pooler };
}
