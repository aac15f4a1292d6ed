import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import { rawRequest } from '../../support/raw-request.js';
import { type ErrorBody, Hauler, ONE_SITE } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, call, read, target } from '../support/target.js';

describe('open paths', () => {
  test.each([
    ['/docs', 'text/html'],
    ...['scale', 'account', 'site', 'vision', 'partner', 'admin'].map((name) => [`/docs/${name}.json`, 'json']),
    ['/docs/scale.yaml', 'yaml'],
    ...['/docs/errors', '/docs/changelog', '/docs/interfaces', '/docs/guides/admin', '/console/'].map((path) => [
      path,
      'text/html',
    ]),
    ['/docs/conformance.mjs', 'javascript'],
    ['/health/live', 'json'],
    ['/health/ready', 'json'],
  ])('%s is served without a credential as %s (decision 14)', async (path, type) => {
    const { status, headers } = await call('GET', path);
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('x-request-id')).not.toBeNull();
  });

  test('JSON has the security headers and is not stored; pages have their own policy (decision 14)', async () => {
    const json = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
    const policy = "default-src 'none'; frame-ancestors 'none'";
    for (const path of ['/health/live', '/nope', '/platform-api/v1/tickets', '/partner/v1/me']) {
      const { headers } = await call('GET', path);
      expect(Object.fromEntries(headers)).toMatchObject({ ...json, 'content-security-policy': policy });
      expect(headers.get('strict-transport-security')).not.toBeNull();
    }
    for (const path of ['/docs', '/console/']) {
      const { headers } = await call('GET', path);
      expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    }
  });

  test.each([
    ['abc-123!', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['a b', false],
  ])('the request id %j of a caller is echoed: %s (decision 14)', async (id, isEchoed) => {
    const { headers } = await call('GET', '/health/live', { headers: { 'X-Request-Id': id } });
    const answered = headers.get('x-request-id') ?? '';
    expect([answered === id, isEchoed || /^[0-9a-f-]{36}$/.test(answered)]).toEqual([isEchoed, true]);
  });

  test('/metrics takes the admin token, and counts requests by route and status', async () => {
    expect((await call('GET', '/metrics')).status).toBe(401);
    await admin('GET', '/haulers?pageSize=1');
    const headers = { Authorization: `Bearer ${target.adminToken}` };
    const { status, text, headers: sent } = await call('GET', '/metrics', { headers });
    expect([status, sent.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain; version=0\.0\.4/)]);
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/admin\/v1\/haulers",status="200"\} \d/,
    );
  });
});

/** A copy that calls nobody: an instance without a name, and one of the cell a7 beside it. */
let nameless: OwnService;
let cell: OwnService;
/** Of another cell. */
let other: OwnService;
beforeAll(async () => {
  const env = {
    LOG_ACCESS: 'failures',
    LOG_LEVEL: 'info',
    TRUST_PROXY: '127.0.0.1,10.0.0.0/8,fd00::/8',
    OUTBOUND: 'off',
  };
  [nameless, other] = await Promise.all([startOwnService({ env }), startOwnService({ env: { CELL: 'b' } })]);
  cell = await startOwnService({ beside: nameless, env: { ...env, CELL: 'a7' } });
}, 120_000);

