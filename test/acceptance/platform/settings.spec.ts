import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { doctor } from '../support/command-line.js';
import { flow, Hauler, ONE_SITE, type Plain } from '../support/hauler.js';
import { countOf, expectError, postAs, POSTS, unique } from '../support/posts.js';
import { type OwnService, ownDatabase, startOwnService } from '../support/service.js';
import { admin, administer, listed, read } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

const [, ACCOUNT] = POSTS as [(typeof POSTS)[0], (typeof POSTS)[0]];

describe('with RATE_LIMIT_PER_MINUTE=5, HTTP_BODY_LIMIT=1000 and EXCHANGE_LOG=off', () => {
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService({
      env: { RATE_LIMIT_PER_MINUTE: '5', HTTP_BODY_LIMIT: '1000', EXCHANGE_LOG: 'off' },
    });
  });

  test.each(POSTS)(
    'the sixth POST $path of a key is 429 with Retry-After, and other keys go on (decision 15)',
    async (post) => {
      const [hauler, other] = [await Hauler.create({ service }), await Hauler.create({ service })];
      for (let i = 4; i >= 0; i--) {
        const { status, headers } = await postAs(hauler, post, {});
        expect([status, headers.get('ratelimit')]).toEqual([400, expect.stringContaining(`r=${i}`)]);
        expect(headers.get('ratelimit-policy')).toMatch(/q=5; w=60/);
      }
      const refused = await postAs(hauler, post, {});
      expectError(refused, 429, 'INTERNAL_ERROR');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await postAs(other, post, {})).status).toBe(400);
    },
  );

  test('is off by default: no answer has its headers (decision 15)', async () => {
    const { headers } = await postAs(await Hauler.create(), ACCOUNT, {});
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
  });

  test('doctor names the checks that EXCHANGE_LOG rules out, and does not end with 1 for them for ever', async () => {
    const { checked } = await read<{ checked: readonly (Plain & { readonly ok: boolean })[] }>('/attention', service);
    const unknown = checked.filter(({ ok }) => !ok);
    expect(unknown.map((each) => [each['kind'], each['bySetting']]).toSorted()).toEqual([
      ['failing-calls', true],
      ['lost-exchanges', true],
      ['refused-keys', true],
      ['refused-pushes', true],
    ]);
    const { code, out } = await doctor(service);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\? {6}refused-keys {2}not known: .*EXCHANGE_LOG/m)]);
  });

  test('a body of 1,000 bytes is read, and one of 1,001 is 413 (decision 9)', async () => {
    const hauler = await Hauler.create({ service });
    const body = JSON.stringify(ACCOUNT.body());
    expect((await postAs(hauler, ACCOUNT, body.padEnd(1_000))).status).toBe(200);
    expectError(await postAs(hauler, ACCOUNT, body.padEnd(1_001)), 413);
  });
});

/** Few connections to the database, whose answers can be changed. */
let service: OwnService;
let proxy: TcpProxy;
beforeAll(async () => {
  const url = new URL((await ownDatabase()).url);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  service = await startOwnService({ databaseUrl: url.href, env: { DATABASE_POOL: '2' } });
});

describe('an error that the service does not expect', () => {
  afterEach(() => proxy.pass());

  test.each(POSTS)(
    'at POST $path is 500 with a fixed message and the id of the incident, is logged, and is not kept (section 4.1 500; section 7 500 all, codes of Scale; decisions 12, 13, 16)',
    async (post) => {
      const hauler = await Hauler.create({ service, sites: ONE_SITE });
      await hauler.key();
      const [body, key] = [post.body(), { 'Idempotency-Key': unique('broken').replace(' ', '-') }];
      // The database then refuses a statement of the service.
      proxy.replace('INSERT INTO', 'INSERT INTA');
      const refused = await postAs(hauler, post, body, key);
      expectError(refused, 500, 'INTERNAL_ERROR');
      const requestId = refused.headers.get('x-request-id');
      expect(refused.body.error.details).toEqual({ requestId });
      expect(refused.text).not.toMatch(/syntax|INTA/);
      await eventually(() => expect(service.output()).toContain(requestId));
      expect(service.output()).toContain('INTA');
      proxy.pass();
      expect(await countOf(hauler, post)).toBe(0);
      const again = await postAs(hauler, post, body, key);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    },
  );
});

