import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../../support/raw-request.js';
import { type ErrorBody, Hauler, paths, type Plain } from '../support/hauler.js';
import { expectError, postAs, POSTS } from '../support/posts.js';
import { call } from '../support/target.js';

const MIB = 1_048_576;
const GZIP = { 'Content-Encoding': 'gzip' };
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

describe.each(POSTS)('the body of POST $path', (post) => {
  let hauler: Hauler;
  beforeAll(async () => {
    hauler = await Hauler.create(post.sites === undefined ? {} : { sites: post.sites });
  });

  const send = (body: unknown, headers?: Record<string, string>) => postAs(hauler, post, body, headers);
  const text = (more: Plain = {}) => JSON.stringify({ ...post.body(), ...more });
  /** The JSON of a good body with raw text before its last brace. */
  const withRaw = (raw: string) => text().replace(/\}$/, `,${raw}}`);

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
    ['a line break within a text', '{"a":"b\nc"}'],
    ['a raw U+0000', '{"a":"b\u0000c"}'],
    ['an unknown escape', '{"a":"\\x41"}'],
    ['null', 'null'],
    ['an array', '[{}]'],
    ['a text', '"text"'],
    ['a number', '1'],
  ])('that is %s is 400 (section 7 400 Scale, statuses of Account; decision 10)', async (_what, body) =>
    expectError(await send(body), 400),
  );

  test('that is malformed is quoted nowhere in the answer (section 2.1 error.message; decision 10)', async () => {
    const reply = await send('{\n  "secret-name": "secret-value",\n}');
    expectError(reply, 400);
    const { message, details } = reply.body.error;
    expect(message).toMatch(/^the body must be valid JSON/);
    expect(details).toEqual({ violations: [{ path: '', rule: 'isJson', message }] });
    expect(reply.text).not.toContain('secret');
  });

  test.each([
    ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/jsonp'],
    ...['application/vnd.api+json', 'text/json', 'json', '*/*'],
  ])('with the Content-Type %s is 415 (decision 10)', async (type) =>
    expectError(await send(text(), { 'Content-Type': type }), 415),
  );

  test.each([
    ...['application/json', 'Application/JSON', 'application/json;charset=UTF-8', 'application/json; charset="utf-8"'],
  ])('with the Content-Type %s is read (decision 10)', async (type) =>
    expect((await send(text(), { 'Content-Type': type })).status).toBe(200),
  );

  test.each(['iso-8859-1', 'utf-16', '"utf-8"; profile="x;y"', ''])(
    'with the charset %s is read as UTF-8 (decision 10)',
    async (charset) => {
      const type = `application/json; charset=${charset}`;
      expect((await send(text(), { 'Content-Type': type })).status).toBe(200);
      expectError(await send(Buffer.from(`${text()}\xff`, 'latin1'), { 'Content-Type': type }), 400);
      expectError(await send(Buffer.from(text(), 'utf16le'), { 'Content-Type': type }), 400);
    },
  );

  test('without a Content-Type is 415 (decision 10)', async () => {
    const headers = ['PLATFORM-API-KEY', await hauler.key()];
    const reply = await rawRequest(hauler.service.url + post.path, 'POST', headers, text());
    expect([reply.status, JSON.parse(reply.text)]).toMatchObject([
      415,
      { success: false, error: { code: 'INVALID_PAYLOAD' } },
    ]);
  });

  test('in gzip is read; an unknown coding is 415, a broken one 400 (decision 10)', async () => {
    expect((await send(gzipSync(text()), GZIP)).status).toBe(200);
    for (const coding of ['zip', 'constructor', 'gzip, gzip']) {
      expectError(await send(gzipSync(text()), { 'Content-Encoding': coding }), 415);
    }
    expectError(await send(gzipSync(text()).subarray(0, 20), GZIP), 400);
    expectError(await send(text(), GZIP), 400);
  });

  test('of 1 MiB is read; a byte more is 413, compressed or not (decision 9)', async () => {
    expect((await send(text().padEnd(MIB))).status).toBe(200);
    for (const reply of [
      await send(text().padEnd(MIB + 1)),
      await send(gzipSync(text().padEnd(MIB + 1)), GZIP),
      await send(gzipSync(text().padEnd(50 * MIB)), GZIP),
    ]) {
      expectError(reply, 413);
      expect(reply.body.error.message).toBe(`the body must not be larger than ${MIB} bytes`);
    }
  });

  test.each([
    ['Latin-1', Buffer.from('{"x":"caf\u00e9"}', 'latin1')],
    ['UTF-16', Buffer.from('\ufeff{"x":"y"}', 'utf16le')],
    ['an overlong form', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
    ['half a character', Buffer.from([0x7b, 0x22, 0xf0, 0x9f, 0x22, 0x3a, 0x31, 0x7d])],
    ['an encoded surrogate', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
  ])('in bytes that are no UTF-8, %s, is 400 (decision 8)', async (_what, bytes) =>
    expectError(await send(bytes), 400),
  );

  test.each([
    ['a field that nobody knows', '"x":"a@b"', 'x'],
    ['any depth', '"x":{"y":[1,{"z":"@"}]}', 'x.y[1].z'],
    ['the name of a field', '"x@":1', ''],
    ['a name at any depth', '"x":[{"@":1}]', 'x[0]'],
  ])('with U+0000 or half a surrogate pair in %s is 400 with the path (decision 8)', async (_what, raw, path) => {
    for (const escape of ['\\u0000', '\\ud800', '\\udfff']) {
      const reply = await send(withRaw(raw.replace('@', escape)));
      expectError(reply, 400);
      expect(paths(reply)).toEqual([path]);
    }
  });

  test('with a surrogate pair or a byte order mark is read (decision 8)', async () => {
    expect((await send(withRaw('"x":"\\ud83d\\ude00"'))).status).toBe(200);
    expect((await send(`\ufeff${text()}`)).status).toBe(200);
  });

  test('with many faults is answered with the first hundred, in less than 100 KB (decisions 8, 11)', async () => {
    const many = await send(withRaw(`"x":[${'"\\u0000",'.repeat(150)}1]`));
    expectError(many, 400);
    expect(paths(many)).toEqual([...Array.from({ length: 100 }, (_, i) => `x[${i}]`), '']);
    const name = JSON.stringify('\u0001'.repeat(512));
    const long = await send(withRaw(`"x":${`{${name}:`.repeat(29)}[${'"\\u0000",'.repeat(200)}1]${'}'.repeat(29)}`));
    expectError(long, 400);
    expect(long.text.length).toBeLessThan(100_000);
  });

  test('nested 32 deep is read, deeper is 400 (decision 8)', async () => {
    expect((await send(text({ x: nested(31) }))).status).toBe(200);
    expectError(await send(text({ x: nested(32) })), 400);
    expectError(await send(withRaw(`"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`)), 400);
    expectError(await send(`${'{"x":'.repeat(50_000)}1${'}'.repeat(50_000)}`), 400);
  });

  test.each([
    ...['"__proto__":{"polluted":true}', '"constructor":{"prototype":{"polluted":true}}', '"toString":1', '"x":1e309'],
  ])('with the unknown field %s is read without it (decision 4)', async (raw) => {
    const reply = await send(withRaw(raw));
    expect(reply.status).toBe(200);
    expect(reply.text).not.toContain('polluted');
  });

  test('may have an unknown query beside it (decision 4)', async () => {
    const headers = { 'PLATFORM-API-KEY': await hauler.key() };
    expect((await call('POST', `${post.path}?x=1&x=2&y[z]=3`, { headers, body: text() })).status).toBe(200);
  });

  test('is not looked at where there is no key, no such path or no such method (decision 3)', async () => {
    for (const body of ['{"truncated', '[]', '\u0000', 'x'.repeat(2 * MIB)]) {
      const unknown = { headers: { 'PLATFORM-API-KEY': 'wrong' }, body };
      expectError(await call<ErrorBody>('POST', post.path, unknown), 401, 'UNAUTHORIZED');
      expectError(await call<ErrorBody>('POST', `${post.path}/1`, { body }), 404, 'NOT_FOUND');
      expectError(await call<ErrorBody>('PUT', post.path, { body }), 405);
    }
  });

  test('is read also where there is no key: the next request of the connection is answered (section 5 rule 1)', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const outgoing = request(hauler.service.url + post.path, { method: 'POST', agent }).end(text());
      const [{ statusCode }] = (await once(
        outgoing.on('response', (answer) => answer.resume()),
        'response',
      )) as [IncomingMessage];
      return statusCode;
    };
    try {
      expect([await ask(), await ask(), await ask()]).toEqual([401, 401, 401]);
    } finally {
      agent.destroy();
    }
  });
});

