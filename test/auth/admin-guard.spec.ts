import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { type RawReply, rawRequest } from '../support/raw-request.js';

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
