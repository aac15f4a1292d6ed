import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ErrorAnswer } from '../../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type RawReply, rawRequest } from '../../support/raw-request.js';

let service: TestApp;
let token: string;
beforeAll(async () => {
  service = await startTestApp();
  token = service.env.ADMIN_TOKEN;
});
afterAll(() => service.close());

const get = (...headers: string[]) => rawRequest(`${service.url}/admin/v1/haulers`, 'GET', headers);

function expectRefused(reply: RawReply): void {
  expect(reply.status).toBe(401);
  expect(JSON.parse(reply.text)).toMatchObject({ success: false, error: { code: 'UNAUTHORIZED' } });
  expect(reply.headers['www-authenticate']).toBe('Bearer');
}

describe('the admin token', () => {
  test.each([
    ['as in RFC 6750', () => `Bearer ${token}`],
    ['with the scheme in lower case', () => `bearer ${token}`],
  ])('%s is accepted', async (_what, value) => {
    expect((await get('Authorization', value())).status).toBe(200);
  });

  test.each<[string, () => string[]]>([
    ['absent', () => []],
    ['empty', () => ['Authorization', '']],
    ['a scheme alone', () => ['Authorization', 'Bearer']],
    ['the token alone', () => ['Authorization', token]],
    ['another scheme', () => ['Authorization', `Basic ${Buffer.from(`admin:${token}`).toString('base64')}`]],
    ['wrong in its last character', () => ['Authorization', `Bearer ${token.slice(0, -1)}~`]],
    ['shorter', () => ['Authorization', `Bearer ${token.slice(0, -1)}`]],
    ['longer', () => ['Authorization', `Bearer ${token}a`]],
    ['twice', () => ['Authorization', `Bearer ${token}`, 'authorization', `Bearer ${token}`]],
    ['in a header for keys', () => ['API-KEY', token]],
  ])('%s: 401', async (_what, headers) => {
    expectRefused(await get(...headers()));
  });
});

test('is required by /metrics too', async () => {
  const metrics = (...headers: string[]) => rawRequest(`${service.url}/metrics`, 'GET', headers);
  expectRefused(await metrics());
  expectRefused(await metrics('Authorization', `Bearer ${token}a`));
  expect((await metrics('Authorization', `Bearer ${token}`)).status).toBe(200);
});

describe('the order of checks (decision 3)', () => {
  describe.each(['%zz', '%ff', 'a%', '%E0%A4%A'])('for an id that cannot be decoded, %s', (id) => {
    const ask = (method: string, path: string, ...headers: string[]) =>
      rawRequest(`${service.url}/admin/v1${path}`, method, headers);
    const paths = [`/haulers/${id}`, `/tickets/${id}`, `/tickets/${id}/revisions?from=%zz`];

    test.each(paths)('%s without the token: 401; with it: 400, as for any invalid id', async (path) => {
      expectRefused(await ask('GET', path));
      const reply = await ask('GET', path, 'Authorization', `Bearer ${token}`);
      const error = { code: 'INVALID_PAYLOAD', details: { violations: [{ path: 'id', rule: 'isUuid' }] } };
      expect([reply.status, JSON.parse(reply.text)]).toMatchObject([400, { success: false, error }]);
    });

    test.each(paths)('a wrong method of %s: 405', async (path) => {
      const reply = await ask('DELETE', path);
      expect([reply.status, reply.headers['allow']]).toEqual([405, 'GET, HEAD']);
      expect(JSON.parse(reply.text)).toMatchObject({ error: { message: expect.stringContaining(`/${id}`) } });
    });

    test('an unknown path: 404', async () => {
      const reply = await ask('GET', `/nothing/${id}?x`);
      const message = `no route for GET /admin/v1/nothing/${id}`;
      expect([reply.status, JSON.parse(reply.text)]).toMatchObject([404, { error: { code: 'NOT_FOUND', message } }]);
    });
  });

  test.each([
    ['malformed JSON', '{"name', 'application/json'],
    ['a wrong content type', 'text', 'text/plain'],
    ['a body that is too large', 'x'.repeat(2_000_000), 'application/json'],
  ])('%s without the token: 401', async (_what, body, type) => {
    for (const path of ['/haulers', '/api-keys', '/api-keys/not-an-id/rotate']) {
      expectRefused(await rawRequest(`${service.url}/admin/v1${path}`, 'POST', ['Content-Type', type], body));
    }
  });

  test('a malformed id or query without the token: 401', async () => {
    expectRefused(await rawRequest(`${service.url}/admin/v1/haulers/x`, 'GET', []));
    expectRefused(await rawRequest(`${service.url}/admin/v1/haulers?page=0`, 'GET', []));
  });

  test('an unknown path is 404 and a wrong method 405, with or without the token', async () => {
    expect((await rawRequest(`${service.url}/admin/v1/nothing`, 'GET', [])).status).toBe(404);
    const wrongMethod = await rawRequest(`${service.url}/admin/v1/haulers`, 'DELETE', []);
    expect(wrongMethod.status).toBe(405);
    expect(wrongMethod.headers['allow']).toContain('POST');
  });
});

