import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Application } from 'express';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createKey } from '../../src/auth/api-key.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import type { Reply } from '../support/http.js';
import type { OpenApiDocument } from '../support/openapi-arbitrary.js';
import { rawRequest } from '../support/raw-request.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/reference-vision.js';
import { ScaleHouse } from '../support/scale-house.js';

/** The OWASP API Security Top 10 (2023). Its tenth is in `partner-answers.spec.ts`; `timing.spec.ts` measures the times of its second. */
let service: TestApp;
let own: ScaleHouse;
let other: ScaleHouse;
let visionKey: string;
beforeAll(async () => {
  service = await startTestApp();
  own = await ScaleHouse.open(service);
  other = await ScaleHouse.open(service);
  visionKey = (await issueKey(service, ['vision'])).key;
  expect((await upload(service, 0)).status).toBe(201);
});
afterAll(() => service.close());

const account = (key: string, body: unknown) =>
  service.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key }, body });
const videos = (key: string, query: string) =>
  service.call<{ data: Record<string, unknown[]> }>('GET', `/video-platform/v1/videos${query}`, {
    headers: { 'API-KEY': key },
  });
const flow = (ticketNumber: string) => ({ ticketNumber, updatedAt: '2026-01-31T08:30:00Z' });

describe('API1 broken object level authorization', () => {
  test("another hauler's flow, site and material do not exist", async () => {
    const mine = await own.push(own.ticket({ inboundFlow: flow('same') }));
    const theirs = await other.push(other.ticket({ inboundFlow: flow('same') }));
    expect(theirs.headers.get('ticket-result')).toBe('created');
    expect(theirs.body.disposalTicketId).not.toBe(mine.body.disposalTicketId);
    const foreign = await other.push(own.ticket());
    const unknown = await other.push(
      own.ticket({ siteId: randomUUID(), materials: [own.material({ id: randomUUID() })] }),
    );
    expect([foreign.status, foreign.body.error?.message]).toEqual([422, unknown.body.error?.message]);
  });

  test("another hauler's account names and idempotency keys are free", async () => {
    const keys = await Promise.all([own, other].map(({ haulerId }) => issueKey(service, ['account'], { haulerId })));
    for (const { key } of keys) expect((await account(key, { accountName: 'Same Name' })).status).toBe(200);
    const headers = { 'Idempotency-Key': 'the-same' };
    const [mine, theirs] = [await own.push(own.ticket(), headers), await other.push(other.ticket(), headers)];
    expect(theirs.headers.get('idempotency-replayed')).toBeNull();
    expect(theirs.body.disposalTicketId).not.toBe(mine.body.disposalTicketId);
  });

  test('a key of one customer finds nothing of another, and the response does not show whether it exists', async () => {
    const { key } = await issueKey(service, ['vision'], { customerId: 'someone else' });
    const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) };
    const asked = await service.call<{ requestId: string }>('POST', '/video-platform/v1/videos/requests', {
      headers: { 'API-KEY': visionKey },
      body,
    });
    const foreign = await videos(key, `?customerId=${CUSTOMER}&requestId=${asked.body.requestId}`);
    const unknown = await videos(visionKey, '?customerId=nobody');
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  });
});

/** Without the fields that differ in every response. */
const shapeOf = ({ status, headers, text }: Reply<unknown>) => ({
  status,
  text,
  headers: [...headers.keys()].filter((name) => name !== 'date').sort(),
});

