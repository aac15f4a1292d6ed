import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { rawRequest } from '../../support/raw-request.js';
import { html, raw } from '../../support/scripted-partner.js';
import { SlowClient } from '../../support/slow-client.js';
import { flow, Hauler, ONE_SITE, PARTNER_KEY, SITES_ROUTE, TICKET } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, administer, call, target } from '../support/target.js';

const TICKETS = '/platform-api/v1/tickets';
const SMUGGLED = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

/** Each form makes a proxy and a server see the end of the request at different places. */
describe('a request whose end is ambiguous is refused, and what follows it is not answered (decision 10)', () => {
  test.each([
    ['Content-Length beside chunked', ['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunked beside Content-Length', ['Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 45'], ''],
    ['two lengths in one line', ['Content-Length: 0, 45'], ''],
    ['a length with a sign', ['Content-Length: +0'], ''],
    ['a length that is no number', ['Content-Length: 0x0'], ''],
    ['a blank before the colon', ['Transfer-Encoding : chunked'], '0\r\n\r\n'],
    ['a coding after chunked', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ['a folded header', ['X-Note: a', ' Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['a size of a chunk that is no number', ['Transfer-Encoding: chunked'], 'zz\r\n\r\n'],
  ])('%s', async (_what, headers, body) => {
    const head = ['POST /platform-api/v1/tickets HTTP/1.1', 'Host: x', ...headers, '', ''].join('\r\n');
    const client = await SlowClient.open(target.url);
    client.send(head + body + SMUGGLED);
    await client.cutAfter;
    expect(client.answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(client.answer.split('HTTP/1.1 ')).toHaveLength(2);
    expect(client.answer).not.toContain('"status":"ok"');
  });
});

/** Sends bytes that no HTTP client would send; returns the statuses and the text of what comes back. */
async function answersTo(bytes: string): Promise<{ statuses: number[]; answer: string }> {
  const client = await SlowClient.open(target.url);
  client.send(bytes);
  await client.cutAfter;
  const statuses = [...client.answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  return { statuses, answer: client.answer };
}

describe('bytes that are no good request', () => {
  const live = (headers: string, version = '1.1') => `GET /health/live HTTP/${version}\r\n${headers}\r\n`;
  const NO_HOST = 'a request of HTTP/1.1 must have a Host header';

  test.each<[string, string, number, string]>([
    ['what is no HTTP', '\x00\x01garbage\r\n\r\n', 400, '"success":false'],
    ['no Host header', live(''), 400, NO_HOST],
    ['no Host header by HTTP/1.0', live('', '1.0'), 200, '"status":"ok"'],
    ['two Host headers', live('Host: x\r\nhost: y\r\n'), 400, 'a request must have one Host header'],
    ['headers beyond 16 KiB', live(`Host: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n`), 431, '"code":"INVALID_PAYLOAD"'],
    ['1,001 header lines', live(`Host: x\r\n${'a:1\r\n'.repeat(1_000)}`), 431, 'at most 1,000 lines and 16 KiB'],
    ['an unknown Expect', live('Host: x\r\nExpect: foo\r\nConnection: close\r\n'), 200, '"status":"ok"'],
  ])('are answered in the common body: %s (decision 10)', async (_what, bytes, status, words) => {
    const { statuses, answer } = await answersTo(bytes);
    expect([statuses, answer]).toEqual([[status], expect.stringMatching(/^X-Request-Id: /im)]);
    expect(answer).toContain(words);
  });

  test('behind a stored push do not hide its answer, and are answered once (decision 10)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const body = JSON.stringify(TICKET);
    const head = `POST ${TICKETS} HTTP/1.1\r\nHost: x\r\nPLATFORM-API-KEY: ${await hauler.key()}\r\nContent-Type: application/json`;
    const { statuses, answer } = await answersTo(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}}`);
    expect(statuses).toEqual([200, 400]);
    expect(answer).toContain('"disposalTicketId"');
  });
});

describe('a hostile caller', () => {
  let hauler: Hauler;
  let key: string;
  beforeAll(async () => {
    hauler = await Hauler.create({ sites: ONE_SITE });
    key = await hauler.key();
  });

  const push = (body: unknown, headers: Record<string, string> = {}) =>
    call<{ disposalTicketId: string }>('POST', TICKETS, { headers: { 'PLATFORM-API-KEY': key, ...headers }, body });

  test.each(['TRACE', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])(
    '%s is 405, and no other origin may read (decision 10)',
    async (method) => {
      const reply = await rawRequest(target.url + TICKETS, method, ['Origin', 'https://evil.example']);
      expect(reply.status).toBe(405);
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  test.each(['/', '/platform-api/v1/', '/media/v1/recordings/', '/docs/', '/console/'])(
    'no text of a path becomes a header: %s',
    async (folder) => {
      const { headers } = await call('GET', `${folder}a%0d%0aSet-Cookie:%20x=1`);
      expect(headers.get('set-cookie')).toBeNull();
    },
  );

  test.each(['..%2f..%2fetc%2fpasswd', '%2e%2e', '....//', 'x%00.mp4', '%5c..%5cwindows'])(
    'no id leads outside of the storage: %s',
    async (id) => {
      const paths = [`/recordings/${id}/content`, `/recordings/${id}`, `/hosted/recordings/${id}`];
      const replies = await Promise.all(paths.map((path) => admin('GET', path)));
      expect(replies.filter(({ status }) => ![400, 404].includes(status))).toEqual([]);
    },
  );

  test('fields that a caller must not set are ignored (decision 4)', async () => {
    const other = await Hauler.create();
    const stolen = { haulerId: other.id, id: other.id, createdAt: '2000-01-01T00:00:00Z', disposalTicketId: other.id };
    const { body, status } = await push({ ...TICKET, ...stolen, inboundFlow: flow('mass') });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['disposalTicketId', 'success']);
    const stored = await administer<{ haulerId: string; createdAt: string }>(
      'GET',
      `/tickets/${body.disposalTicketId}`,
    );
    expect(stored.haulerId).toBe(hauler.id);
    expect(stored.createdAt > '2001').toBe(true);
    const made = await hauler.createAccount({
      accountName: 'Mass',
      accountNumber: 'A-1',
      accountId: other.id,
      ...stolen,
    });
    expect(JSON.stringify(made.body)).not.toContain(other.id);
    expect(made.body['accountNumber']).not.toBe('A-1');
  });

  test('a thousand unknown parameters are ignored, and hide no wrong one (decisions 4, 43)', async () => {
    const statuses = ['page=1', 'page=0'].map((last) => admin('GET', `/haulers?${'x&'.repeat(1_000)}${last}`));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 400]);
  });

  test('names of prototypes are plain data (decision 4)', async () => {
    const fields = '"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},"customFields":{"__proto__":"kept"}';
    const { status, body } = await push(JSON.stringify(TICKET).replace(/\}$/, `,${fields}}`));
    expect(status).toBe(200);
    const stored = await administer<{ customFields: object }>('GET', `/tickets/${body.disposalTicketId}`);
    expect(Object.entries(stored.customFields)).toEqual([['__proto__', 'kept']]);
  });

  test.each<[string, string | Uint8Array, Record<string, string>, number]>([
    ['64 MiB in a small gzip', gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), { 'Content-Encoding': 'gzip' }, 413],
    ['100,000 levels', '['.repeat(100_000), {}, 400],
    ['a number of 500,000 digits', JSON.stringify(TICKET).replace(/\}$/, `,"x":1${'0'.repeat(500_000)}}`), {}, 200],
    ['names that are alike', `{${Array.from({ length: 20_000 }, (_, n) => `"n${n}":0`).join()}}`, {}, 400],
  ])('is answered within 5 s: %s (decisions 8, 9)', async (_what, body, headers, status) => {
    const started = performance.now();
    expect((await push(body, { 'Content-Type': 'application/json', ...headers })).status).toBe(status);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test.each([
    ['digits', '0'.repeat(100_000)],
    ['brackets', `+${' ('.repeat(50_000)}`],
    ['at signs', `${'a@'.repeat(40_000)}.`],
    ['dots', `${'a.'.repeat(50_000)}@x`],
  ])('no text takes the patterns of a contact or an address longer than 5 s: %s', async (_what, text) => {
    const started = performance.now();
    const more = { primaryContact: { phone: text, email: text }, billingAddress: { zip: text } };
    expect((await hauler.createAccount({ accountName: 'x', ...more })).status).toBe(400);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

/** Texts that would be a line of their own, or colour a terminal, if a log wrote them unchanged. */
const FORGED = '\n{"level":60,"msg":"forged"}\r\n\u001b[31mforged\u2028\u0085\u009b31m';

describe('the log of a service at its most verbose level', () => {
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService({ env: { LOG_LEVEL: 'trace' } });
    const hauler = await Hauler.create({ service });
    await callersThatForge(await hauler.key());
    await partnersThatForge(hauler);
    expect(await service.end()).toBe(0);
  });

  async function callersThatForge(key: string): Promise<void> {
    const path = encodeURIComponent(FORGED);
    const headers = { 'PLATFORM-API-KEY': key, 'User-Agent': 'forged\tagent', 'X-Request-Id': 'a"},{"level":60' };
    for (const url of [`/${path}`, `${TICKETS}?x=${path}`, `/admin/v1/tickets/${path}`, `/docs/${path}`])
      await call('GET', url, { headers }, service);
    await call('POST', '/platform-api/v1/accounts', { headers, body: { accountName: FORGED } }, service);
    await call('POST', TICKETS, { headers, body: { siteId: FORGED, [FORGED]: FORGED } }, service);
  }

  async function partnersThatForge(hauler: Hauler): Promise<void> {
    const { partner } = await hauler.siteConnection();
    const message = `${FORGED} Unknown key ${PARTNER_KEY}`;
    const error = JSON.stringify({ success: false, error: { code: 'UNAUTHORIZED', message } });
    const record = { id: 'no uuid', name: message };
    for (const reply of [
      raw(error, { status: 401 }),
      raw(error, { status: 500 }),
      html(500),
      raw(`{"x":"${message}`),
      raw(JSON.stringify({ success: true, data: { sites: [record], kiosks: [], materials: [] } })),
    ]) {
      partner.on(SITES_ROUTE, reply);
      await hauler.sync();
    }
  }

  test('has no line, and no control character, of a caller or a partner (decision 59)', async () => {
    const lines = await eventually(() => {
      const all = service
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'));
      expect(all.length).toBeGreaterThan(15);
      return all;
    });
    const parsed = lines.map((line) => JSON.parse(line) as { level: number; msg?: string });
    expect(parsed.filter(({ level, msg }) => level === 60 || msg === 'forged')).toEqual([]);
    // It was logged as escaped text.
    expect(service.output()).toContain('forged');
    expect(lines.filter((line) => /[\p{Cc}\u2028\u2029]/u.test(line))).toEqual([]);
    expect(service.output()).not.toContain(PARTNER_KEY);
  });
});
