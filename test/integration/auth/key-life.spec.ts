import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { hashKey } from '../../../src/auth/api-key.js';
import { KeyLookup } from '../../../src/auth/key-cache.js';
import { LastUse } from '../../../src/auth/api-key.service.js';
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

async function lastUsedAt(id: string): Promise<string | null> {
  const [row]: { at: string | null }[] = await service.dataSource.query(
    'SELECT last_used_at::text AS at FROM api_keys WHERE id = $1',
    [id],
  );
  return row?.at ?? null;
}

describe('on a connection that is reused', () => {
  let agent: Agent;
  const ports = new Set<number | undefined>();
  beforeEach(() => {
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    ports.clear();
  });
  afterEach(() => {
    agent.destroy();
    expect(ports.size).toBe(1);
  });

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
});

const find = (key: string) => service.app.get(KeyLookup).find(hashKey(key));

describe('last use', () => {
  test.concurrent('is written once a minute, without delay for the request, and not for refused calls', async () => {
    const { id, key } = await issue();
    const refused = await issueKey(service, ['scale'], { haulerId });
    expect(await statusWithKey(service, refused.key)).toBe(REFUSED);
    const before = Date.now();
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    await until(async () => (await lastUsedAt(id)) !== null);
    const first = await lastUsedAt(id);
    expect(Date.parse(String(first))).toBeGreaterThanOrEqual(before);
    for (let i = 0; i < 3; i++) expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    // A later use of another key: all earlier uses are written with it.
    const later = await issue();
    expect(await statusWithKey(service, later.key)).toBe(ACCEPTED);
    await until(async () => (await lastUsedAt(later.id)) !== null);
    expect(await lastUsedAt(id)).toBe(first);
    expect(await lastUsedAt(refused.id)).toBeNull();
  });

  test.concurrent('is written again after a minute', async () => {
    const { id, key } = await issue();
    await service.dataSource.query(`UPDATE api_keys SET last_used_at = now() - interval '61 s' WHERE id = $1`, [id]);
    const before = await lastUsedAt(id);
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    await until(async () => (await lastUsedAt(id)) !== before);
  });

  test.concurrent('is not written again within the minute, also if another instance has written it', async () => {
    const [{ id, key }, later] = [await issue(), await issue()];
    await service.dataSource.query(`UPDATE api_keys SET last_used_at = now() - interval '30 s' WHERE id = $1`, [id]);
    const before = await lastUsedAt(id);
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, later.key)).toBe(ACCEPTED);
    await until(async () => (await lastUsedAt(later.id)) !== null);
    expect(await lastUsedAt(id)).toBe(before);
  });

  describe('that one instance has collected', () => {
    const NOON = Date.parse('2026-01-31T12:00:00Z');
    const LATER = Date.parse('2026-01-31T12:00:01Z');

    /** A key, and an instance that collects and writes its uses. */
    async function noting() {
      const { id, key } = await issue();
      const known = await find(key);
      if (known === undefined) throw new Error('the key was issued');
      const lastUse = new LastUse(service.dataSource);
      return { id, note: (at: number) => lastUse.record(known, at), write: () => lastUse.onApplicationShutdown() };
    }

    const written = async (id: string) => Date.parse(String(await lastUsedAt(id)));

    test('never replaces a later one', async () => {
      const { id, note, write } = await noting();
      await service.dataSource.query('UPDATE api_keys SET last_used_at = $2 WHERE id = $1', [id, new Date(LATER)]);
      note(NOON);
      await write();
      expect(await written(id)).toBe(LATER);
    });

    test('is written once', async () => {
      const { id, note, write } = await noting();
      note(NOON);
      await write();
      await service.dataSource.query('UPDATE api_keys SET last_used_at = NULL WHERE id = $1', [id]);
      await write();
      expect(await lastUsedAt(id)).toBeNull();
    });

    test('is written with the next use if a write failed', async () => {
      const { id, note, write } = await noting();
      // Other statements of the service pass: one of them could take the only failure.
      const query = service.dataSource.query.bind(service.dataSource);
      const failing = jest
        .spyOn(service.dataSource, 'query')
        .mockImplementation(((sql: string, values?: unknown[]) =>
          sql.includes('last_used_at')
            ? Promise.reject(new Error('unavailable'))
            : query(sql, values)) as typeof query);
      note(NOON);
      await write();
      failing.mockRestore();
      note(LATER);
      await write();
      expect(await written(id)).toBe(LATER);
    });
  });

  test('is written by a shutdown', async () => {
    const third = await startTestApp({ on: service });
    const { id, key } = await issue();
    expect(await statusWithKey(third, key)).toBe(ACCEPTED);
    await third.close();
    expect(await lastUsedAt(id)).not.toBeNull();
  });
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
