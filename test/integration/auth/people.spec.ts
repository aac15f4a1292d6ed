import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GroupAccess } from '../../../src/config/access-rules.js';
import { createHauler } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { freePort } from '../../support/free-port.js';
import { FormBrowser, oidcSettings, startIdentityProvider } from '../../support/identity-provider.js';

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

/** Navigates as a browser does; what the provider sends to the public address goes to the service. */
async function signIn(login: string, browser = new FormBrowser(), query = '') {
  const { redirectUri, consoleUrl } = service.env.OIDC!;
  const isBack = (url: URL) => url.href.startsWith(redirectUri) || url.href.startsWith(consoleUrl);
  const answer = await browser.walk(`${service.url}/console/api/oidc/sign-in${query}`, login, isBack);
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
  it('is named in the action log', async () => {
    const { browser } = await signIn('ada');
    await call(browser, 'POST', '/admin/v1/haulers', { name: 'Lone Star' });
    const { body } = await service.admin<{ data: unknown[] }>('GET', '/actions');
    expect(body.data[0]).toMatchObject({
      actor: 'person:ada',
      person: { subject: 'ada', name: 'Name of ada', email: 'ada@hauling.example' },
      sentence: expect.stringMatching(/^Name of ada \(ada@hauling.example\) created /),
    });
  });

  it('whose session has expired signs in again without a page, and loses a role that was removed', async () => {
    const { browser } = await signIn('otto');
    await service.dataSource.query(`UPDATE console_sessions SET expires_at = now() WHERE person->>'subject' = 'otto'`);
    expect((await browser.request(service.url + SESSION)).status).toBe(401);
    expect((await signIn('otto', browser, '?silent=1')).end.pathname).toBe('/console/');
    expect(await session(browser)).toMatchObject({ role: 'operator' });
    groups.set('otto', ['readers']);
    await signIn('otto', browser, '?silent=1');
    expect(await session(browser)).toMatchObject({ role: 'viewer' });
    groups.set('otto', []);
    expect((await signIn('otto', browser, '?silent=1')).end.searchParams.get('fault')).toBe('no-role');
    groups.set('otto', ['dispatch']);
  });

  it('has a session of at most an hour', async () => {
    await signIn('vera');
    const [row] = await service.dataSource.query<{ minutes: number }[]>(
      `SELECT max(extract(epoch FROM expires_at - created_at) / 60)::int AS minutes FROM console_sessions
        WHERE person->>'subject' = 'vera'`,
    );
    expect(row?.minutes).toBe(60);
  });

  it('silently without a session at the provider comes back to the sign-in page', async () => {
    const { end } = await signIn('ada', new FormBrowser(), '?silent=1');
    expect(end.searchParams.get('fault')).toBe('silent');
  });
});

describe('the ID token of a session', () => {
  interface Stored {
    readonly id: string;
    readonly id_token: string;
  }
  /** A session of vera, and its row. */
  async function begun() {
    const { browser } = await signIn('vera');
    const [row] = await service.dataSource.query<[Stored]>(
      "SELECT id, id_token FROM console_sessions WHERE person->>'subject' = 'vera' ORDER BY created_at DESC LIMIT 1",
    );
    return { browser, row };
  }
  const store = ({ id }: Stored, text: string) =>
    service.dataSource.query('UPDATE console_sessions SET id_token = $2 WHERE id = $1', [id, text]);
  async function hintOf(browser: FormBrowser) {
    const out = await browser.request(`${service.url}/console/api/oidc/sign-out`);
    const location = new URL(out.headers.get('location') ?? '');
    expect([location.origin, location.searchParams.get('client_id')]).toEqual([provider.issuer, 'haulbridge']);
    expect((await call(browser, 'GET', '/admin/v1/tickets')).status).toBe(401);
    return location.searchParams.get('id_token_hint');
  }

  it('is stored encrypted, and the sign-out sends it', async () => {
    const { browser, row } = await begun();
    expect(row.id_token).toMatch(/^v1\.[\w-]+$/);
    const hint = (await hintOf(browser)) ?? '';
    expect(hint).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
    const stored = Buffer.from(row.id_token.slice(3), 'base64url');
    expect(hint.split('.').filter((part) => stored.includes(part) || row.id_token.includes(part))).toEqual([]);
  });

  it('that the version before has stored in plain is sent too', async () => {
    const first = await begun();
    const hint = (await hintOf(first.browser)) ?? '';
    const { browser, row } = await begun();
    await store(row, hint);
    expect(await hintOf(browser)).toBe(hint);
  });

  it('of another session is not opened: the sign-out ends this one, and the provider asks', async () => {
    const [one, other] = [await begun(), await begun()];
    await store(one.row, other.row.id_token);
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

it('an admin sees who is signed in, and ends a session', async () => {
  const { browser } = await signIn('vera');
  const admin = (await signIn('ada')).browser;
  interface Sessions {
    data: { id: string; kind: string; name: string; email?: string; role?: string; isCurrent: boolean }[];
  }
  const Cookie = `haulbridge_session=${admin.cookieOf(service.url, 'haulbridge_session') ?? ''}`;
  const { body } = await service.call<Sessions>('GET', '/admin/v1/sessions', { headers: { Cookie } });
  const [own, other] = body.data;
  expect([own, other]).toEqual([
    expect.objectContaining({ kind: 'person', name: 'Name of ada', role: 'admin', isCurrent: true }),
    expect.objectContaining({ name: 'Name of vera', email: 'vera@hauling.example', role: 'viewer', isCurrent: false }),
  ]);
  expect((await call(admin, 'DELETE', `/admin/v1/sessions/${other?.id ?? ''}`)).status).toBe(204);
  expect((await call(browser, 'GET', '/admin/v1/tickets')).status).toBe(401);
  expect((await call(admin, 'DELETE', `/admin/v1/sessions/${other?.id ?? ''}`)).status).toBe(404);
  expect((await call((await signIn('otto')).browser, 'GET', '/admin/v1/sessions')).status).toBe(403);
});

it('ends the sessions of people when the roles of groups change', async () => {
  const { browser } = await signIn('vera');
  const roles: GroupAccess[] = [{ role: 'viewer', group: 'others' }];
  const changed = await startTestApp({ on: service, env: { OIDC: { ...service.env.OIDC!, roles } } });
  const Cookie = `haulbridge_session=${browser.cookieOf(service.url, 'haulbridge_session') ?? ''}`;
  expect((await changed.call('GET', SESSION, { headers: { Cookie } })).status).toBe(401);
  await changed.close();
  expect(await createHauler(service)).toBeDefined();
});