interface Hauler {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

interface List<T> {
  readonly data: T[];
  readonly pagination: { page: number; pageSize: number; totalItems: number; totalPages: number };
}

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const paths = (reply: { body: unknown }) =>
  (reply.body as { error: { details: { violations: { path: string }[] } } }).error.details.violations.map(
    (violation) => violation.path,
  );

describe('POST /admin/v1/haulers', () => {
  test('creates a hauler and returns its id, name and time', async () => {
    const { status, body } = await service.admin<Hauler>('POST', '/haulers', { name: 'Green Valley' });
    expect(status).toBe(201);
    expect(Object.keys(body).sort()).toEqual(['createdAt', 'id', 'name']);
    expect(body.name).toBe('Green Valley');
    expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(Math.abs(Date.parse(body.createdAt) - Date.now())).toBeLessThan(10_000);
  });

  test('accepts an id in lower case, and refuses it the second time', async () => {
    const id = '0197A1C4-7C1E-4B3A-9F7E-2C5D8E4F6A10';
    const first = await service.admin<Hauler>('POST', '/haulers', { id, name: 'Given' });
    expect(first.status).toBe(201);
    expect(first.body.id).toBe(id.toLowerCase());
    const second = await service.admin('POST', '/haulers', { id: id.toLowerCase(), name: 'Other' });
    expect(second.status).toBe(409);
    expect(second.body).toMatchObject({ success: false, error: { code: 'CONFLICT' } });
    const kept = await service.admin<Hauler>('GET', `/haulers/${id}`);
    expect(kept.body.name).toBe('Given');
  });

  test.each([
    ['no name', {}, 'name'],
    ['a name of null', { name: null }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of blanks', { name: '   ' }, 'name'],
    ['a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
    ['a name that is a number', { name: 7 }, 'name'],
    ['an id that is no uuid', { name: 'n', id: 'seven' }, 'id'],
  ])('refuses %s', async (_what, body, path) => {
    const reply = await service.admin('POST', '/haulers', body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
    expect(paths(reply)).toEqual([path]);
  });

  test('says that a name of blanks is blank', async () => {
    const { body } = await service.admin<ErrorAnswer>('POST', '/haulers', { name: '   ' });
    expect(body.error.message).toBe('name must be text that is not blank, of 1 to 200 characters');
  });

  test('counts code points: a name of 200 astral characters is taken', async () => {
    const reply = await service.admin<Hauler>('POST', '/haulers', { name: '🚛'.repeat(200) });
    expect(reply.status).toBe(201);
    expect(reply.body.name).toBe('🚛'.repeat(200));
  });
});

describe('GET /admin/v1/haulers', () => {
  test('lists newest first, in pages', async () => {
    for (const name of ['A', 'B', 'C']) await service.admin('POST', '/haulers', { name: `List ${name}` });
    const first = await service.admin<List<Hauler>>('GET', '/haulers?page=1&pageSize=2');
    expect(first.status).toBe(200);
    expect(first.body.data.map(({ name }) => name)).toEqual(['List C', 'List B']);
    const { totalItems } = first.body.pagination;
    expect(first.body.pagination).toMatchObject({
      page: 1,
      pageSize: 2,
      totalItems,
      totalPages: Math.ceil(totalItems / 2),
    });
    const second = await service.admin<List<Hauler>>('GET', '/haulers?page=2&pageSize=2');
    expect(second.body.data[0]?.name).toBe('List A');
    const past = await service.admin<List<Hauler>>('GET', '/haulers?page=1000');
    expect(past.status).toBe(200);
    expect(past.body).toEqual({
      data: [],
      pagination: { ...past.body.pagination, page: 1000, pageSize: 20, totalItems },
    });
  });

  test.each(['page=0', 'page=-1', 'page=x', 'page=1.5', 'pageSize=0', 'pageSize=101', 'pageSize='])(
    'refuses ?%s',
    async (query) => {
      const reply = await service.admin('GET', `/haulers?${query}`);
      expect(reply.status).toBe(400);
      expect(paths(reply)).toEqual([query.split('=')[0]]);
    },
  );

  test('an unknown id is 404, what is no id 400', async () => {
    const unknown = await service.admin('GET', `/haulers/${UNKNOWN}`);
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const malformed = await service.admin('GET', '/haulers/seven');
    expect(malformed.status).toBe(400);
    expect(paths(malformed)).toEqual(['id']);
  });
});