describe('with DATABASE_POOL=2', () => {
  let hauler: Hauler;
  beforeAll(async () => {
    hauler = await Hauler.create({ service, sites: ONE_SITE });
  });

  test('bad pushes at once neither delay nor refuse the good ones (decision 67)', async () => {
    await hauler.push({ inboundFlow: flow('A', 1) });
    await hauler.push({ outboundFlow: flow('X', 1) });
    const bad: Plain[] = [
      { siteId: '00000000-0000-4000-8000-000000000000' },
      { inboundFlow: flow('A', 2), outboundFlow: flow('X', 2) },
      { inboundFlow: flow('A', 3) },
    ];
    const good = Array.from({ length: 40 }, (_, i) => ({ inboundFlow: flow(`G${i}`) }));
    const statuses = await Promise.all(
      good.flatMap((one, i) => [one, bad[i % 3] as Plain]).map(async (one) => (await hauler.push(one)).status),
    );
    expect(statuses.filter((_, i) => i % 2 === 0)).toEqual(good.map(() => 200));
    expect(new Set(statuses)).toEqual(new Set([200, 422]));
  });

  test('50 accounts at once, each with its Idempotency-Key, are created (decisions 16, 29, 73)', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => postAs(hauler, ACCOUNT, ACCOUNT.body(), { 'Idempotency-Key': `many-${i}` })),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(new Set(replies.map(({ body }) => body['accountNumber'])).size).toBe(50);
  });

  test('ten erasures at once are started, none of which waits for a second connection (decisions 68, 73)', async () => {
    const { connectionId } = await VisionScene.create({ hauler, service: hauler.service });
    const range = { connectionId, truckId: 'TRUCK-7', from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => admin('POST', '/erasures', range, hauler.service)),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  });
});

/** How a caller leaves. A service notices a reset at once, an end only when it answers. */
type Leave = 'destroy' | 'resetAndDestroy';

/** Sends a whole request with a key that the service has to look up, and leaves before the answer. */
async function sendAndLeave(hauler: Hauler, path: string, body: string, leave: Leave): Promise<void> {
  const key = await hauler.key();
  const { hostname, port } = new URL(hauler.service.url);
  const socket = connect(Number(port), hostname);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${hostname}`,
    `PLATFORM-API-KEY: ${key}`,
    'Content-Type: application/json',
  ];
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject).once('close', () => resolve());
    socket.write(`${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`, () =>
      socket[leave](),
    );
  });
}

const LEFT = POSTS.flatMap((post) => [
  { ...post, name: 'that closes its connection', leave: 'destroy' as const, note: '' },
  { ...post, name: 'that resets its connection', leave: 'resetAndDestroy' as const, note: '' },
  { ...post, name: 'that resets it after 9 KB', leave: 'resetAndDestroy' as const, note: 'x'.repeat(9_000) },
]);

test.each(LEFT)(
  'a POST $path of a caller $name shows in the exchange log with its result and id (decision 66)',
  async ({ leave, note, ...post }) => {
    const hauler = await Hauler.create(post.sites === undefined ? {} : { sites: post.sites });
    const body = post.body();
    await sendAndLeave(hauler, post.path, JSON.stringify({ ...body, note }), leave);
    await eventually(async () => expect(await countOf(hauler, post)).toBe(1));
    const [made] = await listed<Plain>(`${post.list}?haulerId=${hauler.id}`);
    const id = String(made?.['id'] ?? made?.['accountId']);
    await eventually(async () => {
      const { data } = await administer<{ data: Plain[] }>('GET', `/exchanges?haulerId=${hauler.id}&direction=inbound`);
      expect(data).toHaveLength(1);
      expect(data[0]).toMatchObject({ result: 'created' });
      const references = data[0]?.['references'] as readonly { readonly value: string }[];
      const { accountName, inboundFlow } = body as { accountName?: string; inboundFlow?: { ticketNumber: string } };
      const names = [id, accountName ?? inboundFlow?.ticketNumber];
      expect(references.map(({ value }) => value)).toEqual(expect.arrayContaining(names));
    });
  },
);
