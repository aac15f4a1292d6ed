import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { held } from '../../support/held.js';
import { CLIENT, FormBrowser } from '../../support/identity-provider.js';
import { type Script, startScriptedIssuer } from '../../support/scripted-issuer.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';

type Issuer = Awaited<ReturnType<typeof startScriptedIssuer>>;

let issuer: Issuer;
let first: OwnService;
/** One that says nothing at first, and the instance that waits for it while the other cases run. */
let silent: Issuer;
let waiting: OwnService;
let hanging: Promise<SignIn>;
beforeAll(async () => {
  [issuer, silent] = await Promise.all([startScriptedIssuer(), startScriptedIssuer()]);
  for (const { close } of [issuer, silent]) held(close);
  first = await startAt(await freePort());
  waiting = await startAt(await freePort(), silent.issuer);
  hanging = signIn({ calls: { [description]: () => undefined } }, waiting, silent);
  hanging.catch(() => undefined);
}, 120_000);

/** Each instance reads the description of the issuer once a minute: a script of it needs a fresh one. */
async function startAt(port: number, issuerUrl = issuer.issuer): Promise<OwnService> {
  const env = {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    OIDC_ISSUER: issuerUrl,
    OIDC_CLIENT_ID: CLIENT.clientId,
    OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    OIDC_ROLES: 'operator=ops',
  };
  return startOwnService({ env, ...(first === undefined ? {} : { beside: first }) });
}

interface SignIn {
  readonly fault: string | null;
  readonly algorithm: string | null;
  readonly session: { readonly name?: string; readonly role?: string };
}

async function signIn(script: Script, service = first, from = issuer): Promise<SignIn> {
  from.play(script);
  const browser = new FormBrowser();
  const isEnd = ({ href, pathname }: URL) => href.startsWith(service.url) && !pathname.startsWith('/console/api/');
  const { searchParams } = await browser.walk(`${service.url}/console/api/oidc/sign-in`, 'dana', isEnd);
  const session = await browser.request(`${service.url}/console/api/session`);
  return {
    ...{ fault: searchParams.get('fault'), algorithm: searchParams.get('algorithm') },
    session: session.status === 200 ? ((await session.json()) as SignIn['session']) : {},
  };
}

const html: NonNullable<Script['calls']>[string] = (response) =>
  void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Maintenance</h1>');
const large: typeof html = (response) =>
  void response.writeHead(200, { 'Content-Type': 'application/json' }).end(`"${'x'.repeat(10_000_000)}"`);
const now = () => Math.floor(Date.now() / 1_000);

const description = '/.well-known/openid-configuration';
const HS256 = { fault: 'algorithm', algorithm: 'HS256', session: {} };
const announces = (algorithms: readonly string[]): Script => ({
  algorithm: 'HS256',
  metadata: { id_token_signing_alg_values_supported: algorithms },
});