describe('Ignored-Fields', () => {
  let hauler: Hauler;
  beforeAll(async () => {
    hauler = await Hauler.create(POSTS[0]?.sites === undefined ? {} : { sites: POSTS[0].sites });
  });
  const ignored = ({ headers }: { headers: Headers }) => headers.get('ignored-fields')?.split(', ');

  test('names at most ten unknown fields, with the known name that was meant (decision 51)', async () => {
    const [material] = (POSTS[0]?.body() ?? {})['materials'] as Plain[];
    const flow = { ticketNumber: 'N', updatedAt: '2026-01-31T08:30:00Z', upDatedAt: 1 };
    const reply = await hauler.push({
      materials: [material, { ...material, qty: 1, quantitty: 2 }],
      inBoundFlow: {},
      outboundFlow: flow,
      customFields: { anything: 'goes' },
      'größe x': 1,
    });
    expect([reply.status, ignored(reply)]).toEqual([
      200,
      [
        'materials[1].qty',
        'materials[1].quantitty (did you mean quantity?)',
        'inBoundFlow (did you mean inboundFlow?)',
        'outboundFlow.upDatedAt (did you mean updatedAt?)',
        '["gr%C3%B6%C3%9Fe%20x"]',
      ],
    ]);
    const many = await hauler.push(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`unknown${i}`, 1])));
    expect([many.status, ignored(many)?.filter((name) => name.startsWith('unknown')).length]).toEqual([200, 10]);
  });

  test('is sent with an account too, and not where nothing was ignored (decision 51)', async () => {
    expect(ignored(await hauler.createAccount({ accountName: 'A', accountname: 'B' }))).toEqual([
      'accountname (did you mean accountName?)',
    ]);
    expect(ignored(await hauler.createAccount({ accountName: 'C' }))).toBeUndefined();
  });
});