describe('API2 broken authentication', () => {
  test('the response is the same for every kind of invalid key', async () => {
    const revoked = await issueKey(service, ['account']);
    await service.admin('DELETE', `/api-keys/${revoked.id}`);
    const expired = await issueKey(service, ['account']);
    await service.dataSource.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
    const wrong = ['', 'x', createKey().key, revoked.key, expired.key, visionKey, own.key, service.env.ADMIN_TOKEN];
    const answers = await Promise.all(wrong.map((key) => account(key, { accountName: 'x' })));
    expect(new Set(answers.map((answer) => JSON.stringify(shapeOf(answer)))).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
  });

  test('a key in the wrong header, in the query or as a bearer opens nothing', async () => {
    const path = `/video-platform/v1/videos?customerId=${CUSTOMER}`;
    const elsewhere: Record<string, string>[] = [
      { 'PLATFORM-API-KEY': visionKey },
      { Authorization: `Bearer ${visionKey}` },
      {},
    ];
    for (const headers of elsewhere)
      expect((await service.call('GET', `${path}&API-KEY=${visionKey}&api_key=${visionKey}`, { headers })).status).toBe(
        401,
      );
  });
});

describe('API3 broken object property level authorization', () => {
  test('a field that a caller must not set is ignored, and not returned', async () => {
    const stolen = { haulerId: other.haulerId, id: randomUUID(), createdAt: '2000-01-01T00:00:00Z', revision: 99 };
    const pushed = await own.push(own.ticket({ ...stolen, disposalTicketId: stolen.id, inboundFlow: flow('mass') }));
    expect(Object.keys(pushed.body).sort()).toEqual(['disposalTicketId', 'success']);
    const stored = await own.stored(pushed.body.disposalTicketId);
    expect(stored).toMatchObject({ haulerId: own.haulerId });
    expect(stored.id).not.toBe(stolen.id);
    expect(stored.createdAt > '2001').toBe(true);
    const { key } = await issueKey(service, ['account'], { haulerId: own.haulerId });
    const body = { accountName: 'Mass', accountId: stolen.id, accountNumber: 'A-1', ...stolen };
    const made = await account(key, { ...body, billingAddress: { city: 'x', addressId: stolen.id } });
    expect(made.text).not.toContain(stolen.id);
    expect(made.body).not.toHaveProperty('haulerId');
    expect(made.body['accountNumber']).not.toBe('A-1');
  });

  test('prototype names are plain data', async () => {
    const body = `{"siteId":"${own.siteId}","materials":[${JSON.stringify(own.material())}],
      "__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"customFields":{"__proto__":"kept"}}`;
    const { status, body: reply } = await own.push(body);
    expect(status).toBe(200);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
    expect(Object.entries((await own.stored(reply.disposalTicketId)).customFields ?? {})).toEqual([
      ['__proto__', 'kept'],
    ]);
  });
});

describe('API4 unrestricted resource consumption', () => {
  test.each<[string, (house: ScaleHouse) => unknown, Record<string, string>, number]>([
    ['a body over the limit', () => ' '.repeat(1_048_577), {}, 413],
    ['a gzip bomb', () => gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)), { 'Content-Encoding': 'gzip' }, 413],
    ['100,000 levels of nesting', () => '['.repeat(100_000), {}, 400],
    ['1,001 materials', (house) => house.ticket({ materials: Array(1_001).fill(house.material()) }), {}, 400],
    [
      'a number of a million digits',
      (house) => JSON.stringify(house.ticket({ x: 0 })).replace('"x":0', `"x":1${'0'.repeat(1_000_000)}`),
      {},
      200,
    ],
  ])('%s', async (_what, body, headers, status) => {
    const started = performance.now();
    expect((await own.push(body(own), { 'Content-Type': 'application/json', ...headers })).status).toBe(status);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('no regular expression blocks the event loop', async () => {
    const { key } = await issueKey(service, ['account']);
    const evil = [
      '0'.repeat(100_000),
      `+${' ('.repeat(50_000)}`,
      `${'a@'.repeat(40_000)}.`,
      `${'a.'.repeat(50_000)}@x`,
    ];
    for (const text of evil) {
      const primaryContact = { phone: text, email: text };
      const started = performance.now();
      expect((await account(key, { accountName: 'x', primaryContact, billingAddress: { zip: text } })).status).toBe(
        400,
      );
      expect(performance.now() - started).toBeLessThan(1_000);
    }
  });

  test('pages, clips and requests of one key are limited', async () => {
    expect((await videos(visionKey, `?customerId=${CUSTOMER}&pageSize=101`)).status).toBe(400);
    const limited = await startTestApp({ on: service, env: { RATE_LIMIT_PER_MINUTE: 5 } });
    try {
      const statuses = [];
      for (let i = 0; i < 7; i++) statuses.push((await own.push({}, {}, limited)).status);
      expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429]);
    } finally {
      await limited.close();
    }
  });
});

