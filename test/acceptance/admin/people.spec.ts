import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../support/free-port.js';
import { held } from '../../support/held.js';
import { CLIENT, FormBrowser, startIdentityProvider } from '../../support/identity-provider.js';
import { type ErrorBody, Hauler } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, administer, call, listed } from '../support/target.js';

const READ_TOKEN = 'test-read-token-0123456789';
const TOKENS = { one: 'token-of-an-admin-of-one-hauler', two: 'token-of-an-admin-of-two-haulers' };
const [ONE, TWO] = [randomUUID(), randomUUID()];
const SESSION = '/console/api/session';

let service: OwnService;
let beside: OwnService;
const groups = new Map([
  ['ada', ['owners', 'readers']],
  ['otto', ['dispatch', 'unknown']],
  ['vera', ['readers']],
  ['nobody', ['strangers']],
]);

beforeAll(async () => {
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  const provider = await startIdentityProvider(publicUrl, groups);
  held(provider.close);
  service = await startOwnService({
    env: {
      PORT: new URL(publicUrl).port,
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.clientId,
      OIDC_CLIENT_SECRET: CLIENT.clientSecret,
      OIDC_ROLES: 'viewer=readers,operator=dispatch,admin=owners',
      ADMIN_READ_TOKEN: READ_TOKEN,
      ADMIN_TOKENS: `one:${TOKENS.one}:admin@${ONE},two:${TOKENS.two}:admin@${ONE}+${TWO}`,
    },
  });
  // Its admin token is another one.
  const env = { ADMIN_READ_TOKEN: READ_TOKEN, ADMIN_TOKEN: 'another-admin-token-0123456789' };
  beside = await startOwnService({ beside: service, env });
  for (const id of [ONE, TWO]) await Hauler.create({ service, id });
}, 150_000);

type Headers = Readonly<Record<string, string>>;

const ask = (headers: Headers, method: string, path: string, body?: unknown, instance = service) =>
  call<ErrorBody>(method, path, { headers, body }, instance);

async function cookieOf(body: object): Promise<string> {
  const reply = await ask({ 'X-Console': '1' }, 'POST', SESSION, body);
  expect(reply.status).toBe(200);
  return reply.headers.get('set-cookie')?.split(';')[0] ?? '';
}

describe('a session of the console', () => {
  test('is a cookie that scripts and other sites cannot use, and that shows no token (decision 57)', async () => {
    const { headers, body } = await ask({ 'X-Console': '1' }, 'POST', SESSION, { token: service.adminToken });
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^haulbridge_session=[\w-]+; /);
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(cookie).toContain(part);
    expect(cookie).not.toContain(service.adminToken);
    expect([headers.get('cache-control'), body]).toMatchObject(['no-store', { kind: 'admin', role: 'admin' }]);
  });

  test('may read, and write with the header of the console alone', async () => {
    const Cookie = await cookieOf({ token: service.adminToken });
    expect((await ask({ Cookie }, 'GET', '/admin/v1/haulers')).status).toBe(200);
    expect((await ask({ Cookie }, 'POST', '/admin/v1/haulers', { name: 'Other site' })).status).toBe(401);
    expect((await ask({ Cookie, 'X-Console': '1' }, 'POST', '/admin/v1/haulers', { name: 'Own' })).status).toBe(201);
    expect((await ask({ Cookie: `${Cookie.slice(0, -4)}AAAA` }, 'GET', '/admin/v1/haulers')).status).toBe(401);
  });

  /** What both instances answer to a copy of the cookie. */
  const bothRead = async (Cookie: string, path: string) =>
    Promise.all([service, beside].map(async (each) => (await ask({ Cookie }, 'GET', path, undefined, each)).status));

  test('ends at once on every instance by the sign-out, also for a copy of its cookie (decision 57)', async () => {
    const Cookie = await cookieOf({ token: READ_TOKEN });
    expect(await bothRead(Cookie, '/admin/v1/haulers')).toEqual([200, 200]);
    expect((await ask({ Cookie, 'X-Console': '1' }, 'DELETE', SESSION)).status).toBe(204);
    expect(await bothRead(Cookie, '/admin/v1/haulers')).toEqual([401, 401]);
  });

  test("of a partner's key opens the partner API alone, and ends at once with the key (decision 57)", async () => {
    const hauler = await Hauler.create({ service });
    const body = { haulerId: hauler.id, interfaces: ['scale'] };
    const issued = await administer<{ id: string; key: string }>('POST', '/api-keys', body, service);
    const Cookie = await cookieOf({ apiKey: issued.key });
    expect(await bothRead(Cookie, '/partner/v1/me')).toEqual([200, 200]);
    expect(await bothRead(Cookie, '/admin/v1/haulers')).toEqual([401, 401]);
    await admin('DELETE', `/api-keys/${issued.id}`, undefined, service);
    expect(await bothRead(Cookie, '/partner/v1/me')).toEqual([401, 401]);
  });

  test('ends at once on an instance whose admin token is another one (decision 57)', async () => {
    const Cookie = await cookieOf({ token: service.adminToken });
    expect(await bothRead(Cookie, '/admin/v1/haulers')).toEqual([200, 401]);
  });

  test('is ended by an admin (decision 57)', async () => {
    const Cookie = await cookieOf({ token: READ_TOKEN });
    const [newest] = await listed<{ id: string; kind: string }>('/sessions', service);
    expect((await admin('DELETE', `/sessions/${newest?.id ?? ''}`, undefined, service)).status).toBe(204);
    expect(await bothRead(Cookie, '/admin/v1/haulers')).toEqual([401, 401]);
  });
});