test('LOG_ACCESS=failures has a line for each refused request, with its id and the prefix and hauler of its key', async () => {
  const hauler = await Hauler.create({ service: nameless });
  const key = await hauler.key();
  const create = async (body: object, sent = key) => {
    const options = { headers: { 'PLATFORM-API-KEY': sent }, body };
    return (await call('POST', '/platform-api/v1/accounts', options, nameless)).headers.get('x-request-id');
  };
  const [accepted, refused, unknown] = [
    await create({ accountName: 'A' }),
    await create({}),
    await create({}, `${key}x`),
  ];
  const lines = await eventually(() => {
    const all = nameless
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const found = all.map((line) => JSON.parse(line) as { requestId?: string; keyPrefix?: string; haulerId?: string });
    expect(found.map(({ requestId }) => requestId)).toContain(unknown);
    return found;
  });
  const lineOf = (id: string | null) => lines.find(({ requestId }) => requestId === id);
  expect(lineOf(refused)).toMatchObject({
    ...{ method: 'POST', path: '/platform-api/v1/accounts', status: 400, address: '127.0.0.1', haulerId: hauler.id },
    keyPrefix: key.slice(0, 11),
  });
  expect(lineOf(unknown)).toMatchObject({ status: 401 });
  expect([lineOf(accepted), lineOf(unknown)?.keyPrefix, lineOf(unknown)?.haulerId]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(nameless.output()).not.toContain(key);
});

describe('behind a proxy', () => {
  const wrong = (address: string, token: string, at: { url: string; adminToken: string } = nameless) =>
    call('GET', '/admin/v1/haulers', { headers: { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address } }, at);
  const tries = async (count: number, ask: (n: number) => Promise<{ status: number }>) =>
    (await Promise.all(Array.from({ length: count }, (_, n) => ask(n)))).map(({ status }) => status);

  test('who guesses is refused by the address that TRUST_PROXY gives, and the right token always works (decision 63)', async () => {
    const statuses = await tries(70, (n) => wrong('192.0.2.1', `${n}-wrong-token-0123456789`));
    expect([statuses.filter((each) => each === 401).length, statuses.filter((each) => each === 429).length]).toEqual([
      60, 10,
    ]);
    expect((await wrong('192.0.2.2', 'another-wrong-token-0123')).status).toBe(401);
    expect((await wrong('192.0.2.1', nameless.adminToken)).status).toBe(200);
  });

  test('without TRUST_PROXY the header of a caller counts nothing (decision 63)', async () => {
    const statuses = await tries(62, (n) => wrong(`198.51.100.${n}`, `${n}-wrong-token-0123456789`, other));
    expect(statuses.filter((each) => each === 429)).toHaveLength(2);
  });
});

const CALLER = '203.0.113.7';
const ask = (path: string, ...headers: string[]) => rawRequest(nameless.url + path, 'GET', headers);

describe('cookies in several header lines are those of one session (decision 57)', () => {
  let session: string;
  beforeAll(async () => {
    const headers = { 'X-Console': '1' };
    const reply = await call(
      'POST',
      '/console/api/session',
      { headers, body: { token: nameless.adminToken } },
      nameless,
    );
    [session = ''] = (reply.headers.get('set-cookie') ?? '').split(';');
  });

  test.each([
    ['one line', (cookie: string) => [cookie]],
    ['the session first', (cookie: string) => [cookie, 'theme=dark']],
    ['the session last', (cookie: string) => ['theme=dark', cookie]],
    ['the session between others', (cookie: string) => ['a=1; b=2', `${cookie}; c=3`, 'd=4']],
    ['no blanks, and another name that ends alike', (cookie: string) => [`x${cookie};${cookie}`]],
    ['blanks around each', (cookie: string) => [` a=1 ;  ${cookie}  ; b`]],
  ])('%s', async (_what, lines) => {
    const headers = lines(session).flatMap((line) => ['Cookie', line]);
    expect((await ask('/admin/v1/haulers', ...headers)).status).toBe(200);
    const signedIn = await ask('/console/api/session', ...headers);
    expect([signedIn.status, JSON.parse(signedIn.text)]).toMatchObject([200, { kind: 'admin' }]);
  });

  test('of which none is a session opens nothing', async () => {
    expect((await ask('/admin/v1/haulers', 'Cookie', 'a=1', 'Cookie', `x${session}`)).status).toBe(401);
  });
});

describe('the address of a caller behind trusted proxies (decision 63)', () => {
  test.each([
    ['one address', [CALLER], CALLER],
    ['a list', [`198.51.100.1, ${CALLER}, 10.1.2.3`], CALLER],
    ['a list in several lines', ['198.51.100.1', `${CALLER},10.1.2.3`, '10.9.9.9'], CALLER],
    ['addresses with ports', [`198.51.100.1:4711,${CALLER}:50123 , 10.1.2.3:443`], CALLER],
    ['IPv6', ['198.51.100.1, 2001:db8::7, fd00::1'], '2001:db8::7'],
    ['IPv6 with ports', ['[2001:db8::7]:50123, [fd00::1]:443'], '2001:db8::7'],
    ['IPv6 in brackets', ['[2001:db8::7]'], '2001:db8::7'],
  ])('is read from X-Forwarded-For: %s', async (what, lines, address) => {
    const requestId = what.replaceAll(' ', '-');
    await ask('/nope', 'X-Request-Id', requestId, ...lines.flatMap((line) => ['X-Forwarded-For', line]));
    await eventually(() => {
      const line = nameless
        .output()
        .split('\n')
        .find((each) => each.includes(`"requestId":"${requestId}"`));
      expect(JSON.parse(line ?? '{}')).toMatchObject({ address });
    });
  });

  test('is one caller, from whichever port it guesses', async () => {
    const statuses = [];
    for (let n = 0; n < 12; n++) {
      const headers = { 'X-Console': '1', 'X-Forwarded-For': `203.0.113.99:${50_000 + n}` };
      const body = { token: `wrong-token-${n}-0123456789`.padStart(40, String(n)) };
      statuses.push((await call('POST', '/console/api/session', { headers, body }, nameless)).status);
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  });
});

test('callers without a key use up nothing that callers with a key need (decision 58)', async () => {
  const hauler = await Hauler.create({ service: other, sites: ONE_SITE });
  const { hostname, port } = new URL(other.url);
  const sockets = Array.from({ length: 100 }, () => connect(Number(port), hostname));
  held(async () => sockets.forEach((socket) => socket.destroy()));
  const head = 'POST /platform-api/v1/tickets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  for (const socket of sockets) {
    socket.on('error', () => undefined);
    socket.write(`${head}Content-Length: 1000000\r\n\r\n{`);
  }
  await delay(200);
  const pushes = await Promise.all(Array.from({ length: 10 }, () => hauler.push()));
  expect(pushes.map(({ status }) => status)).toEqual(pushes.map(() => 200));
  for (const socket of sockets) socket.destroy();
  for (let n = 0; n < 50; n++)
    await call('POST', '/platform-api/v1/tickets', { body: { filler: 'x'.repeat(5_000) } }, other);
  await eventually(async () => {
    const { data } = await read<{ data: { status: number; requestBytes: number }[] }>(
      `/exchanges?haulerId=${hauler.id}&direction=inbound&status=200&pageSize=100`,
      other,
    );
    expect(data).toHaveLength(10);
  });
});

test('another SECRETS_KEY than that of the database is refused at the start, with what to do (decision 70)', async () => {
  await expect(startOwnService({ beside: other, env: { SECRETS_KEY: 'b6'.repeat(32) } })).rejects.toThrow(
    /SECRETS_KEY: it is not the one of this database.* Set it to that of the service that has used the database/,
  );
});

test('a copy with OUTBOUND=off calls no partner and says so (decision 70)', async () => {
  expect(await read('/outbound', cell)).toMatchObject({ enabled: false });
  const hauler = await Hauler.create({ service: cell });
  const { partner, connectionId } = await hauler.siteConnection();
  await admin('POST', `/connections/${connectionId}/sync`, undefined, cell);
  const { data } = await read<{ data: { kind: string; sentence: string }[] }>('/attention', cell);
  expect(data.find(({ kind }) => kind === 'outbound-off')?.sentence).toMatch(/^This is a copy/);
  expect(partner.asked).toEqual([]);
  const refused = await admin<ErrorBody>('PUT', '/outbound', { enabled: true, reason: 'x' }, cell);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
});

describe('a key of a cell (decision 71)', () => {
  let hauler: Hauler;
  beforeAll(async () => {
    hauler = await Hauler.create({ service: cell });
  });

  test('begins with the name of the cell', async () => {
    expect(await hauler.key()).toMatch(/^hb_a7_[0-9A-Za-z]{49}$/);
    expect((await hauler.createAccount({ accountName: 'In its cell' })).status).toBe(200);
  });

  test.each([
    ['POST', '/platform-api/v1/accounts', 'PLATFORM-API-KEY'],
    ['POST', '/platform-api/v1/tickets', 'PLATFORM-API-KEY'],
    ['GET', '/scale-platform/v1/sites', 'API-KEY'],
    ['GET', '/video-platform/v1/videos?requestId=none', 'API-KEY'],
    ['GET', '/partner/v1/me', 'PLATFORM-API-KEY'],
    ['GET', '/partner/v1/me', 'API-KEY'],
  ])('is 401 for %s %s by %s elsewhere, and the message names its cell', async (method, path, header) => {
    const headers = { [header]: await hauler.key() };
    for (const [service, here] of [
      [other, 'this is cell b'] as const,
      [target, 'this service has no cells'] as const,
    ]) {
      const body = method === 'POST' ? {} : undefined;
      const refused = await call<ErrorBody>(method, path, { headers, body }, service);
      expect([refused.status, refused.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
      expect(refused.body.error.message).toContain(`the key belongs to cell a7, and ${here}`);
    }
  });

  test('cannot sign in to the console of another cell, which names its cell', async () => {
    const options = { headers: { 'X-Console': '1' }, body: { apiKey: await hauler.key() } };
    const refused = await call<ErrorBody>('POST', '/console/api/session', options, other);
    expect([refused.status, refused.body.error.message]).toEqual([401, expect.stringContaining('cell a7')]);
  });

  test('goes on working when the service gets a name, or loses it', async () => {
    const old = await Hauler.create({ service: nameless });
    expect(await old.key()).toMatch(/^hb_[0-9A-Za-z]{49}$/);
    expect((await old.at(cell).createAccount({ accountName: 'Older than the name' })).status).toBe(200);
    expect((await hauler.at(nameless).createAccount({ accountName: 'Of an earlier name' })).status).toBe(200);
  });
});
