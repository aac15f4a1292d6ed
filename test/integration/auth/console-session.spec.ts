import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKey } from '../../../src/auth/api-key.js';
import { ConsoleSessions } from '../../../src/auth/console-sessions.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const READ_TOKEN = 'read-only-token-0123456789';
const PATH = '/console/api/session';
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
});

describe('a session ends on every instance at once', () => {
  const write = { name: 'By a copy of the cookie' };
  const statuses = (instance: TestApp, Cookie: string) =>
    Promise.all([
      instance.call('GET', '/admin/v1/haulers', { headers: { Cookie } }),
      instance.call('POST', '/admin/v1/haulers', { headers: { Cookie, 'X-Console': '1' }, body: write }),
      instance.call('GET', PATH, { headers: { Cookie } }),
    ]).then((replies) => replies.map(({ status }) => status));

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
});