describe('API5 broken function level authorization', () => {
  test('every admin operation, and the metrics, need the admin token', async () => {
    const { body } = await service.call<OpenApiDocument>('GET', '/docs/admin.json');
    const operations = Object.entries(body.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => [method.toUpperCase(), path.replace(/\{[^}]+\}/g, randomUUID())] as const),
    );
    expect(operations.length).toBeGreaterThan(20);
    for (const [method, path] of [...operations, ['GET', '/metrics'] as const]) {
      for (const token of [undefined, 'x', own.key, visionKey, `${service.env.ADMIN_TOKEN}x`]) {
        const headers: Record<string, string> =
          token === undefined ? {} : { Authorization: `Bearer ${token}`, 'API-KEY': token };
        const { status } = await service.call(method, path, { headers });
        // 429 is the limit of wrong tokens.
        const isRefused = status === 401 || (status === 429 && token !== undefined);
        expect([method, path, status, isRefused]).toEqual([method, path, status, true]);
      }
    }
  });
});

describe('API6 unrestricted access to sensitive business flows', () => {
  test('a repeated request is not carried out twice, and none is longer than allowed', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const replies = await Promise.all(Array.from({ length: 20 }, () => own.push(own.ticket(), headers)));
    expect(new Set(replies.map(({ body }) => body.disposalTicketId)).size).toBe(1);
    const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(61) };
    const asked = await service.call('POST', '/video-platform/v1/videos/requests', {
      headers: { 'API-KEY': visionKey },
      body,
    });
    expect(asked.status).toBe(400);
  });
});