test('the read-only token reads the metrics, and says of a write that it may only read', async () => {
  const headers = { Authorization: `Bearer ${READ_TOKEN}` };
  expect((await ask(headers, 'GET', '/metrics')).status).toBe(200);
  const refused = await ask(headers, 'POST', '/admin/v1/haulers', { name: 'No' });
  const message = 'this token may only read; changes need the admin token';
  expect([refused.status, refused.body.error.message]).toEqual([401, message]);
});

describe('a token that is limited to haulers', () => {
  const limited = (token: string, path: string) => ask({ Authorization: `Bearer ${token}` }, 'GET', path);

  test('sees and counts these alone', async () => {
    const count = async (token: string) =>
      ((await limited(token, '/admin/v1/haulers')).body as unknown as { pagination: { totalItems: number } }).pagination
        .totalItems;
    expect([await count(TOKENS.one), await count(TOKENS.two)]).toEqual([1, 2]);
  });

  test('names one of several haulers for exchanges', async () => {
    const { status, body } = await limited(TOKENS.two, '/admin/v1/exchanges');
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(ONE)]);
    expect((await limited(TOKENS.two, `/admin/v1/exchanges?haulerId=${ONE}`)).status).toBe(200);
  });

  test('gets no metrics', async () => {
    expect((await limited(TOKENS.one, '/metrics')).status).toBe(403);
  });

  test('is named in the action log', async () => {
    const headers = { Authorization: `Bearer ${TOKENS.one}` };
    const body = { haulerId: ONE, interface: 'site', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', enabled: false };
    expect((await ask(headers, 'POST', '/admin/v1/connections', body)).status).toBe(201);
    const [newest] = await listed<{ actor: string; sentence: string }>('/actions', service);
    expect(newest).toMatchObject({ actor: 'token:one', sentence: expect.stringMatching(/^The token one created/) });
  });
});

describe('a person', () => {
  /** Signs in at the provider as a browser does. Returns where the browser is then. */
  async function signIn(login: string, query = '', browser = new FormBrowser()) {
    const isEnd = ({ href, pathname }: URL) => href.startsWith(service.url) && !pathname.startsWith('/console/api/');
    const end = await browser.walk(`${service.url}/console/api/oidc/sign-in${query}`, login, isEnd);
    return { browser, end };
  }
  const headersOf = (browser: FormBrowser) => ({
    Cookie: `haulbridge_session=${browser.cookieOf(service.url, 'haulbridge_session') ?? ''}`,
    'X-Console': '1',
  });

  test.each([
    ['ada', 'admin', 201],
    ['otto', 'operator', 403],
    ['vera', 'viewer', 403],
  ])('signs in at the identity provider: %s has the role %s', async (login, role, created) => {
    const { browser, end } = await signIn(login, '?return=%2Fconsole%2Ftickets%3Fsearch%3D7');
    expect(end.pathname + end.search).toBe('/console/tickets?search=7');
    const session = await ask(headersOf(browser), 'GET', SESSION);
    expect(session.body).toMatchObject({ role, name: `Name of ${login}`, isPerson: true });
    expect((await ask(headersOf(browser), 'GET', '/admin/v1/tickets')).status).toBe(200);
    const name = `By ${login}`;
    const change = await ask(headersOf(browser), 'POST', '/admin/v1/haulers', { name });
    expect(change.status).toBe(created);
    const [newest] = await listed<{ actor: string; sentence: string }>('/actions', service);
    expect(newest?.sentence.includes(name)).toBe(created === 201);
  });

  test('signs in from another host of the service, such as that of all cells', async () => {
    const other = service.url.replace('127.0.0.1', 'localhost');
    const isEnd = ({ pathname }: URL) => pathname === '/console/tickets';
    const path = '/console/api/oidc/sign-in?return=%2Fconsole%2Ftickets';
    const end = await new FormBrowser().walk(other + path, 'vera', isEnd);
    expect([end.origin, end.search]).toEqual([service.url, '']);
  });

  test('without a group that has a role gets no session', async () => {
    const { browser, end } = await signIn('nobody');
    expect(end.searchParams.get('fault')).toBe('no-role');
    expect((await ask(headersOf(browser), 'GET', SESSION)).status).toBe(401);
  });

  test('gets another role, or none, with the next sign-in after a group was removed', async () => {
    groups.set('mara', ['dispatch']);
    const { browser } = await signIn('mara');
    groups.set('mara', ['readers']);
    await signIn('mara', '?silent=1', browser);
    expect((await ask(headersOf(browser), 'GET', SESSION)).body).toMatchObject({ role: 'viewer' });
    groups.set('mara', []);
    expect((await signIn('mara', '?silent=1', browser)).end.searchParams.get('fault')).toBe('no-role');
  });

  test('signs out here and at the provider', async () => {
    const { browser } = await signIn('vera');
    const headers = headersOf(browser);
    const out = await browser.request(`${service.url}/console/api/oidc/sign-out`);
    const location = new URL(out.headers.get('location') ?? '');
    expect(location.searchParams.get('id_token_hint')).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await ask(headers, 'GET', '/admin/v1/tickets')).status).toBe(401);
  });

  test.each([
    'https://evil.example/',
    '//evil.example/console/',
    'javascript:alert(1)',
    '/console/../docs',
    '/admin/v1',
  ])('is never led to another place than the console after a sign-in: %s', async (place) => {
    const { end } = await signIn('vera', `?return=${encodeURIComponent(place)}`);
    expect(end.href).toBe(`${service.url}/console/`);
  });
});