describe('a sign-in that fails names its cause (issue 46; operating.md, OIDC_ISSUER)', () => {
  test('the algorithm HS256, which the issuer does not announce', async () => {
    expect(await signIn({ algorithm: 'HS256' })).toEqual(HS256);
    await eventually(() => expect(first.output()).toContain('the ID token is signed HS256'));
  });

  test.each<[string, Script, string]>([
    ['no signature at all', { algorithm: 'none' }, 'algorithm'],
    ['another audience', { claims: { aud: 'another-client' } }, 'invalid'],
    ['another nonce', { claims: { nonce: 'another' } }, 'invalid'],
    ['no nonce', { claims: { nonce: undefined } }, 'invalid'],
    ['another issuer', { claims: { iss: 'https://evil.example' } }, 'invalid'],
    ['another issuer in the answer', { answer: { iss: 'https://evil.example' } }, 'invalid'],
    ['an error in the answer', { answer: { error: 'access_denied' } }, 'refused'],
    ['an expired token', { claims: { iat: now() - 900, exp: now() - 600 } }, 'invalid'],
    ['a token of the future', { claims: { nbf: now() + 600 } }, 'invalid'],
    ['an unknown key', { hasForeignKey: true }, 'invalid'],
    ['keys that are HTML', { calls: { '/keys': html } }, 'invalid'],
    ['tokens that are HTML', { calls: { '/token': html } }, 'invalid'],
    ['tokens of 10 MB', { calls: { '/token': large } }, 'invalid'],
    ['503 for the tokens', { calls: { '/token': (response) => void response.writeHead(503).end() } }, 'invalid'],
    ['a client that is refused', { calls: { '/token': refusesClient } }, 'refused'],
    ['no answer for the tokens', { calls: { '/token': (response) => void response.destroy() } }, 'provider-away'],
    ['no group with a role', { claims: { groups: ['others'] } }, 'no-role'],
  ])('%s', async (_what, script, fault) => {
    expect(await signIn(script)).toMatchObject({ fault, session: {} });
  });

  test('the log names the variables of a wrong secret, issuer and claim, without a stack', async () => {
    const reasons = ['compare OIDC_CLIENT_ID and OIDC_CLIENT_SECRET with', 'OIDC_ROLES has none of the groups'];
    for (const reason of reasons) await eventually(() => expect(first.output()).toContain(reason));
    expect(await signIn({ claims: { groups: undefined } })).toMatchObject({ fault: 'no-role' });
    await eventually(() => expect(first.output()).toContain('the claim of OIDC_ROLE_CLAIM is absent or empty'));
    expect(first.output()).not.toMatch(/ at .*\.js:/);
  });

  test('a description that cannot be used, and the algorithm HS256 of the next one, which announces it', async () => {
    const service = await startAt(await freePort());
    const faults: [string, Script, string][] = [
      ['is HTML', { calls: { [description]: html } }, 'invalid'],
      ['has 10 MB', { calls: { [description]: large } }, 'invalid'],
      ['is cut', { calls: { [description]: (response) => void response.destroy() } }, 'provider-away'],
      ['is 404', { calls: { [description]: (response) => void response.writeHead(404).end() } }, 'invalid'],
      ['breaks off', { calls: { [description]: breaksOff } }, 'invalid'],
      ['is of another issuer', { issuer: 'https://evil.example' }, 'invalid'],
    ];
    for (const [what, script, fault] of faults)
      expect([what, await signIn(script, service)]).toMatchObject([what, { fault, session: {} }]);
    await eventually(() => expect(service.output()).toContain('HTTP 404; compare OIDC_ISSUER with the provider'));
    // None of them is kept: this one is read.
    expect(await signIn(announces(['HS256']), service)).toEqual(HS256);
  });

  test('a description that does not come within 10 s; the token of an admin works meanwhile', async () => {
    expect((await waiting.admin('GET', '/haulers')).status).toBe(200);
    expect(await hanging).toMatchObject({ fault: 'provider-away' });
  });

  test('the algorithm HS256 of an issuer that announces it beside others', async () => {
    expect(await signIn(announces(['RS256', 'HS256']), waiting, silent)).toEqual(HS256);
  });
});

test('a sign-in succeeds with clocks that differ by less than a minute, and at once after a change of the keys', async () => {
  const scripts: Script[] = [
    { claims: { iat: now() + 40, exp: now() + 340 } },
    { claims: { iat: now() - 400, exp: now() - 40 } },
    {},
  ];
  for (const script of scripts) expect(await signIn(script)).toMatchObject({ fault: null });
  issuer.rotate();
  expect(await signIn({})).toMatchObject({ fault: null, session: { role: 'operator' } });
});

describe('the user info of a person (issue 46)', () => {
  const withUserInfo = (userInfo: NonNullable<Script['calls']>[string], claims = {}): Script => ({
    metadata: { userinfo_endpoint: `${issuer.issuer}/userinfo` },
    calls: { '/userinfo': userInfo },
    claims,
  });
  const says = (body: object) => (response: Parameters<typeof html>[0]) =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  let service: OwnService;
  beforeAll(async () => {
    service = await startAt(await freePort());
  });

  test('gives the name that the ID token has not', async () => {
    const { fault, session } = await signIn(withUserInfo(says({ sub: 'dana', name: 'Dana D.' })), service);
    expect([fault, session]).toMatchObject([null, { role: 'operator', name: 'Dana D.' }]);
  });

  test.each<[string, NonNullable<Script['calls']>[string]]>([
    ['is HTML', html],
    ['is refused', (response) => void response.writeHead(403).end()],
    ['is that of another person', says({ sub: 'eve', name: 'Eve' })],
    ['does not come', (response) => void response.destroy()],
  ])('that %s does not decide over a person whose groups are known', async (_what, userInfo) => {
    const { fault, session } = await signIn(withUserInfo(userInfo), service);
    expect([fault, session]).toMatchObject([null, { role: 'operator' }]);
    expect(session.name).not.toBe('Eve');
  });

  test('that is HTML is named where it alone has the groups', async () => {
    expect((await signIn(withUserInfo(html, { groups: undefined }), service)).fault).toBe('invalid');
    const groups = says({ sub: 'dana', groups: ['ops'] });
    expect(await signIn(withUserInfo(groups, { groups: undefined }), service)).toMatchObject({
      fault: null,
      session: { role: 'operator' },
    });
  });
});

function refusesClient(response: Parameters<typeof html>[0]): void {
  response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"invalid_client"}');
}

function breaksOff(response: Parameters<typeof html>[0]): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
  response.write('{"issuer":', () => setTimeout(() => response.destroy(), 50));
}
