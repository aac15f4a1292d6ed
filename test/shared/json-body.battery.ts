import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { TestApp } from '../support/app.js';
import type { Reply } from '../support/http.js';
import { rawRequest } from '../support/raw-request.js';
import { callerOf, type Caller, type ErrorAnswer, type PostEndpoint, pathsOf } from './post-endpoint.js';

const LONE = '\\ud800';
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

/** The answers of an endpoint to bodies that it cannot read (decisions 3 to 5, 8 to 11, 14). */
export function describeJsonBody(endpoint: PostEndpoint, service: () => TestApp): void {
  const { api, path } = endpoint;
  let partner: Caller;
  const text = (more: Record<string, unknown> = {}) => JSON.stringify({ ...endpoint.body(), ...more });
  /** The JSON of a good body with raw text put in before its last brace. */
  const withRaw = (raw: string) => text().replace(/\}$/, `,${raw}}`);

  function expectError(reply: Reply<ErrorAnswer>, status: number, code = 'INVALID_PAYLOAD'): void {
    expect([reply.status, reply.body.error?.code]).toEqual([status, code]);
    expect(Object.keys(reply.body)).toEqual(['success', 'error']);
    expect(reply.body.success).toBe(false);
    expect(Object.keys(reply.body.error).filter((name) => name !== 'details')).toEqual(['code', 'message']);
    expect(reply.body.error.message).not.toBe('');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.headers.get('x-request-id')).toMatch(/^[\x21-\x7e]{1,128}$/);
    for (const violation of reply.body.error.details?.violations ?? []) {
      expect(Object.keys(violation).sort()).toEqual(['message', 'path', 'rule']);
      expect(violation.message).not.toBe('');
    }
    expect(reply.text).not.toMatch(/\bat .*\.[jt]s|node_modules|SELECT|INSERT/);
  }

  describe(`the body of POST ${path}`, () => {
    beforeAll(async () => {
      partner = await callerOf(endpoint, service());
    });

    test.each([
      ['nothing', ''],
      ['blanks', ' \n\t'],
      ['half an object', '{"a":'],
      ['a missing brace', '{"a":1'],
      ['more after the end', '{"a":1}}'],
      ['two values', '{} {}'],
      ['single quotes', "{'a':1}"],
      ['a trailing comma', '{"a":1,}'],
      ['a comment', '{/* */}'],
      ['NaN', '{"a":NaN}'],
      ['a leading zero', '{"a":01}'],
      ['a raw line break in a text', '{"a":"b\nc"}'],
      ['a raw U+0000', '{"a":"b\u0000c"}'],
      ['a bad escape', '{"a":"\\x41"}'],
    ])('malformed, %s: 400', async (_what, body) => expectError(await partner.post(body), 400));

    test('malformed: the message quotes nothing of it', async () => {
      const reply = await partner.post('{\n  "secret-name": "secret-value",\n}');
      expectError(reply, 400);
      const { message, details } = reply.body.error;
      expect(message).toMatch(/^the body must be valid JSON/);
      expect(details).toEqual({ violations: [{ path: '', rule: 'isJson', message }] });
      expect(reply.text).not.toContain('secret');
    });

    test.each(['', ' \n\t'])('%j is reported as empty, compressed or not', async (body) => {
      for (const reply of [
        await partner.post(body),
        await partner.post(gzipSync(body), { 'Content-Encoding': 'gzip' }),
      ]) {
        expectError(reply, 400);
        expect(reply.body.error.message).toBe('the body must be a JSON object, it is empty');
      }
    });

    test('truncated at any place: 400', async () => {
      const whole = text();
      for (const part of [1, 2, whole.length >> 1, whole.length - 1])
        expectError(await partner.post(whole.slice(0, part)), 400);
    });

    test.each(['null', '[]', '[{}]', '"text"', '1', 'true'])('%s is no object: 400', async (body) =>
      expectError(await partner.post(body), 400),
    );

    test.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/vnd.api+json',
      'text/json',
      'json',
      'application/json; charset=iso-8859-1',
      'application/json; charset=utf-16',
      'application/json; charset=utf-88',
      '*/*',
    ])('Content-Type %s: 415', async (type) => expectError(await partner.post(text(), { 'Content-Type': type }), 415));

    test('without Content-Type: 415', async () => {
      const reply = await rawRequest(service().url + path, 'POST', [api.keyHeader, partner.key], text());
      expect(reply.status).toBe(415);
      expect(JSON.parse(reply.text)).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
    });

    test.each([
      'application/json',
      'Application/JSON',
      'application/json;charset=UTF-8',
      'application/json ; x-charset=latin1; charset=utf8',
      'application/json; charset="utf-8"',
    ])('Content-Type %s is read', async (type) =>
      expect((await partner.post(text(), { 'Content-Type': type })).status).toBe(200),
    );

    test('gzip is read; an unknown coding is 415, a broken one 400', async () => {
      const gzip = { 'Content-Encoding': 'gzip' };
      expect((await partner.post(gzipSync(text()), gzip)).status).toBe(200);
      expectError(await partner.post(gzipSync(text()), { 'Content-Encoding': 'zip' }), 415);
      for (const broken of [gzipSync(text()).subarray(0, 20), text()]) {
        const reply = await partner.post(broken, gzip);
        expectError(reply, 400);
        expect(reply.body).toMatchObject({ error: { details: { violations: [{ path: '', rule: 'isReadable' }] } } });
      }
    });

    test('at the limit it is read, beyond it is 413, packed or not', async () => {
      const limit = service().env.HTTP_BODY_LIMIT;
      const fill = (size: number) => text().padEnd(size, ' ');
      expect((await partner.post(fill(limit))).status).toBe(200);
      const gzip = { 'Content-Encoding': 'gzip' };
      for (const reply of [
        await partner.post(fill(limit + 1)),
        await partner.post(gzipSync(fill(limit + 1)), gzip),
        await partner.post(gzipSync(fill(50 * limit)), gzip),
      ]) {
        expectError(reply, 413);
        expect(reply.body.error.message).toBe(`the body must not be larger than ${limit} bytes`);
      }
    });

    test.each([
      ['Latin-1', Buffer.from('{"x":"caf\u00e9"}', 'latin1')],
      ['UTF-16', Buffer.from('\ufeff{"x":"y"}', 'utf16le')],
      ['an overlong form', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
      ['half a character', Buffer.from([0x7b, 0x22, 0xf0, 0x9f, 0x22, 0x3a, 0x31, 0x7d])],
      ['an encoded surrogate', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
    ])('bytes that are not UTF-8, %s: 400', async (_what, bytes) => expectError(await partner.post(bytes), 400));

    test('a byte order mark is passed over', async () =>
      expect((await partner.post(`\ufeff${text()}`)).status).toBe(200));

    test.each([
      ['in a field that nobody knows', '"x":"a\\u0000b"', 'x'],
      ['at any depth', '"x":{"y":[1,{"z":"\\u0000"}]}', 'x.y[1].z'],
      ['in the name of a field', '"x\\u0000":1', undefined],
      ['in a name at any depth', '"x":[{"\\u0000":1}]', undefined],
    ])('U+0000 %s: 400 with its path', async (_what, raw, at) => {
      for (const body of [
        withRaw(raw),
        withRaw(raw.replace('\\u0000', LONE)),
        withRaw(raw.replace('\\u0000', '\\udfff')),
      ]) {
        const reply = await partner.post(body);
        expectError(reply, 400);
        if (at !== undefined) expect(pathsOf(reply)).toEqual([at]);
      }
    });

    test.each([
      [100, 'and 97 more', []],
      [150, 'and 98 more', ['maxFaults']],
    ])('%i faults of text: 100 are reported, and whether there are more', async (count, end, last) => {
      const reply = await partner.post(withRaw(`"x":[${'"\\u0000",'.repeat(count)}1]`));
      expectError(reply, 400);
      expect(reply.body.error.message).toMatch(new RegExp(`^x\\[0\\] .*; x\\[1\\] .*; x\\[2\\] .*; ${end}$`));
      const rules = reply.body.error.details?.violations?.map(({ rule }) => rule) ?? [];
      expect(rules).toEqual([...Array<string>(100).fill('isText'), ...last]);
    });

    test('faults of text do not hide those of the fields', async () => {
      const reply = await partner.post('["\\u0000"]');
      expectError(reply, 400);
      const violations = reply.body.error.details?.violations ?? [];
      expect(violations.map(({ path, rule }) => [path, rule])).toEqual([
        ['[0]', 'isText'],
        ['', 'isObject'],
      ]);
    });

    test('many faults behind long names: the answer is no larger than some 100 KB', async () => {
      const name = JSON.stringify('\u0001'.repeat(512));
      const reply = await partner.post(
        withRaw(`"x":${`{${name}:`.repeat(29)}[${'"\\u0000",'.repeat(200)}1]${'}'.repeat(29)}`),
      );
      expectError(reply, 400);
      expect(reply.text.length).toBeLessThan(100_000);
      expect(reply.body.error.message.length).toBeLessThan(10_000);
    });

    test('an escaped pair of surrogates is one character', async () =>
      expect((await partner.post(withRaw('"x":"\\ud83d\\ude00"'))).status).toBe(200));

    test('nesting of 32 is read, of 33 is 400, of 100,000 too', async () => {
      expect((await partner.post(text({ x: nested(31) }))).status).toBe(200);
      expectError(await partner.post(text({ x: nested(32) })), 400);
      expectError(await partner.post(withRaw(`"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`)), 400);
      expectError(await partner.post('{"x":'.repeat(50_000) + '1' + '}'.repeat(50_000)), 400);
    });

    test.each([
      '"__proto__":{"polluted":true}',
      '"constructor":{"prototype":{"polluted":true}}',
      '"toString":1',
      '"x":1e309',
    ])('a field that nobody knows is ignored: %s', async (raw) => {
      const reply = await partner.post<unknown>(withRaw(raw));
      expect(reply.status).toBe(200);
      expect(reply.text).not.toContain('polluted');
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    });

    test('unknown query parameters are ignored', async () => {
      const reply = await service().call('POST', `${path}?x=1&x=2&y[z]=3`, {
        headers: { [api.keyHeader]: partner.key },
        body: text(),
      });
      expect(reply.status).toBe(200);
    });

    test("a caller's request id is echoed, on errors too", async () => {
      for (const body of [text(), '{']) {
        const { headers } = await partner.post(body, { 'X-Request-Id': 'battery-42' });
        expect(headers.get('x-request-id')).toBe('battery-42');
      }
    });

    test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      '%s: 405 with Allow, with and without a key',
      async (method) => {
        for (const headers of [{}, { [api.keyHeader]: partner.key }]) {
          const reply = await service().call<ErrorAnswer>(method, path, { headers });
          expectError(reply, 405);
          expect(reply.headers.get('allow')).toBe('POST');
        }
      },
    );

    test('a path below or beside it: 404', async () => {
      for (const other of [`${path}/1`, `${path}x`]) {
        const reply = await service().call<ErrorAnswer>('POST', other, {
          headers: { [api.keyHeader]: partner.key },
          body: text(),
        });
        expectError(reply, 404, 'NOT_FOUND');
      }
    });

    test('a body that breaks off harms nobody else', async () => {
      await breakOff(service().url, path, [`${api.keyHeader}: ${partner.key}`]);
      expect((await partner.post(text())).status).toBe(200);
    });
  });
}

/** Announces more than it sends, and hangs up. */
function breakOff(url: string, path: string, headers: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    'Content-Length: 1000',
    ...headers,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n{"x":1`));
    socket.once('error', reject).once('close', () => resolve());
    setTimeout(() => socket.destroy(), 100);
  });
}
