import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readEnv, type ResolvedEnv } from '../../src/config/env.js';
import { createKey } from '../../src/auth/api-key.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { OTHER_SECRETS_KEY } from '../support/cell-scene.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { type CellProxy, prepareProxy, type ProxyKind } from '../support/cell-proxy.js';
import { eventually } from '../support/eventually.js';
import { requirePrograms } from '../support/programs.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, onServer } from '../support/test-run.js';

const id = DEMO.haulerId;

/** Two services start, and the demo is fetched. */
const HOOK_MS = 180_000;

interface Cell {
  readonly service: BuiltService;
  readonly database: TestDatabase;
  readonly variables: Record<string, string>;
}

async function startCell(name: string, secretsKey: string, publicUrl: string): Promise<Cell> {
  const database = await createTestDatabase();
  const env = { CELL: name, SECRETS_KEY: secretsKey, PUBLIC_URL: publicUrl, TRUST_PROXY: '127.0.0.1' };
  const service = await startService({ databaseUrl: database.url, env });
  const other = secretsKey === TEST_SECRETS_KEY ? OTHER_SECRETS_KEY : TEST_SECRETS_KEY;
  const variables = { ...env, DATABASE_URL: database.url, DATA_DIR: service.dataDir, SOURCE_SECRETS_KEY: other };
  return { service, database, variables };
}

const query = <Row extends object>({ database }: Cell, sql: string): Promise<Row[]> =>
  onServer(database.url, async (client) => (await client.query<Row>(sql, [id])).rows);

describe.each<ProxyKind>(['haproxy', 'nginx'])('two cells behind %s', (kind) => {
  let [a, b]: [Cell | undefined, Cell | undefined] = [undefined, undefined];
  let proxy: CellProxy | undefined;
  let url: string;
  let demo: Demo;

  beforeAll(async () => {
    requirePrograms(kind);
    const prepared = await prepareProxy(kind);
    ({ url } = prepared);
    a = await startCell('a', TEST_SECRETS_KEY, url);
    b = await startCell('b', OTHER_SECRETS_KEY, url);
    proxy = await prepared.start([a.service.url, b.service.url]);
    // The partner side of the demo is behind the proxy too, and moves with the hauler.
    const env = {
      ...readEnv({ DATABASE_URL: a.database.url, ADMIN_TOKEN: TEST_ADMIN_TOKEN, SECRETS_KEY: TEST_SECRETS_KEY }),
    };
    demo = await seedDemo({ ...env, DATA_DIR: a.service.dataDir } as ResolvedEnv, url);
    await eventually(async () => {
      const sql = `SELECT count(*) FILTER (WHERE source = 'continuous') AS listed, count(*) FILTER (WHERE status <> 'stored') AS open
        FROM recordings WHERE hauler_id = $1`;
      expect(await query(cell(a), sql)).toEqual([{ listed: '20', open: '0' }]);
    });
  }, HOOK_MS);
  afterAll(async () => {
    await proxy?.stop();
    for (const each of [a, b]) {
      await each?.service.end();
      await each?.database.drop();
    }
  });

  const cell = (found: Cell | undefined): Cell => {
    if (found === undefined) throw new TypeError('the cell has not started');
    return found;
  };

  test('a request reaches the cell of its key or of its path', async () => {
    const foreign = await fetch(`${url}/partner/v1/me`, { headers: { 'API-KEY': createKey('b').key } });
    expect([foreign.status, cell(b).service.output().length >= 0]).toEqual([401, true]);
    const headers = { Authorization: `Bearer ${TEST_ADMIN_TOKEN}` };
    const haulers = async (path: string) => {
      const response = await fetch(`${url}${path}/admin/v1/haulers`, { headers });
      return ((await response.json()) as { data: unknown[] }).data.length;
    };
    expect([await haulers('/cells/a'), await haulers('/cells/b'), await haulers('')]).toEqual([1, 0, 1]);
    const own = await fetch(`${url}/partner/v1/me`, { headers: { 'PLATFORM-API-KEY': demo.keys.platform } });
    expect(own.status).toBe(200);
    const chosen = await fetch(`${url}/admin/v1/haulers`, { headers: { ...headers, Cookie: 'haulbridge_cell=b' } });
    expect(((await chosen.json()) as { data: unknown[] }).data).toEqual([]);
    const unknown = await fetch(`${url}/cells/zzz/health/live`);
    expect(unknown.status).toBe(404);
  });
});
