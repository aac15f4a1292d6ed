import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashKey } from '../../../src/auth/api-key.js';
import { KeyLookup } from '../../../src/auth/key-cache.js';
import { createHauler, issueKey, type TestKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { ACCEPTED, callWithKey, REFUSED, statusWithKey, until } from '../../support/key-status.js';

const DAY = 86_400;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

type Shown = Readonly<Record<string, unknown>> & { readonly expiresAt: string | null };

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

async function rotate(id: string, body?: unknown): Promise<TestKey> {
  const reply = await service.admin<TestKey>('POST', `/api-keys/${id}/rotate`, body);
  expect(reply.status).toBe(201);
  return reply.body;
}

async function shown(id: string): Promise<Shown> {
  const { body } = await service.admin<{ data: Shown[] }>('GET', `/api-keys?haulerId=${haulerId}&pageSize=100`);
  return body.data.find((key) => key['id'] === id) ?? { expiresAt: null };
}

/** Seconds until the end of a key. */
const secondsLeft = ({ expiresAt }: Shown) => (Date.parse(String(expiresAt)) - Date.now()) / 1000;

describe('the new key', () => {
  test('inherits owner, interfaces, name and expiry, and is another key', async () => {
    const old = await issueKey(service, ['vision', 'account'], {
      haulerId,
      customerId: 'c',
      name: 'Gate',
      expiresAt: '2099-01-01T00:00:00Z',
    });
    const next = await rotate(old.id);
    expect({ ...next, id: '', key: '', prefix: '', createdAt: '' }).toEqual({
      ...old,
      replacesId: old.id,
      id: '',
      key: '',
      prefix: '',
      createdAt: '',
    });
    expect(next.id).not.toBe(old.id);
    expect(next.key).not.toBe(old.key);
    expect(next.key.startsWith(next.prefix)).toBe(true);
  });

  test('is dormant: the old key does not change before the first use of the new one', async () => {
    const old = await issue();
    const next = await rotate(old.id, { overlapSeconds: 0 });
    expect(await statusWithKey(service, old.key)).toBe(ACCEPTED);
    expect(await shown(old.id)).toMatchObject({ expiresAt: null, revokedAt: null });
    expect(await shown(next.id)).toMatchObject({ expiresAt: null, lastUsedAt: null });
  });

  test('is activated once, by its first use', async () => {
    const next = await rotate((await issue()).id);
    const isDormant = async () => (await service.app.get(KeyLookup).find(hashKey(next.key)))?.dormant;
    expect(await isDormant()).toBe(true);
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(await isDormant()).toBe(false);
  });

  test('is not activated by a call that it does not open', async () => {
    const old = await issue();
    const next = await rotate(old.id, { overlapSeconds: 0 });
    const wrongHeader = { headers: { 'API-KEY': next.key }, body: {} };
    expect((await service.call('POST', '/platform-api/v1/accounts', wrongHeader)).status).toBe(401);
    const wrongInterface = { headers: { 'PLATFORM-API-KEY': next.key }, body: {} };
    expect((await service.call('POST', '/platform-api/v1/tickets', wrongInterface)).status).toBe(401);
    expect(await shown(next.id)).toMatchObject({ lastUsedAt: null });
    expect(await statusWithKey(service, old.key)).toBe(ACCEPTED);
  });
});

describe('after the first use of the new key', () => {
  test.each([
    ['by default', undefined, DAY],
    ['by default, with an empty body', {}, DAY],
    ['by default, with null', { overlapSeconds: null }, DAY],
    ['for an hour', { overlapSeconds: 3600 }, 3600],
    ['for seven days at most', { overlapSeconds: 7 * DAY }, 7 * DAY],
  ])('the old key stays valid, %s', async (_what, body, seconds) => {
    const old = await issue();
    const next = await rotate(old.id, body);
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, old.key)).toBe(ACCEPTED);
    const left = secondsLeft(await shown(old.id));
    expect(left).toBeGreaterThan(seconds - 30);
    expect(left).toBeLessThanOrEqual(seconds + 1);
    expect((await shown(next.id))['lastUsedAt']).not.toBeNull();
  });

  test.concurrent('without an overlap the old key ends here at once, and elsewhere within 5 s', async () => {
    const old = await issue();
    expect(await statusWithKey(other, old.key)).toBe(ACCEPTED);
    const next = await rotate(old.id, { overlapSeconds: 0 });
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, old.key)).toBe(REFUSED);
    expect(await until(async () => (await statusWithKey(other, old.key)) === REFUSED)).toBeLessThan(5000);
    expect(await statusWithKey(other, next.key)).toBe(ACCEPTED);
  });

  test.concurrent('the old key expires at the end of the overlap', async () => {
    const old = await issue();
    const next = await rotate(old.id, { overlapSeconds: 2 });
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, old.key)).toBe(ACCEPTED);
    await until(async () => (await statusWithKey(service, old.key)) === REFUSED);
    expect(secondsLeft(await shown(old.id))).toBeLessThanOrEqual(0);
    expect((await service.admin('POST', `/api-keys/${old.id}/rotate`)).status).toBe(409);
  });

  test.concurrent('a key that cannot be activated in time is 503, and opens later', async () => {
    const old = await issue();
    const next = await rotate(old.id);
    await service.dataSource.transaction(async (manager) => {
      await manager.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [next.id]);
      // The lookup of the key may have taken as long as the timeout of the statement.
      const error = { message: 'the key could not be checked in time; try again shortly' };
      expect(await callWithKey(service, next.key)).toMatchObject({ status: 503, body: { error } });
    });
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
  });

  test('the overlap never outlives the expiry of the old key', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const old = await issue({ expiresAt });
    const next = await rotate(old.id);
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(Date.parse(String((await shown(old.id)).expiresAt))).toBe(Date.parse(expiresAt));
  });

  test('the overlap starts once, although both instances receive the new key at the same time', async () => {
    const old = await issue();
    const next = await rotate(old.id, { overlapSeconds: 60 });
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, i) => statusWithKey(i % 2 === 0 ? service : other, next.key)),
    );
    expect(new Set(statuses)).toEqual(new Set([ACCEPTED]));
    const [row]: { overlap: string }[] = await service.dataSource.query(
      `SELECT extract(epoch FROM old.retires_at - new.activated_at)::text AS overlap
         FROM api_keys AS old JOIN api_keys AS new ON new.replaces_id = old.id WHERE new.id = $1`,
      [next.id],
    );
    expect(Number(row?.overlap)).toBe(60);
    const first = (await shown(old.id)).expiresAt;
    expect(await statusWithKey(other, next.key)).toBe(ACCEPTED);
    expect((await shown(old.id)).expiresAt).toBe(first);
  });
});

