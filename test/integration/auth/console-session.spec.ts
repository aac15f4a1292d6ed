import { createHash } from 'node:crypto';
import { DEMO } from '../../../src/demo/demo-data.js';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { createKey } from '../../../src/auth/api-key.js';
import { ConsoleSessions } from '../../../src/auth/console-sessions.js';
import { createHauler, issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { ACCEPTED, callWithKey, REFUSED, statusWithKey } from '../../support/key-status.js';

const READ_TOKEN = 'read-only-token-0123456789';
const PATH = '/console/api/session';
const SERVICE = { sides: ['platform', 'partner'], sandbox: true, demoHaulerId: DEMO.haulerId, cells: [] };

let service: TestApp;
beforeAll(async () => void (service = await startTestApp({ env: { ADMIN_READ_TOKEN: READ_TOKEN, SANDBOX: true } })));
afterAll(() => service.close());

const signIn = (body: object, headers: Record<string, string> = {}) =>
  service.call<{ kind: string; keyPrefix?: string }>('POST', PATH, { headers: { 'X-Console': '1', ...headers }, body });

async function cookieFor(body: object): Promise<string> {
  const { status, headers } = await signIn(body);
  expect(status).toBe(200);
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

const call = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  service.call<{ error?: { message: string } }>(method, path, { headers, ...(body === undefined ? {} : { body }) });

describe('a sign-in to the console', () => {
  it('exchanges the admin token for a cookie that scripts and other sites cannot use', async () => {
    const { status, body, headers } = await signIn({ token: service.env.ADMIN_TOKEN });
    expect([status, body]).toEqual([200, { ...SERVICE, kind: 'admin', role: 'admin', name: 'admin token' }]);
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^haulbridge_session=[\w-]+; /);
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(cookie).toContain(part);
    expect(cookie).not.toContain('Secure');
    expect(cookie).not.toContain(service.env.ADMIN_TOKEN);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('marks the cookie as secure behind a trusted proxy that received https', async () => {
    const behindProxy = await startTestApp({ on: service, env: { TRUST_PROXY: ['127.0.0.1'] } });
    const headers = { 'X-Console': '1', 'X-Forwarded-Proto': 'https' };
    const options = { headers, body: { token: service.env.ADMIN_TOKEN } };
    const trusted = await behindProxy.call('POST', PATH, options);
    const untrusted = await service.call('POST', PATH, options);
    expect(trusted.headers.get('set-cookie')).toContain('Secure');
    expect(untrusted.headers.get('set-cookie')).not.toContain('Secure');
    await behindProxy.close();
  });

  it('shows who is signed in, and ends at the sign-out', async () => {
    const cookie = await cookieFor({ token: service.env.ADMIN_TOKEN });
    const shown = { ...SERVICE, kind: 'admin', role: 'admin', name: 'admin token' };
    expect((await call('GET', PATH, { Cookie: cookie })).body).toEqual(shown);
    expect((await call('DELETE', PATH, { Cookie: cookie })).status).toBe(401);
    const { status, headers } = await call('DELETE', PATH, { Cookie: cookie, 'X-Console': '1' });
    expect(status).toBe(204);
    expect(headers.get('set-cookie')).toMatch(/^haulbridge_session=;/);
    expect((await call('GET', PATH, {})).status).toBe(401);
  });

  it('opens the admin API; a write needs the header of the console', async () => {
    const Cookie = await cookieFor({ token: service.env.ADMIN_TOKEN });
    expect((await call('GET', '/admin/v1/haulers', { Cookie })).status).toBe(200);
    expect((await call('POST', '/admin/v1/haulers', { Cookie }, { name: 'Other site' })).status).toBe(401);
    expect((await call('POST', '/admin/v1/haulers', { Cookie, 'X-Console': '1' }, { name: 'Own' })).status).toBe(201);
  });

  it('with the read-only token may read, and says so where it may not', async () => {
    const Cookie = await cookieFor({ token: READ_TOKEN });
    expect((await call('GET', '/admin/v1/haulers', { Cookie })).status).toBe(200);
    const refused = await call('POST', '/admin/v1/haulers', { Cookie, 'X-Console': '1' }, { name: 'No' });
    expect([refused.status, refused.body.error?.message]).toEqual([401, expect.stringContaining('may only read')]);
  });

  it("with a partner's key opens the partner API only, until the key is revoked", async () => {
    const haulerId = await createHauler(service);
    const { id, key, prefix } = await issueKey(service, ['site', 'vision'], { haulerId });
    const { body } = await signIn({ apiKey: key });
    expect(body).toMatchObject({ kind: 'partner', keyPrefix: prefix, haulerId });
    const Cookie = await cookieFor({ apiKey: key });
    expect((await call('GET', '/partner/v1/sandbox/scenarios', { Cookie })).status).toBe(200);
    expect((await call('GET', '/admin/v1/haulers', { Cookie })).status).toBe(401);
    const scenario = '/partner/v1/sandbox/scenarios/server-error';
    expect((await call('DELETE', scenario, { Cookie })).status).toBe(401);
    expect((await call('DELETE', scenario, { Cookie, 'X-Console': '1' })).status).toBe(204);
    await service.admin('DELETE', `/api-keys/${id}`);
    expect((await call('GET', '/partner/v1/sandbox/scenarios', { Cookie })).status).toBe(401);
  });

  test.each([
    ['damaged', (cookie: string) => `${cookie.slice(0, -4)}AAAA`],
    ['empty', () => 'haulbridge_session='],
    ['text', () => 'haulbridge_session=admin'],
  ])('with a cookie that is %s opens nothing', async (_, change) => {
    const cookie = await cookieFor({ token: service.env.ADMIN_TOKEN });
    expect((await call('GET', '/admin/v1/haulers', { Cookie: change(cookie) })).status).toBe(401);
  });
});

describe('the read-only token', () => {
  const bearer = { Authorization: `Bearer ${READ_TOKEN}` };

  it('reads the admin API and the metrics, and may check a connection', async () => {
    expect((await call('GET', '/admin/v1/haulers', bearer)).status).toBe(200);
    expect((await call('GET', '/metrics', bearer)).status).toBe(200);
    const unknown = '/admin/v1/connections/0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a/check';
    expect((await call('POST', unknown, bearer)).status).toBe(404);
  });

  test.each(['POST', 'PATCH', 'DELETE', 'PUT'])('%s: 401', async (method) => {
    const id = '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a';
    const paths = {
      POST: '/haulers',
      PATCH: `/connections/${id}`,
      DELETE: `/connections/${id}`,
      PUT: '/hosted/cameras',
    };
    const { status, body } = await call(method, `/admin/v1${paths[method as keyof typeof paths]}`, bearer, {});
    expect([status, body.error?.message]).toEqual([401, 'this token may only read; changes need the admin token']);
  });
});

describe('a session ends on every instance at once', () => {
  const write = { name: 'By a copy of the cookie' };
  const statuses = (instance: TestApp, Cookie: string) =>
    Promise.all([
      instance.call('GET', '/admin/v1/haulers', { headers: { Cookie } }),
      instance.call('POST', '/admin/v1/haulers', { headers: { Cookie, 'X-Console': '1' }, body: write }),
      instance.call('GET', PATH, { headers: { Cookie } }),
    ]).then((replies) => replies.map(({ status }) => status));

  it('by the sign-out: a copy of the cookie neither reads nor writes', async () => {
    const other = await startTestApp({ on: service });
    const cookie = await cookieFor({ token: service.env.ADMIN_TOKEN });
    const kept = await cookieFor({ token: service.env.ADMIN_TOKEN });
    expect(await statuses(other, cookie)).toEqual([200, 201, 200]);
    expect((await call('DELETE', PATH, { Cookie: cookie, 'X-Console': '1' })).status).toBe(204);
    for (const instance of [service, other]) expect(await statuses(instance, cookie)).toEqual([401, 401, 401]);
    expect(await statuses(other, kept)).toEqual([200, 201, 200]);
    await other.close();
  });

  it('by another sign-in in the same browser, which replaces its cookie', async () => {
    const cookie = await cookieFor({ token: service.env.ADMIN_TOKEN });
    expect((await signIn({ token: READ_TOKEN }, { Cookie: cookie })).status).toBe(200);
    expect(await statuses(service, cookie)).toEqual([401, 401, 401]);
  });

  it('by another token: each of the two ends its own sessions', async () => {
    const [admin, reader] = [
      await cookieFor({ token: service.env.ADMIN_TOKEN }),
      await cookieFor({ token: READ_TOKEN }),
    ];
    const changed = async (env: Partial<TestApp['env']>) => {
      const other = await startTestApp({ on: service, env });
      const found = [await statuses(other, admin), await statuses(other, reader)];
      await other.close();
      return found;
    };
    const [open, readOnly, ended] = [
      [200, 201, 200],
      [200, 401, 200],
      [401, 401, 401],
    ];
    expect(await changed({ ADMIN_TOKEN: 'another-admin-token-0123' })).toEqual([ended, readOnly]);
    expect(await changed({ ADMIN_READ_TOKEN: 'another-read-token-01234' })).toEqual([open, ended]);
    expect(await changed({ ADMIN_READ_TOKEN: undefined })).toEqual([open, ended]);
  });

  it('by revoking its key', async () => {
    const other = await startTestApp({ on: service });
    const { id, key } = await issueKey(service, ['vision'], { customerId: 'c' });
    const Cookie = await cookieFor({ apiKey: key });
    const me = () => other.call('GET', '/partner/v1/me', { headers: { Cookie } }).then(({ status }) => status);
    expect(await me()).toBe(200);
    await service.admin('DELETE', `/api-keys/${id}`);
    expect(await me()).toBe(401);
    await other.close();
  });

  it('when it expires; a sweep deletes its row', async () => {
    const cookie = await cookieFor({ token: service.env.ADMIN_TOKEN });
    const kept = await cookieFor({ token: service.env.ADMIN_TOKEN });
    const rows = (set: string) =>
      service.dataSource.query<unknown[]>(`${set} WHERE cookie_hash = sha256(convert_to($1, 'UTF8'))`, [
        cookie.split('=')[1],
      ]);
    await rows('UPDATE console_sessions SET expires_at = now()');
    expect(await statuses(service, cookie)).toEqual([401, 401, 401]);
    expect(await rows('SELECT FROM console_sessions')).toHaveLength(1);
    await service.app.get(ConsoleSessions).deleteExpired();
    expect(await rows('SELECT FROM console_sessions')).toHaveLength(0);
    expect(await statuses(service, kept)).toEqual([200, 201, 200]);
  });
});

it('a session is stored without its cookie, token and key', async () => {
  const { key } = await issueKey(service, ['account']);
  const cookies = [await cookieFor({ token: service.env.ADMIN_TOKEN }), await cookieFor({ apiKey: key })];
  const rows = JSON.stringify(
    await service.dataSource.query('SELECT to_jsonb(console_sessions)::text FROM console_sessions'),
  );
  const sha256 = createHash('sha256').update(service.env.ADMIN_TOKEN).digest('hex');
  for (const secret of [service.env.ADMIN_TOKEN, sha256, key, ...cookies.map((each) => each.split('=')[1] ?? '')]) {
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
  }
});

it('of one secret the oldest sessions end beyond a hundred', async () => {
  const { key } = await issueKey(service, ['account']);
  const cookies: string[] = [];
  for (let i = 0; i < 101; i++) cookies.push(await cookieFor({ apiKey: key }));
  const statusOf = (Cookie = '') => call('GET', '/partner/v1/me', { Cookie }).then(({ status }) => status);
  expect(await Promise.all([cookies[0], cookies[1], cookies[100]].map(statusOf))).toEqual([401, 200, 200]);
});

describe('guessing', () => {
  let behindProxy: TestApp;
  beforeAll(async () => void (behindProxy = await startTestApp({ env: { TRUST_PROXY: 1 } })));
  afterAll(() => behindProxy.close());

  const from = (address: string) => ({ 'X-Forwarded-For': address, 'X-Console': '1' });
  const bearer = (token: string, address: string) =>
    behindProxy.call('GET', '/admin/v1/haulers', { headers: { ...from(address), Authorization: `Bearer ${token}` } });
  const trySignIn = (body: object, address: string) =>
    behindProxy.call('POST', PATH, { headers: from(address), body }).then(({ status }) => status);

  it('of tokens is limited by address, and the right token is accepted all the time', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 70; i++) {
      const { status, headers } = await bearer(`${i}-wrong-token-0123456789`, '192.0.2.1');
      statuses.push(status);
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      if (i % 10 === 9) expect((await bearer(behindProxy.env.ADMIN_TOKEN, '192.0.2.1')).status).toBe(200);
    }
    expect([new Set(statuses.slice(0, 60)), new Set(statuses.slice(60))]).toEqual([new Set([401]), new Set([429])]);
    expect((await bearer('another-wrong-token-0123', '192.0.2.2')).status).toBe(401);
    const { status } = await behindProxy.call('GET', '/admin/v1/haulers', { headers: from('192.0.2.1') });
    expect(status).toBe(401);
  });

  it('of tokens with one prefix is limited across addresses', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 61; i++) statuses.push((await bearer(`same-prefix-${i}`, `198.51.100.${i}`)).status);
    expect([statuses[59], statuses[60]]).toEqual([401, 429]);
    expect((await bearer('other-prefix', '198.51.100.61')).status).toBe(401);
  });

  it('at the sign-in locks nobody out who has a right secret', async () => {
    const { key } = await issueKey(behindProxy, ['account']);
    for (let i = 0; i < 10; i++) {
      const wrong = i % 2 === 0 ? { token: `${i}-wrong-token` } : { apiKey: `${i}-wrong-key` };
      expect(await trySignIn(wrong, '203.0.113.1')).toBe(401);
    }
    expect(await trySignIn({ token: 'one-more-wrong-token' }, '203.0.113.1')).toBe(429);
    expect(await trySignIn({ apiKey: createKey().key }, '203.0.113.1')).toBe(429);
    expect(await trySignIn({ token: behindProxy.env.ADMIN_TOKEN }, '203.0.113.1')).toBe(200);
    expect(await trySignIn({ apiKey: key }, '203.0.113.1')).toBe(200);
    expect(await trySignIn({ token: 'a-wrong-token-elsewhere' }, '203.0.113.2')).toBe(401);
  });

  it('by a header that no proxy of TRUST_PROXY has sent is counted for the connection', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) {
      const { status } = await signIn({ token: `${i}-wrong-token` }, { 'X-Forwarded-For': `192.0.2.${i}` });
      statuses.push(status);
    }
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('RATE_LIMIT_PER_MINUTE (decision 15)', () => {
  let service: TestApp;
  let haulerId: string;
  beforeAll(async () => {
    service = await startTestApp({ env: { RATE_LIMIT_PER_MINUTE: 3 } });
    haulerId = await createHauler(service);
  });
  afterAll(() => service.close());

  test('reports the quota in each response, and refuses calls beyond it', async () => {
    const { key } = await issueKey(service, ['account'], { haulerId });
    for (const left of [2, 1, 0]) {
      const { status, headers } = await callWithKey(service, key);
      expect(status).toBe(ACCEPTED);
      expect(headers.get('ratelimit-policy')).toMatch(/^"per-key"; ?q=3; ?w=60(; ?pk=:[A-Za-z0-9+/]+=*:)?$/);
      const [, remaining, reset] = /^"per-key"; ?r=(\d+); ?t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
      expect(Number(remaining)).toBe(left);
      expect(Number(reset)).toBeLessThanOrEqual(60);
      expect(headers.get('retry-after')).toBeNull();
    }
    const { status, headers, body } = await callWithKey(service, key);
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(headers.get('ratelimit')).toContain('r=0');
    expect(body).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
  });

  test('counts each key on its own, and no call without a valid key', async () => {
    const { key } = await issueKey(service, ['account'], { haulerId });
    const wrong = await issueKey(service, ['scale'], { haulerId });
    for (let i = 0; i < 5; i++) {
      const reply = await callWithKey(service, wrong.key);
      expect(reply.status).toBe(REFUSED);
      expect(reply.headers.get('ratelimit')).toBeNull();
    }
    expect(await statusWithKey(service, key)).toBe(ACCEPTED);
  });

  test('does not apply to the admin API', async () => {
    for (let i = 0; i < 5; i++) expect((await service.admin('GET', '/haulers')).status).toBe(200);
  });
});

test('is off by default: no header, no refusal', async () => {
  const service = await startTestApp();
  try {
    const { key } = await issueKey(service, ['account']);
    for (let i = 0; i < 20; i++) {
      const { status, headers } = await callWithKey(service, key);
      expect(status).toBe(ACCEPTED);
      expect(headers.get('ratelimit')).toBeNull();
      expect(headers.get('ratelimit-policy')).toBeNull();
    }
  } finally {
    await service.close();
  }
});
