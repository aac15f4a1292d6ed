import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createKey, hashKey } from '../../../src/auth/api-key.js';
import { Database } from '../../../src/database/database.js';
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

/** The number of statements that look up keys while `work` runs. */
async function lookups(work: () => Promise<void>): Promise<number> {
  const use = jest.spyOn(service.app.get(Database).hot, 'use');
  try {
    await work();
    return use.mock.calls.length;
  } finally {
    use.mockRestore();
  }
}

describe('a key opens', () => {
  test.concurrent('on every instance as soon as it is issued', async () => {
    for (let i = 0; i < 3; i++) {
      const { key } = await issue();
      expect(await statusWithKey(other, key)).toBe(ACCEPTED);
      expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    }
  });

  test.concurrent('until it is revoked: here at once, elsewhere within 5 s', async () => {
    const { id, key } = await issue();
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    expect(await statusWithKey(other, key)).toBe(ACCEPTED);
    await service.admin('DELETE', `/api-keys/${id}`);
    expect(await statusWithKey(service, key)).toBe(REFUSED);
    expect(await until(async () => (await statusWithKey(other, key)) === REFUSED)).toBeLessThan(5000);
    expect(await statusWithKey(other, key)).toBe(REFUSED);
  });

  test.concurrent('until it expires, although it is cached', async () => {
    // All of these run at once: the first call has to come before.
    const expires = Date.now() + 4000;
    const { key } = await issue({ expiresAt: new Date(expires).toISOString() });
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    await until(async () => (await statusWithKey(service, key)) === REFUSED);
    expect(Date.now()).toBeGreaterThanOrEqual(expires);
    expect(Date.now()).toBeLessThan(expires + 1500);
  });
});

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

describe('the lookup of keys sends', () => {
  test('no query for a key in use', async () => {
    const { key } = await issue();
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    const asked = await lookups(async () => {
      for (let i = 0; i < 50; i++) expect(await statusWithKey(service, key)).toBe(ACCEPTED);
    });
    // A slow machine may take longer than a cached key is fresh.
    expect(asked).toBeLessThanOrEqual(1);
  });

  test('fewer queries than concurrent keys', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => issue()));
    const asked = await lookups(async () => {
      const statuses = await Promise.all(
        keys.flatMap(({ key }) => [statusWithKey(service, key), statusWithKey(service, key)]),
      );
      expect(new Set(statuses)).toEqual(new Set([ACCEPTED]));
    });
    expect(asked).toBeLessThan(keys.length);
  });

  test('no query for a text that is not a key', async () => {
    const asked = await lookups(async () => {
      for (const text of ['garbage', '', createKey().key.slice(1)])
        expect(await statusWithKey(service, text)).toBe(REFUSED);
    });
    expect(asked).toBe(0);
  });

  test('one query a second for a wrong key, however often it is sent', async () => {
    const { key } = createKey();
    const started = performance.now();
    const asked = await lookups(async () => {
      for (let i = 0; i < 100; i++) expect(await statusWithKey(service, key)).toBe(REFUSED);
    });
    expect(asked).toBeLessThanOrEqual(1 + (performance.now() - started) / 1_000);
  });

  test('few queries for many wrong keys at the same time, and a right key is accepted between them', async () => {
    const { key } = await issue();
    const wrong = Array.from({ length: 200 }, () => createKey().key);
    const asked = await lookups(async () => {
      const statuses = await Promise.all([...wrong, key].map((each) => statusWithKey(service, each)));
      expect(statuses).toEqual([...wrong.map(() => REFUSED), ACCEPTED]);
    });
    expect(asked).toBeLessThan(wrong.length);
  });
});

const find = (key: string) => service.app.get(KeyLookup).find(hashKey(key));

describe('a lookup', () => {
  const change = (id: string, set: string) =>
    service.dataSource.query(`UPDATE api_keys SET ${set} WHERE id = $1`, [id]);

  test.each([
    ['was revoked', 'revoked_at'],
    ['has expired', 'expires_at'],
    ['has had its overlap', 'retires_at'],
  ])('does not find a key that %s', async (_what, end) => {
    const { id, key } = await issue({ expiresAt: '2099-01-01T00:00:00Z' });
    await change(id, "retires_at = now() + interval '1 hour'");
    expect(await find(key)).toMatchObject({ principal: { keyId: id } });
    await change(id, `${end} = now()`);
    expect(await find(key)).toBeUndefined();
  });

  test('answers concurrent lookups of one key', async () => {
    const { id, key } = await issue();
    const found = await Promise.all([find(key), find(key), find(key)]);
    expect(found.map((one) => one?.principal.keyId)).toEqual([id, id, id]);
  });
});

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
