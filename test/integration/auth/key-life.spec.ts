import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import { createHauler, issueKey, neighbour } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { ACCEPTED, callWithKey, REFUSED, statusWithKey, until } from '../../support/key-status.js';
import { testServer, onServer } from '../../support/test-run.js';

let service: TestApp;
let other: TestApp;
let haulerId: string;
beforeAll(async () => {
  service = await startTestApp();
  other = await startTestApp({ on: service });
  haulerId = await createHauler(service);
});
afterAll(async () => {
  await other.close();
  await service.close();
});

const issue = (options = {}) => issueKey(service, ['account'], { haulerId, ...options });

async function create(key: string, accountName: string): Promise<number> {
  const url = service.url + ACCOUNT_API.prefix + ACCOUNT_API.routes.createAccount.path;
  const headers = { [ACCOUNT_API.keyHeader]: key, 'Content-Type': 'application/json' };
  const call = request(url, { method: 'POST', agent, headers }).end(JSON.stringify({ accountName }));
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  ports.add(call.socket?.localPort);
  await response.resume().toArray();
  return response.statusCode ?? 0;
}

const accountsOf = async (id: string) =>
  (
    await service.dataSource.query<{ name: string }[]>(
      'SELECT account_name AS name FROM accounts WHERE hauler_id = $1 ORDER BY account_name',
      [id],
    )
  ).map(({ name }) => name);

test('each call has its own key', async () => {
  const [mine, theirs] = [await issueKey(service, ['account']), await issueKey(service, ['account'])];
  for (const [key, name] of [
    [mine.key, 'Shared 1'],
    [theirs.key, 'Shared 2'],
    [theirs.key, 'Shared 3'],
    [mine.key, 'Shared 4'],
  ] as const) {
    expect(await create(key, name)).toBe(200);
  }
  expect(await accountsOf(mine.haulerId)).toEqual(['Shared 1', 'Shared 4']);
  expect(await accountsOf(theirs.haulerId)).toEqual(['Shared 2', 'Shared 3']);
});

test('an invalid key neither opens after a valid one nor locks it', async () => {
  const { key } = await issue();
  for (const wrong of [neighbour(key), `${key}x`, 'garbage', '']) {
    expect(await create(key, `Valid beside ${wrong}`)).toBe(200);
    expect(await create(wrong, 'Invalid')).toBe(REFUSED);
  }
});

test('a revoked key is refused', async () => {
  const { id, key } = await issue();
  expect(await create(key, 'Before')).toBe(200);
  await service.admin('DELETE', `/api-keys/${id}`);
  expect(await create(key, 'After')).toBe(REFUSED);
});
describe('without a database', () => {
  test('a key that cannot be checked in time is 503 with Retry-After, within 5 s, and stays valid', async () => {
    const { key } = await issue();
    await service.dataSource.transaction(async (manager) => {
      await manager.query('LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
      const start = performance.now();
      const reply = await callWithKey(service, key);
      expect(reply.status).toBe(503);
      expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(reply.body).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
      expect(performance.now() - start).toBeLessThan(5000);
    });
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
  });

  test('a cached key opens, another one is 503 until the database is back', async () => {
    const third = await startTestApp();
    try {
      const known = await issueKey(third, ['account']);
      const unknown = await issueKey(third, ['account']);
      expect(await statusWithKey(third, known.key)).toBe(ACCEPTED);
      const database = new URL(third.env.DATABASE_URL).pathname.slice(1);
      await allowConnections(database, false);
      expect(await statusWithKey(third, known.key)).toBe(ACCEPTED);
      expect(await statusWithKey(third, unknown.key)).toBe(503);
      await allowConnections(database, true);
      await until(async () => (await statusWithKey(third, unknown.key)) === ACCEPTED);
    } finally {
      await third.close();
    }
  });
});

async function allowConnections(database: string, allowed: boolean): Promise<void> {
  await onServer(testServer().adminUrl, async (client) => {
    await client.query(`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS ${allowed}`);
    if (!allowed) {
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
    }
  });
}
