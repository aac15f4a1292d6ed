import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { issueViolations } from '../../../src/auth/api-key-admin.service.js';
import { createKey, hashKey, isWellFormedKey } from '../../../src/auth/api-key.js';
import { isValidFor, KeyCache, type KnownKey } from '../../../src/auth/key-cache.js';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import type { IssueApiKeyRequest } from '../../../src/contracts/admin/api-key.dto.js';
import { SCALE_API } from '../../../src/contracts/scale/scale.api.js';
import type { ErrorAnswer } from '../../shared/post-endpoint.js';
import { NameKeysOfAllCustomers1795570420000 } from '../../../migrations/1795570420000-name-keys-of-all-customers.js';
import { createHauler, issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';

type Key = Record<string, unknown> & { readonly id: string; readonly key: string };

interface KeyList {
  readonly data: Record<string, unknown>[];
  readonly pagination: Record<string, number>;
}

const FIELDS = [
  'id',
  'prefix',
  'haulerId',
  'connectionId',
  'customerId',
  'allCustomers',
  'interfaces',
  'name',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
  'replacesId',
  'activatedAt',
  'revokedAt',
];
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let service: TestApp;
let haulerId: string;
beforeAll(async () => {
  service = await startTestApp();
  haulerId = await createHauler(service);
});
afterAll(() => service.close());

const violations = (body: unknown) =>
  (body as { error: { details: { violations: { path: string }[] } } }).error.details.violations.map(({ path }) => path);

describe('POST /admin/v1/api-keys', () => {
  test('returns the key once, and all other fields', async () => {
    const expiresAt = '2099-01-02T03:04:05+01:00';
    const { status, body } = await service.admin<Key>('POST', '/api-keys', {
      haulerId: haulerId.toUpperCase(),
      customerId: 'green-valley',
      interfaces: ['vision', 'scale', 'vision'],
      name: 'Weighbridge',
      expiresAt,
    });
    expect(status).toBe(201);
    expect(Object.keys(body).sort()).toEqual([...FIELDS, 'key'].sort());
    expect(body).toMatchObject({
      haulerId,
      customerId: 'green-valley',
      interfaces: ['vision', 'scale'],
      name: 'Weighbridge',
      expiresAt: '2099-01-02T02:04:05Z',
      lastUsedAt: null,
      revokedAt: null,
    });
    expect(body.key.startsWith(String(body['prefix']))).toBe(true);
    const { body: list } = await service.admin<KeyList>('GET', '/api-keys?pageSize=1');
    expect(list.data).toEqual([{ ...body, key: undefined }]);
  });

  test('must not be cached', async () => {
    const { body, headers } = await service.admin<Key>('POST', '/api-keys', { interfaces: ['site'] });
    const rotated = await service.admin('POST', `/api-keys/${body.id}/rotate`);
    expect([headers, rotated.headers].map((each) => each.get('cache-control'))).toEqual(['no-store', 'no-store']);
    const others = [
      await service.admin('POST', '/api-keys', { interfaces: [] }),
      await service.admin('POST', `/api-keys/${UNKNOWN}/rotate`),
      await service.admin('GET', '/api-keys'),
    ];
    expect(others.map((other) => other.headers.get('cache-control'))).toEqual(['no-store', 'no-store', 'no-store']);
  });

  test('a rotation may give the new key another end, which is in the future', async () => {
    const expiresAt = '2099-01-02T02:04:05Z';
    const { body } = await service.admin<Key>('POST', '/api-keys', { interfaces: ['site'], expiresAt });
    const rotate = (request?: object) => service.admin<Key>('POST', `/api-keys/${body.id}/rotate`, request);
    expect((await rotate()).body).toMatchObject({ expiresAt });
    expect((await rotate({ expiresAt: '2101-01-02T02:04:05Z' })).body).toMatchObject({
      expiresAt: '2101-01-02T02:04:05Z',
    });
    const refused = await rotate({ expiresAt: '2020-01-02T02:04:05Z' });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      error: { details: { violations: [{ path: 'expiresAt', rule: 'isFuture' }] } },
    });
  });

  test('treats null as absent', async () => {
    const { status, body } = await service.admin<Key>('POST', '/api-keys', {
      interfaces: ['site'],
      haulerId: null,
      customerId: null,
      name: null,
      expiresAt: null,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ haulerId: null, customerId: null, name: null, expiresAt: null });
  });

  test('a vision key reads one customer, or every customer with allCustomers; so does its successor', async () => {
    for (const [terms, shown] of [
      [{ customerId: 'c' }, { customerId: 'c', allCustomers: false }],
      [
        { customerId: 'c', allCustomers: false },
        { customerId: 'c', allCustomers: false },
      ],
      [{ allCustomers: true }, { customerId: null, allCustomers: true }],
    ] as const) {
      const { status, body } = await service.admin<Key>('POST', '/api-keys', { interfaces: ['vision'], ...terms });
      expect([status, body]).toEqual([201, expect.objectContaining(shown)]);
      const rotated = await service.admin<Key>('POST', `/api-keys/${body.id}/rotate`);
      expect(rotated.body).toMatchObject(shown);
      const me = await service.call('GET', '/partner/v1/me', { headers: { 'API-KEY': rotated.body.key } });
      expect(me.body).toMatchObject(shown.allCustomers ? { allCustomers: true } : { customerId: 'c' });
    }
  });

  test('accepts for a site key a hauler that only the partner side knows', async () => {
    const partnerHauler = randomUUID();
    const { status, body } = await service.admin<Key>('POST', '/api-keys', {
      interfaces: ['site', 'vision'],
      haulerId: partnerHauler,
      allCustomers: true,
    });
    expect(status).toBe(201);
    expect(body['haulerId']).toBe(partnerHauler);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ['no interfaces', { haulerId: 'H' }, ['interfaces']],
    ['empty interfaces', { haulerId: 'H', interfaces: [] }, ['interfaces']],
    ['an unknown interface', { haulerId: 'H', interfaces: ['scale', 'admin'] }, ['interfaces[1]']],
    [
      'what is no interface',
      { interfaces: [null, 'vision', 7, ['site']] },
      ['interfaces[0]', 'interfaces[2]', 'interfaces[3]'],
    ],
    ['interfaces that are no array', { haulerId: 'H', interfaces: 'scale' }, ['interfaces']],
    ['scale without a hauler', { interfaces: ['scale'] }, ['haulerId']],
    ['account without a hauler', { interfaces: ['site', 'account'] }, ['haulerId']],
    ['an unknown hauler', { haulerId: UNKNOWN, interfaces: ['account'] }, ['haulerId']],
    ['a hauler that is no uuid', { haulerId: 'x', interfaces: ['site'] }, ['haulerId']],
    ['a customer without vision', { customerId: 'c', interfaces: ['site'] }, ['customerId']],
    ['an empty customer', { customerId: '', interfaces: ['vision'] }, ['customerId']],
    ['vision without a customer', { interfaces: ['vision'] }, ['customerId']],
    ['vision for a hauler without a customer', { haulerId: 'H', interfaces: ['scale', 'vision'] }, ['customerId']],
    ['vision not for all customers', { interfaces: ['site', 'vision'], allCustomers: false }, ['customerId']],
    ['one customer and all', { interfaces: ['vision'], customerId: 'c', allCustomers: true }, ['allCustomers']],
    ['all customers without vision', { interfaces: ['site'], allCustomers: true }, ['allCustomers']],
    ['all customers as text', { interfaces: ['vision'], allCustomers: 'true' }, ['allCustomers']],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z', interfaces: ['site'] }, ['expiresAt']],
    ['an expiry that is no date', { expiresAt: '2030-02-30T00:00:00Z', interfaces: ['site'] }, ['expiresAt']],
    ['an expiry without an offset', { expiresAt: '2030-01-01T00:00:00', interfaces: ['site'] }, ['expiresAt']],
    ['an empty name', { name: '', interfaces: ['site'] }, ['name']],
    ['a name of 201 characters', { name: 'n'.repeat(201), interfaces: ['site'] }, ['name']],
    [
      'everything at once',
      { name: '', interfaces: ['x'], expiresAt: 1, haulerId: 2, customerId: 3 },
      ['haulerId', 'customerId', 'interfaces[0]', 'name', 'expiresAt'],
    ],
    [
      'every rule at once',
      { interfaces: ['scale'], customerId: 'c', expiresAt: '2020-01-01T00:00:00Z' },
      ['haulerId', 'customerId', 'expiresAt'],
    ],
  ])('refuses %s', async (_what, body, paths) => {
    const before = await keyCount();
    const sent = body['haulerId'] === 'H' ? { ...body, haulerId } : body;
    const reply = await service.admin('POST', '/api-keys', sent);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
    expect(violations(reply.body).sort()).toEqual([...paths].sort());
    expect(await keyCount()).toBe(before);
  });

  test('names the possible interfaces', async () => {
    const messageOf = async (interfaces: unknown) =>
      (await service.admin<ErrorAnswer>('POST', '/api-keys', { interfaces })).body.error.message;
    expect(await messageOf('scale')).toBe('interfaces must be an array of at least 1 of scale, account, site, vision');
    expect(await messageOf([])).toBe('interfaces must be an array of at least 1 of scale, account, site, vision');
    expect(await messageOf(['scale', 'x'])).toBe('interfaces[1] must be one of scale, account, site, vision');
  });
});

