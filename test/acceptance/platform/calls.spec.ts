import { beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../../support/raw-request.js';
import { type ErrorBody, Hauler, type Interface } from '../support/hauler.js';
import { type Answered, expectError, postAs, POSTS } from '../support/posts.js';
import { administer, call } from '../support/target.js';

interface Endpoint {
  readonly name: Interface;
  readonly method: string;
  readonly path: string;
  readonly header: string;
  readonly row: string;
  readonly section: string;
}

/** Each route of the four interfaces; each answers 400 to this request with a right key. */
const ENDPOINTS: readonly Endpoint[] = (
  [
    ['scale', 'POST', '/platform-api/v1/tickets', 'Scale', '4.1'],
    ['account', 'POST', '/platform-api/v1/accounts', 'Account', '4.2'],
    ['site', 'GET', '/scale-platform/v1/sites', 'Site', '4.3'],
    ['vision', 'POST', '/video-platform/v1/videos/requests', 'Vision', '4.4'],
    ['vision', 'GET', '/video-platform/v1/videos', 'Vision', '4.5'],
    ['vision', 'GET', '/video-platform/v1/videos/continuous', 'Vision, rule 2', '4.6'],
  ] as const
).map(([name, method, path, row, section]) => ({
  ...{ name, method, path, row, section },
  header: path.startsWith('/platform-api') ? 'PLATFORM-API-KEY' : 'API-KEY',
}));

const otherHeader = ({ header }: Endpoint) => (header === 'API-KEY' ? 'PLATFORM-API-KEY' : 'API-KEY');
const lastChanged = (key: string) => key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');

/** Headers that do not open the interface, as name and value by turns. */
const REFUSED: [string, (key: string, endpoint: Endpoint) => string[]][] = [
  ['no key', () => []],
  ['an empty key', (_key, { header }) => [header, '']],
  ['garbage', (_key, { header }) => [header, 'garbage']],
  ['bytes beyond ASCII', (_key, { header }) => [header, 'hb_\u00e9\u00ff']],
  ['a very long key', (_key, { header }) => [header, `hb_${'a'.repeat(4000)}`]],
  ['a truncated key', (key, { header }) => [header, key.slice(0, -1)]],
  ['a wrong checksum', (key, { header }) => [header, lastChanged(key)]],
  ['the prefix of a key', (key, { header }) => [header, key.slice(0, 11)]],
  ['the key in the wrong header', (key, endpoint) => [otherHeader(endpoint), key]],
  ['the key as a bearer token', (key) => ['Authorization', `Bearer ${key}`]],
  ['the key twice', (key, { header }) => [header, key, header, key]],
  ['the key beside another', (key, { header }) => [header, 'other', header.toLowerCase(), key]],
  ['two keys in one header', (key, { header }) => [header, `${key}, ${key}`]],
  ['the admin token', (_key, { header }) => [header, process.env['ACCEPTANCE_ADMIN_TOKEN'] ?? 'admin']],
];

let hauler: Hauler;
beforeAll(async () => {
  hauler = await Hauler.create();
});

const opening = (...interfaces: Interface[]) => ({
  interfaces,
  ...(interfaces.includes('vision') ? { allCustomers: true } : {}),
});

describe.each(ENDPOINTS)('the key of $method $path', (endpoint) => {
  const { name, method, path, header, row, section } = endpoint;
  const json = method === 'POST' ? ['Content-Type', 'application/json'] : [];
  const body = method === 'POST' ? '{}' : undefined;
  const ask = (headers: readonly string[]) =>
    rawRequest(hauler.service.url + path, method, [...json, ...headers], body);
  let key: string;
  beforeAll(async () => {
    key = await hauler.issueKey(opening(name));
  });
  const expectRefused = async (headers: readonly string[]) => {
    const reply = await ask(headers);
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      401,
      { success: false, error: { code: 'UNAUTHORIZED', message: expect.stringMatching(/\S/) } },
    ]);
  };

  test(`opens it, whatever the case of the header (section 5 ${row})`, async () => {
    for (const right of [header, header.toLowerCase()]) expect((await ask([right, key])).status).toBe(400);
  });

  test.each(REFUSED)(
    `that is %s is 401 (section 5 ${row}, rule 1; section ${section} 401; section 7 401 all; decisions 2, 10)`,
    async (_what, headers) => expectRefused(headers(key, endpoint)),
  );

  test(`that opens the other interfaces alone is 401, not 403 (section 5 rule 1; decision 2)`, async () => {
    const others = ENDPOINTS.map((one) => one.name).filter((other) => other !== name);
    await expectRefused([header, await hauler.issueKey(opening(...others))]);
  });

  test('that was revoked or has expired is 401 (section 5 rule 1)', async () => {
    const issue = (more: object) =>
      administer<{ id: string; key: string }>('POST', '/api-keys', {
        haulerId: hauler.id,
        ...opening(name),
        ...more,
      });
    const [revoked, expiring] = [
      await issue({}),
      await issue({ expiresAt: new Date(Date.now() + 1_000).toISOString() }),
    ];
    expect((await ask([header, revoked.key])).status).toBe(400);
    await administer('DELETE', `/api-keys/${revoked.id}`);
    await expectRefused([header, revoked.key]);
    await new Promise((done) => setTimeout(done, 1_100));
    await expectRefused([header, expiring.key]);
  });
});

