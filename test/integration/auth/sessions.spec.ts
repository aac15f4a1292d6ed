import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsoleSessions } from '../../../src/auth/console-sessions.js';
import type { GroupAccess } from '../../../src/core/config/access-rules.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { freePort } from '../../support/free-port.js';
import { FormBrowser, oidcSettings, startIdentityProvider } from '../../support/identity-provider.js';
import { newestSession, rowsOf, setIdToken } from '../../support/rows.js';
import { endSession } from '../../support/time.js';

const ROLES: readonly GroupAccess[] = [
  { role: 'viewer', group: 'readers' },
  { role: 'operator', group: 'dispatch' },
  { role: 'admin', group: 'owners' },
];
const groups = new Map([
  ['ada', ['owners', 'readers']],
  ['otto', ['dispatch', 'unknown']],
  ['vera', ['readers']],
  ['nobody', ['strangers']],
]);

let service: TestApp;
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;

beforeAll(async () => {
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  provider = await startIdentityProvider(publicUrl, groups);
  service = await startTestApp({ env: { OIDC: oidcSettings(provider.issuer, publicUrl, ROLES) } });
});
afterAll(async () => {
  await service.close();
  await provider.close();
});

const SESSION = '/console/api/session';
const SIGN_IN = '/console/api/oidc/sign-in';

/** Navigates as a browser does; what the provider sends to the public address goes to the service. */
async function signIn(login: string, browser = new FormBrowser(), query = '') {
  const { redirectUri, consoleUrl } = service.env.OIDC!;
  const isBack = (url: URL) => url.href.startsWith(redirectUri) || url.href.startsWith(consoleUrl);
  const begun = await browser.walk(service.url + SIGN_IN + query, login, isBack);
  const goesOn = begun.pathname === SIGN_IN;
  const answer = goesOn ? await browser.walk(service.url + SIGN_IN + begun.search, login, isBack) : begun;
  if (!answer.href.startsWith(redirectUri)) return { browser, answer, end: answer };
  const response = await browser.request(service.url + answer.pathname + answer.search);
  expect(response.status).toBe(302);
  return { browser, answer, end: new URL(response.headers.get('location') ?? '') };
}

const session = async (browser: FormBrowser) => (await browser.request(service.url + SESSION)).json();

const call = async (browser: FormBrowser, method: string, path: string, body?: object) => {
  const Cookie = `haulbridge_session=${browser.cookieOf(service.url, 'haulbridge_session') ?? ''}`;
  return service.call<{ error?: { code: string; message: string } }>(method, path, {
    headers: { Cookie, 'X-Console': '1' },
    body,
  });
};

describe('a person', () => {
  it('whose session has expired signs in again without a page', async () => {
    const { browser } = await signIn('otto');
    await endSession(service, browser.cookieOf(service.url, 'haulbridge_session') ?? '');
    expect((await browser.request(service.url + SESSION)).status).toBe(401);
    expect((await signIn('otto', browser, '?silent=1')).end.pathname).toBe('/console/');
    expect(await session(browser)).toMatchObject({ role: 'operator' });
  });
});

describe('the ID token of a session', () => {
  /** A session of vera, and its row. */
  async function begun() {
    const { browser } = await signIn('vera');
    return { browser, row: await newestSession(service, 'vera') };
  }
  async function hintOf(browser: FormBrowser) {
    const out = await browser.request(`${service.url}/console/api/oidc/sign-out`);
    const location = new URL(out.headers.get('location') ?? '');
    expect([location.origin, location.searchParams.get('client_id')]).toEqual([provider.issuer, 'haulbridge']);
    expect((await call(browser, 'GET', '/admin/v1/tickets')).status).toBe(401);
    return location.searchParams.get('id_token_hint');
  }

  it('is stored encrypted for an hour at most, and the sign-out sends it', async () => {
    const { browser, row } = await begun();
    expect(row).toMatchObject({ idToken: expect.stringMatching(/^v1\.[\w-]+$/), minutes: 60 });
    const hint = (await hintOf(browser)) ?? '';
    expect(hint).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
    const stored = Buffer.from(row.idToken.slice(3), 'base64url');
    expect(hint.split('.').filter((part) => stored.includes(part) || row.idToken.includes(part))).toEqual([]);
  });

  it('of another session is not opened: the sign-out ends this one, and the provider asks', async () => {
    const [one, other] = [await begun(), await begun()];
    await setIdToken(service, one.row, other.row.idToken);
    expect(await hintOf(one.browser)).toBeNull();
    expect(await hintOf(other.browser)).not.toBeNull();
  });
});

describe('an answer of the provider', () => {
  it('is accepted once', async () => {
    const { browser, answer } = await signIn('ada');
    const names = browser.names(service.url).filter((name) => name.startsWith('haulbridge_oidc_'));
    expect(names).toEqual([]);
    const again = await browser.request(service.url + answer.pathname + answer.search);
    expect(new URL(again.headers.get('location') ?? '').searchParams.get('fault')).toBe('stale');
  });

  it.each([
    ['without a state', (url: URL) => url.searchParams.delete('state')],
    ['with another state', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
    ['with the state of another browser', () => undefined],
  ])('%s is refused', async (_, change) => {
    const { answer } = await signIn('ada');
    change(answer);
    const other = await new FormBrowser().request(service.url + answer.pathname + answer.search);
    expect(new URL(other.headers.get('location') ?? '').searchParams.get('fault')).toBe('stale');
    expect(
      other.headers.getSetCookie().some((line) => line.startsWith('haulbridge_session=') && line.length > 40),
    ).toBe(false);
  });
});

describe('a session of a token or a key', () => {
  const signInWith = async (body: object) => {
    const { headers } = await service.call('POST', SESSION, { headers: { 'X-Console': '1' }, body });
    return headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const statusOf = async (path: string, Cookie = '') =>
    (await service.call('GET', path, { headers: { Cookie } })).status;

  it('ends when it expires; a sweep deletes its row, and no other one', async () => {
    const [ended, kept] = [
      await signInWith({ token: service.env.ADMIN_TOKEN }),
      await signInWith({ token: service.env.ADMIN_TOKEN }),
    ];
    await endSession(service, ended.split('=')[1] ?? '');
    const rows = async () => (await rowsOf(service, 'console_sessions', 'id')).length;
    const before = await rows();
    await service.app.get(ConsoleSessions).deleteExpired();
    expect(before - (await rows())).toBeGreaterThan(0);
    expect([await statusOf('/admin/v1/haulers', ended), await statusOf('/admin/v1/haulers', kept)]).toEqual([401, 200]);
  });

  it('is the oldest that ends beyond a hundred of one secret', async () => {
    const { key } = await issueKey(service, ['account']);
    const cookies: string[] = [];
    const signIn = async () => void cookies.push(await signInWith({ apiKey: key }));
    for (let i = 0; i < 2; i++) await signIn();
    await Promise.all(Array.from({ length: 98 }, signIn));
    // Those at the same moment do not see each other: the one beyond the hundred comes alone.
    await signIn();
    const statuses = [cookies[0], cookies[1], cookies[100]].map((cookie) => statusOf('/partner/v1/me', cookie));
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });
});