test('the migration keeps vision keys of before, and marks those without a customer', async () => {
  const all = await issueKey(service, ['vision', 'account'], { haulerId });
  const one = await issueKey(service, ['vision'], { haulerId, customerId: 'c' });
  const none = await issueKey(service, ['account'], { haulerId });
  const runner = service.dataSource.createQueryRunner();
  await new NameKeysOfAllCustomers1795570420000().down(runner);
  await new NameKeysOfAllCustomers1795570420000().up(runner);
  await runner.release();
  const { body } = await service.admin<KeyList>('GET', `/api-keys?haulerId=${haulerId}&pageSize=100`);
  const marked = [all, one, none].map(({ id }) => body.data.find((key) => key['id'] === id)?.['allCustomers']);
  expect(marked).toEqual([true, false, false]);
  expect((await service.admin('POST', `/api-keys/${all.id}/rotate`)).status).toBe(201);
});

describe('GET /admin/v1/api-keys', () => {
  test('lists newest first, in pages, of one hauler if asked', async () => {
    const mine = await createHauler(service);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.unshift((await issueKey(service, ['scale'], { haulerId: mine })).id);
    await issueKey(service, ['scale'], { haulerId });
    const { status, body } = await service.admin<KeyList>('GET', `/api-keys?haulerId=${mine}&pageSize=2&page=1`);
    expect(status).toBe(200);
    expect(body.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(body.pagination).toMatchObject({ page: 1, pageSize: 2, totalItems: 3, totalPages: 2 });
    expect(Object.keys(body.data[0] ?? {}).sort()).toEqual([...FIELDS].sort());
  });

  test.each([
    ['page=0', 'page'],
    ['pageSize=101', 'pageSize'],
    ['haulerId=x', 'haulerId'],
  ])('refuses ?%s', async (query, path) => {
    const reply = await service.admin('GET', `/api-keys?${query}`);
    expect(reply.status).toBe(400);
    expect(violations(reply.body)).toEqual([path]);
  });
});

describe('DELETE /admin/v1/api-keys/{id}', () => {
  test('revokes once, and keeps the time of the first', async () => {
    const { id } = await issueKey(service, ['scale'], { haulerId });
    expect((await service.admin('DELETE', `/api-keys/${id}`)).status).toBe(204);
    const revokedAt = await shown(id, 'revokedAt');
    expect(Math.abs(Date.parse(String(revokedAt)) - Date.now())).toBeLessThan(10_000);
    const again = await service.admin('DELETE', `/api-keys/${id}`);
    expect(again.status).toBe(204);
    expect(again.text).toBe('');
    expect(await shown(id, 'revokedAt')).toBe(revokedAt);
  });

  test('an unknown key is 404, what is no id 400', async () => {
    expect((await service.admin('DELETE', `/api-keys/${UNKNOWN}`)).status).toBe(404);
    expect((await service.admin('DELETE', '/api-keys/x')).status).toBe(400);
  });
});

test('the database holds no key, only the SHA-256 of each (decision 17)', async () => {
  const { id, key } = await issueKey(service, ['scale'], { haulerId });
  const rows: unknown[] = await service.dataSource.query('SELECT to_jsonb(api_keys)::text FROM api_keys');
  expect(JSON.stringify(rows)).not.toContain(key.slice(11));
  const [row]: { hash: Buffer }[] = await service.dataSource.query('SELECT hash FROM api_keys WHERE id = $1', [id]);
  expect(row?.hash).toEqual(createHash('sha256').update(key).digest());
});

async function keyCount(): Promise<number> {
  const { body } = await service.admin<KeyList>('GET', '/api-keys?pageSize=1');
  return body.pagination['totalItems'] ?? -1;
}

async function shown(id: string, field: string): Promise<unknown> {
  const { body } = await service.admin<KeyList>('GET', '/api-keys?pageSize=100');
  return body.data.find((key) => key['id'] === id)?.[field];
}
