import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { FormBrowser, oidcSettings } from '../../support/identity-provider.js';
import { type Script, startScriptedIssuer } from '../../support/scripted-issuer.js';

let service: TestApp;
let issuer: Awaited<ReturnType<typeof startScriptedIssuer>>;
const PUBLIC_URL = 'http://console.invalid';

beforeAll(async () => {
  issuer = await startScriptedIssuer();
  const OIDC = oidcSettings(issuer.issuer, PUBLIC_URL, [{ role: 'operator', group: 'ops' }]);
  service = await startTestApp({ env: { OIDC } });
});
afterEach(() => void issuer.play({}));
afterAll(async () => {
  await service.close();
  await issuer.close();
});

/** The fault of a sign-in; undefined for one that succeeds. `fresh`: another instance, which knows nothing of the issuer. */
async function fault(script: Script = {}, app = service): Promise<string | undefined> {
  issuer.play(script);
  const browser = new FormBrowser();
  const back = await browser.walk(`${app.url}/console/api/oidc/sign-in`, 'dana', ({ href }) =>
    href.startsWith(PUBLIC_URL),
  );
  if (!back.pathname.endsWith('/callback')) return back.searchParams.get('fault') ?? 'none';
  const response = await browser.request(app.url + back.pathname + back.search);
  const { searchParams } = new URL(response.headers.get('location') ?? '');
  const isSignedIn = (await browser.request(`${app.url}/console/api/session`)).status === 200;
  expect(isSignedIn).toBe(!searchParams.has('fault'));
  return searchParams.get('fault') ?? undefined;
}

const now = () => Math.floor(Date.now() / 1_000);

describe('a sign-in', () => {
  it('succeeds, also when the clocks differ by less than a minute', async () => {
    expect(await fault()).toBeUndefined();
    expect(await fault({ claims: { iat: now() + 40, exp: now() + 340 } })).toBeUndefined();
    expect(await fault({ claims: { iat: now() - 400, exp: now() - 40 } })).toBeUndefined();
  });

  it('succeeds at once after the issuer has changed its keys', async () => {
    expect(await fault()).toBeUndefined();
    issuer.rotate();
    expect(await fault()).toBeUndefined();
  });

  it.each<[string, Script]>([
    ['another nonce', { claims: { nonce: 'another' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'another-client' } }],
    ['an expired token', { claims: { iat: now() - 900, exp: now() - 600 } }],
    ['a token of the future', { claims: { nbf: now() + 600 } }],
    ['a foreign key', { hasForeignKey: true }],
    ['another issuer in the answer', { answer: { iss: 'https://evil.example' } }],
  ])('is refused with %s', async (_, script) => {
    expect(await fault(script)).toBe('invalid');
  });

  it('with an error of the issuer says that it was refused', async () => {
    expect(await fault({ answer: { error: 'access_denied' } })).toBe('refused');
  });
});

it('is refused by an issuer that describes another one', async () => {
  const fresh = await startTestApp({ on: service });
  expect(await fault({ issuer: 'https://evil.example' }, fresh)).toBe('invalid');
  await fresh.close();
});

describe('an issuer that does not answer as it should', () => {
  const all = '/.well-known/openid-configuration';
  it.each<[string, Script, fault?: string]>([
    ['answers 500', { calls: { [all]: (response) => response.writeHead(500).end() } }],
    ['answers HTML', { calls: { [all]: (response) => response.end('<h1>Maintenance</h1>') } }],
    [
      'answers 10 MB',
      {
        calls: {
          [all]: (response) =>
            response.setHeader('Content-Type', 'application/json').end(`"${'x'.repeat(10_000_000)}"`),
        },
      },
    ],
    ['cuts the connection', { calls: { [all]: (response) => response.destroy() } }, 'provider-away'],
    ['answers no token', { calls: { '/token': (response) => response.writeHead(503).end() } }],
    [
      'answers tokens of 10 MB',
      {
        calls: {
          '/token': (response) => response.setHeader('Content-Type', 'application/json').end('x'.repeat(10_000_000)),
        },
      },
    ],
  ])('is named on the sign-in page when it %s, and tokens work', async (_, script, expected = 'invalid') => {
    // An instance that has not read the description yet.
    const fresh = await startTestApp({ on: service });
    expect(await fault(script, fresh)).toBe(expected);
    expect((await fresh.admin('GET', '/haulers')).status).toBe(200);
    expect(await fault({}, fresh)).toBeUndefined();
    await fresh.close();
  });

  it('is given up after 10 s when it hangs, and tokens work meanwhile', async () => {
    const fresh = await startTestApp({ on: service });
    const hanging = fault({ calls: { [all]: () => undefined } }, fresh);
    expect((await fresh.admin('GET', '/haulers')).status).toBe(200);
    expect(await hanging).toBe('provider-away');
    await fresh.close();
  }, 60_000);
});