describe('API7 server side request forgery', () => {
  const connect = (baseUrl: string) =>
    service.admin('POST', '/connections', {
      haulerId: own.haulerId,
      interface: 'site',
      baseUrl,
      apiKey: 'k',
      enabled: false,
    });

  test.each([
    'http://example.com',
    'https://127.0.0.1',
    'https://127.1',
    'https://2130706433',
    'https://0x7f.0.0.1',
    'https://0177.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[fe80::1]',
    'https://[64:ff9b::7f00:1]',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1',
    'https://192.168.1.1',
    'https://0.0.0.0',
    'https://localhost',
    'https://LOCALHOST.',
    'https://user:password@example.com',
    'file:///etc/passwd',
    'gopher://example.com',
    'https://',
    'https://exa mple.com',
  ])('no connection to %s', async (baseUrl) => {
    const { status, text } = await connect(baseUrl);
    expect(status).toBe(400);
    expect(text).toContain('baseUrl');
  });

  test('a name that resolves to a private address after it was saved is not called', async () => {
    const reached: string[] = [];
    const inner = createServer((socket) => {
      reached.push('called');
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(inner, 'listening');
    try {
      const { status, body } = await connect('https://partner.invalid');
      expect(status).toBe(201);
      // A name server that rebinds does the same: the name stays, its address changes.
      const { port } = inner.address() as AddressInfo;
      await service.dataSource.query('UPDATE connections SET base_url = $1 WHERE id = $2', [
        `https://localhost:${port}`,
        body['id'],
      ]);
      const checked = await service.admin('POST', `/connections/${String(body['id'])}/check`);
      expect(checked.body).toMatchObject({ reachable: false, authorized: false, conforms: false });
      expect(reached).toEqual([]);
    } finally {
      inner.close();
    }
  });
});

describe('API8 security misconfiguration', () => {
  test.each(['TRACE', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])(
    '%s is not allowed, and no origin has access',
    async (method) => {
      const reply = await rawRequest(`${service.url}/platform-api/v1/tickets`, method, [
        'Origin',
        'https://evil.example',
      ]);
      expect(reply.status).toBe(405);
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  test('no input is returned as a header', async () => {
    const evil = 'a%0d%0aSet-Cookie:%20x=1';
    for (const path of [`/${evil}`, `/platform-api/v1/${evil}`, `/media/v1/recordings/${evil}.mp4`, `/docs/${evil}`]) {
      const { headers } = await service.call('GET', path);
      expect(headers.get('set-cookie')).toBeNull();
    }
    const split = await rawRequest(service.url, 'GET', ['X-Request-Id', 'a b', 'X-Forwarded-Host', 'evil.example']);
    expect(split.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('two lengths in one request, and other forms of request smuggling, are refused', async () => {
    const url = `${service.url}/platform-api/v1/tickets`;
    const both = await rawRequest(
      url,
      'POST',
      ['Transfer-Encoding', 'chunked', 'Content-Length', '5'],
      undefined,
    ).catch(() => ({ status: 400 }));
    expect(both.status).toBe(400);
  });

  test.each([
    ['another file', (path: string) => path.replace(/recordings\/[^.]+/, `recordings/${randomUUID()}`), 401],
    ['another kind', (path: string) => path.replace('recordings', 'clips'), 401],
    [
      'a later expiry',
      (path: string) => path.replace(/expires=(\d+)/, (_, at: string) => `expires=${Number(at) + 1}`),
      401,
    ],
    ['a shorter signature', (path: string) => path.slice(0, -2), 401],
    ['an empty signature', (path: string) => path.replace(/signature=.*/, 'signature='), 401],
    ['two signatures', (path: string) => `${path}&signature=x`, 401],
    ['no expiry', (path: string) => path.replace(/expires=\d+&/, ''), 401],
    [
      'a path outside of the folder',
      (path: string) => path.replace(/recordings\/[^.]+/, 'recordings/..%2f..%2f..%2fetc%2fpasswd'),
      401,
    ],
    ['no change', (path: string) => path, 200],
  ])('a signed link with %s', async (_what, change, status) => {
    const list = await videos(
      visionKey,
      `/continuous?customerId=${CUSTOMER}&truckId=${TRUCK}&startTime=${at(0)}&endTime=${at(1)}`,
    );
    const [first] = list.body.data['recordings'] as { downloadUrl: string }[];
    const { pathname, search } = new URL(first?.downloadUrl ?? '');
    expect((await rawRequest(service.url + change(pathname + search), 'GET', [])).status).toBe(status);
  });

  test.each(['..%2f..%2fetc%2fpasswd', '%2e%2e', '....//', 'x%00.mp4', '%5c..%5cwindows'])(
    'no path leads outside of the storage: %s',
    async (id) => {
      for (const path of [`/recordings/${id}/content`, `/recordings/${id}`]) {
        const { status } = await service.admin('GET', path);
        expect([400, 404]).toContain(status);
      }
    },
  );
});

test('API9 improper inventory management: every route is documented, or listed as public', async () => {
  const published = new Set<string>();
  for (const name of ['scale', 'account', 'site', 'vision', 'partner', 'admin']) {
    const { body } = await service.call<OpenApiDocument>('GET', `/docs/${name}.json`);
    for (const path of Object.keys(body.paths)) published.add(path.replace(/\{([^}]+)\}/g, ':$1'));
  }
  const express = service.app.getHttpAdapter().getInstance() as unknown as Application;
  const routes = express.router.stack.flatMap(({ route }) => (typeof route?.path === 'string' ? [route.path] : []));
  // The root redirects to the documents. The console has pages, files and its session, which partners do not use. A shared recording
  // is for people without an account.
  const open = /^\/$|^\/(console|docs|health|metrics|media\/v1|shared)(\/|\.|-|$)/;
  expect(routes.filter((path) => !published.has(path) && !open.test(path))).toEqual([]);
  expect(routes.length).toBeGreaterThan(published.size);
});