describe.each(POSTS)('POST $path', (post) => {
  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'as %s is 405 with Allow, with and without a key, and the message names the method that was sent, the path and its method (decisions 3, 10, 55)',
    async (method) => {
      const headersOfCallers: Record<string, string>[] = [{}, { 'PLATFORM-API-KEY': await hauler.key() }];
      for (const headers of headersOfCallers) {
        const reply = await call<ErrorBody>(method, post.path, { headers });
        expectError(reply, 405);
        expect(reply.headers.get('allow')).toBe('POST');
        expect(reply.body.error.message).toBe(`${method} is not supported: ${post.path} supports POST`);
      }
    },
  );

  test(`is of the major version 1 alone: any other path is 404 (section 9 ${post.name === 'scale' ? 'Scale' : 'Account'}; decisions 10, 19)`, async () => {
    for (const path of [
      `${post.path}/1`,
      `${post.path}x`,
      post.path.replace('/v1', '/v2'),
      post.path.replace('/v1', ''),
    ]) {
      expectError(await postAs(hauler, { path }, post.body()), 404, 'NOT_FOUND');
    }
  });

  test('answers 200, 400, 401, 404, 405, 409 and 415 in the headers of decision 14 alone, and no retired route (decisions 12, 14, 19)', async () => {
    const of = await Hauler.create(post.sites === undefined ? {} : { sites: post.sites });
    const replies: Answered[] = [
      await postAs(of, post, post.body()),
      await postAs(of, post, {}),
      await postAs(of, post, {}, { 'PLATFORM-API-KEY': 'wrong' }),
      await postAs(of, { path: `${post.path}/x` }, {}),
      await call('GET', post.path),
      await postAs(of, post, await post.refused(of)),
      await postAs(of, post, 'text', { 'Content-Type': 'text/plain' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 401, 404, 405, post.refusal.status, 415]);
    for (const { headers } of replies) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'content-type': 'application/json; charset=utf-8',
        'strict-transport-security': expect.stringMatching(/^max-age=\d+/),
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.stringMatching(/^[\x21-\x7e]{1,128}$/),
      });
      const others = ['x-powered-by', 'deprecation', 'sunset', 'x-frame-options', 'referrer-policy', 'ratelimit'];
      expect(others.filter((name) => headers.has(name))).toEqual([]);
    }
  });

  test.each([
    ['a visible one', 'order-42', true],
    ['the longest', `${'~'.repeat(127)}!`, true],
    ['a longer one', 'x'.repeat(129), false],
    ['one with a blank', 'a b', false],
    ['one beyond ASCII', 'caf\u00e9', false],
  ])("echoes a caller's request id: %s, also with an error (decision 14)", async (_what, id, isEchoed) => {
    for (const body of [post.body(), '{']) {
      const { headers } = await postAs(hauler, post, body, { 'X-Request-Id': id });
      expect([headers.get('x-request-id') === id, headers.get('x-request-id')?.length]).toEqual([
        isEchoed,
        isEchoed ? id.length : 36,
      ]);
    }
  });
});

test('the codes of an answer are of the closed set of its interface (section 2.1 success, error, error.code; section 7 codes of Scale; decision 12)', async () => {
  const codes = async (path: string, bodies: readonly unknown[], keys: readonly string[]) => {
    const replies = await Promise.all(
      bodies.flatMap((body) =>
        keys.map((key) => call<ErrorBody>('POST', path, { headers: { 'PLATFORM-API-KEY': key }, body })),
      ),
    );
    for (const { body } of replies) expect([body.success, Object.keys(body)]).toEqual([false, ['success', 'error']]);
    return [...new Set(replies.map(({ body }) => body.error.code))].sort();
  };
  const [scale, account] = POSTS as [(typeof POSTS)[0], (typeof POSTS)[0]];
  const keys = [await hauler.key(), 'wrong'];
  expect(await codes(scale.path, ['{', {}, await scale.refused(hauler)], keys)).toEqual([
    ...['INVALID_PAYLOAD', 'UNAUTHORIZED', 'VALIDATION_ERROR'],
  ]);
  expect(await codes(account.path, ['{', {}, await account.refused(hauler)], keys)).toEqual([
    ...['CONFLICT', 'INVALID_PAYLOAD', 'UNAUTHORIZED'],
  ]);
});