describe('a second rotation', () => {
  test('before the first use replaces the dormant key', async () => {
    const old = await issue();
    const lost = await rotate(old.id);
    await rotate(old.id);
    const { revokedAt } = await shown(lost.id);
    const next = await rotate(old.id, { overlapSeconds: 60 });
    expect(await statusWithKey(service, lost.key)).toBe(REFUSED);
    expect(revokedAt).not.toBeNull();
    expect((await shown(lost.id)).revokedAt).toBe(revokedAt);
    expect((await shown(old.id)).expiresAt).toBeNull();
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(secondsLeft(await shown(old.id))).toBeLessThanOrEqual(61);
  });

  test('of the dormant key replaces it in the same way', async () => {
    const old = await issue();
    const lost = await rotate(old.id);
    const next = await rotate(lost.id, { overlapSeconds: 0 });
    expect(await statusWithKey(service, lost.key)).toBe(REFUSED);
    expect(await statusWithKey(service, old.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, old.key)).toBe(REFUSED);
  });

  test('at the same time as others leaves one dormant key', async () => {
    const old = await issue();
    const keys = await Promise.all(Array.from({ length: 10 }, () => rotate(old.id)));
    const states = await Promise.all(keys.map(({ id }) => shown(id)));
    expect(states.filter((state) => state['revokedAt'] === null)).toHaveLength(1);
  });

  test('of the key in use makes a chain', async () => {
    const first = await issue();
    const second = await rotate(first.id, { overlapSeconds: 0 });
    expect(await statusWithKey(service, second.key)).toBe(ACCEPTED);
    const third = await rotate(second.id, { overlapSeconds: 0 });
    expect(await statusWithKey(service, second.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, third.key)).toBe(ACCEPTED);
    expect(await Promise.all([first, second].map(({ key }) => statusWithKey(service, key)))).toEqual([
      REFUSED,
      REFUSED,
    ]);
  });

  test('of the old key in its overlap replaces its successor, and does not extend its life', async () => {
    const old = await issue();
    const next = await rotate(old.id, { overlapSeconds: 60 });
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    const end = (await shown(old.id)).expiresAt;
    const second = await rotate(old.id, { overlapSeconds: DAY });
    expect(second.expiresAt).toBeNull();
    expect(await statusWithKey(service, second.key)).toBe(ACCEPTED);
    expect((await shown(old.id)).expiresAt).toBe(end);
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
  });

  test('at the same time as the first use of the dormant key ends with one of the two', async () => {
    for (let round = 0; round < 5; round++) {
      const old = await issue();
      const next = await rotate(old.id);
      const [status] = await Promise.all([statusWithKey(other, next.key), rotate(old.id)]);
      const { revokedAt, lastUsedAt } = await shown(next.id);
      expect(status).toBe(lastUsedAt === null ? REFUSED : ACCEPTED);
      expect(revokedAt === null).toBe(status === ACCEPTED);
    }
  });
});

describe('a rotation is refused', () => {
  test('for a revoked key, and for an expired one: 409', async () => {
    const revoked = await issue();
    await service.admin('DELETE', `/api-keys/${revoked.id}`);
    const expired = await issue();
    await service.dataSource.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
    for (const { id } of [revoked, expired]) {
      const reply = await service.admin('POST', `/api-keys/${id}/rotate`);
      expect(reply.status).toBe(409);
      expect(reply.body).toMatchObject({ success: false, error: { code: 'CONFLICT' } });
    }
  });

  test('for an unknown key: 404', async () => {
    expect((await service.admin('POST', `/api-keys/${UNKNOWN}/rotate`)).status).toBe(404);
  });

  test.each([-1, 7 * DAY + 1, 1.5, '60', true, [], {}])('with an overlap of %j: 400', async (overlapSeconds) => {
    const { id } = await issue();
    const reply = await service.admin('POST', `/api-keys/${id}/rotate`, { overlapSeconds });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ error: { details: { violations: [{ path: 'overlapSeconds' }] } } });
  });

  test('with such an overlap in a chunked body: 400', async () => {
    const { id } = await issue();
    const reply = await fetch(`${service.url}/admin/v1/api-keys/${id}/rotate`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
      body: new Blob(['{"overlapSeconds":-1}']).stream(),
      duplex: 'half',
    });
    expect(reply.status).toBe(400);
  });
});

test('revoking the old key does not affect the first use of the dormant one', async () => {
  const old = await issue();
  const next = await rotate(old.id);
  await service.admin('DELETE', `/api-keys/${old.id}`);
  expect(await statusWithKey(service, old.key)).toBe(REFUSED);
  expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
});
