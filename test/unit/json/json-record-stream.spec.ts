import { describe, expect, test } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { JsonRecordStream, JsonStreamError } from '../../../src/core/json/json-record-stream.js';

const LISTS = ['data.sites', 'data.kiosks', 'data.materials', 'items'];

/** The bytes in chunks of one size. */
async function* chunksOf(body: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The document put together again from its envelope and its records. */
async function reassembled(
  body: string | Buffer,
  size = 65_536,
): Promise<{ envelope: unknown; lists: Record<string, unknown[]> }> {
  const stream = new JsonRecordStream(LISTS);
  const lists: Record<string, unknown[]> = {};
  for await (const batch of stream.batches(chunksOf(body, size))) {
    for (const { list, index, text } of batch) {
      const all = (lists[list] ??= []);
      if (index !== all.length) throw new Error(`the record ${all.length} has the index ${index}`);
      all.push(text === undefined ? null : JSON.parse(text));
    }
  }
  return { envelope: JSON.parse(stream.envelope()), lists };
}

/** `notJson` or `breach`; an error of `JSON.parse` is `notJson`, as the caller reports it. */
async function failureOf(body: string | Buffer, size?: number): Promise<{ kind: string; message: string }> {
  try {
    await reassembled(body, size);
  } catch (error) {
    if (error instanceof JsonStreamError) return { kind: error.kind, message: `${error.path} ${error.message}` };
    if (error instanceof SyntaxError) return { kind: 'notJson', message: error.message };
    throw error;
  }
  throw new Error('the document was read');
}

describe('a stream of records', () => {
  test.each<[string, string, unknown, Record<string, unknown[]>]>([
    ['none', '{"success":true,"data":{}}', { success: true, data: {} }, {}],
    ['empty lists', '{"data":{"sites":[ \n],"kiosks":[]}}', { data: { sites: [], kiosks: [] } }, {}],
    [
      'all lists, fields around them kept',
      ' {"a":1,"data":{"x":[1,2],"sites":[{"id":1},{"id":"2"}],"y":{"sites":[3]},"kiosks":[4]},"items":[null,"]"]} ',
      { a: 1, data: { x: [1, 2], sites: [], y: { sites: [3] }, kiosks: [] }, items: [] },
      { 'data.sites': [{ id: 1 }, { id: '2' }], 'data.kiosks': [4], items: [null, ']'] },
    ],
    [
      'quotes, commas and brackets within texts and names',
      '{"data":{"sites":[{"a\\"],[":"\\\\"},"},{[","\\\\\\""]}}',
      { data: { sites: [] } },
      { 'data.sites': [{ 'a"],[': '\\' }, '},{[', '\\"'] },
    ],
    ['a name written with escapes', '{"d\\u0061ta":{"sites":[1]}}', { data: { sites: [] } }, { 'data.sites': [1] }],
    [
      'a list that is none',
      '{"data":{"sites":{"0":1},"kiosks":null}}',
      { data: { sites: { 0: 1 }, kiosks: null } },
      {},
    ],
    [
      'a name with a point in it, which is no path',
      '{"data.sites":[1],"data":{"sites":[2]}}',
      { 'data.sites': [1], data: { sites: [] } },
      { 'data.sites': [2] },
    ],
    ['data that is none', '{"data":[{"sites":[1]}]}', { data: [{ sites: [1] }] }, {}],
    ['a list as the whole', '[1,[2]]', [1, [2]], {}],
    ['a text as the whole', '"data"', 'data', {}],
    ['a byte order mark', '\ufeff{"items":[1]}', { items: [] }, { items: [1] }],
  ])('%s', async (_, body, envelope, lists) => {
    for (const size of [1, 2, 7, 65_536]) expect(await reassembled(body, size)).toEqual({ envelope, lists });
  });

  test.each([
    '',
    ' ',
    '{',
    '{}{}',
    '{} x',
    '{"data":{"sites":[1,]}}',
    '{"data":{"sites":[,1]}}',
    '{"data":{"sites":[1 2]}}',
    '{"data":{"sites":[1}}',
    '{"data":{"sites":[{]}]}}',
    '{"data":{"sites":[1]',
    '{"data":{"sites":[1]}',
    '{"data":{"sites":["a]}}',
    '{"data":{"sites":[1]}} ]',
    '{"data" {"sites":[1]}}',
    '{"data":{"sites":[1],}}',
    '{"data":{,"sites":[1]}}',
    '{data:{"sites":[1]}}',
    '{"data":{"sites":[01]}}',
    '{"data":{"sites":[1]"kiosks":[]}}',
    '{"a":tru}',
    '{"a":}',
    '{"a"}',
    '<!doctype html>',
    '{"data":{"sites":["\t"]}}',
    '{"da\\xta":1}',
  ])('refuses %j', async (body) => {
    expect(() => JSON.parse(body) as unknown).toThrow();
    expect((await failureOf(body)).kind).toBe('notJson');
    expect((await failureOf(body, 1)).kind).toBe('notJson');
  });

  test.each<[string, string, string]>([
    ['a list that comes twice', '{"data":{"sites":[1],"sites":[2]}}', 'data.sites occurs twice'],
    ['a list that comes twice, in two parents', '{"data":{"sites":[1]},"data":{"kiosks":[2]}}', 'data occurs twice'],
    ['a parent that comes twice', '{"data":{"sites":[1]},"data":null}', 'data occurs twice'],
    ['an envelope of two megabytes', `{"x":"${'x'.repeat(2_100_000)}"}`, 'too large beside its records'],
  ])('calls %s a breach', async (_, body, sentence) => {
    const failure = await failureOf(body);
    expect(failure.kind).toBe('breach');
    expect(failure.message).toContain(sentence);
  });

  test('gives a null for a record of two megabytes, and the others as they are', async () => {
    const huge = JSON.stringify({ id: 'huge', name: 'x'.repeat(2_100_000) });
    expect(await reassembled(`{"items":[1,2,${huge},3,${huge}]}`)).toEqual({
      envelope: { items: [] },
      lists: { items: [1, 2, null, 3, null] },
    });
  });

  test('says the same as JSON.parse of any document, in pieces of any size', async () => {
    const record = fc.oneof(
      fc.json(),
      fc.string().map((text) => JSON.stringify(text)),
    );
    const blank = fc.constantFrom('', ' ', '\n\t');
    const list = fc
      .tuple(fc.array(record, { maxLength: 20 }), blank)
      .map(([all, gap]) => `[${gap}${all.join(`${gap},${gap}`)}${gap}]`);
    const document = fc
      .tuple(list, list, fc.json(), blank)
      .map(
        ([sites, materials, x, gap]) =>
          `{"x":${x},${gap}"data":{"sites"${gap}:${sites},"y":${x},"materials":${materials}}${gap}}`,
      );
    await fc.assert(
      fc.asyncProperty(document, fc.integer({ min: 1, max: 100 }), async (text, size) => {
        const whole = JSON.parse(text) as { x: unknown; data: { sites: unknown[]; y: unknown; materials: unknown[] } };
        const { envelope, lists } = await reassembled(text, size);
        expect(envelope).toEqual({ x: whole.x, data: { sites: [], y: whole.data.y, materials: [] } });
        expect(lists['data.sites'] ?? []).toEqual(whole.data.sites);
        expect(lists['data.materials'] ?? []).toEqual(whole.data.materials);
      }),
      { numRuns: 300 },
    );
  });

  test('cuts a long list into pieces, and loses nothing between them', async () => {
    const records = Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: 'n'.repeat(i % 40) }));
    const text = records.map((record) => JSON.stringify(record)).join(' , ');
    expect((await reassembled(`{"items":[${text}]}`)).lists).toEqual({ items: records });
    // A comma too many where one piece ends and the next one begins.
    for (const end of [...text.matchAll(/ , /g)].map(({ index }) => index).filter((at) => at > 65_000 && at < 66_500)) {
      expect((await failureOf(`{"items":[${text.slice(0, end)} , ]}`)).kind).toBe('notJson');
      expect((await failureOf(`{"items":[${text.slice(0, end)} ,${text.slice(end)}]}`)).kind).toBe('notJson');
    }
  });

  test('refuses what JSON.parse refuses, whatever byte was changed', async () => {
    const good =
      '{"success":true,"data":{"sites":[{"id":"a\\"b","n":[1,-2.5e3]},{"id":"c"}],"materials":[null,false]}}';
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.constantFrom(...'{}[],:"\\ 0x'), async (at, char) => {
        const text = good.slice(0, at) + char + good.slice(at + 1);
        const valid = ((): boolean => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        })();
        const read = await reassembled(text).then(
          () => true,
          () => false,
        );
        expect({ text, read }).toEqual({ text, read: valid });
      }),
      { numRuns: 1_000 },
    );
  });

  const LIMIT = 1_048_576;
  test.each<[string, string]>([
    ['members', `{${'"":0,'.repeat(LIMIT / 5)}`],
    ['members of data', `{"data":{${'"":0,'.repeat(LIMIT / 5)}`],
    ['blanks', `{${' '.repeat(LIMIT)}`],
    ['blanks behind a list', `{"items":[1]${' '.repeat(LIMIT)}`],
    ['a text', `{"a":"${'x'.repeat(LIMIT + 262_144)}`],
  ])('refuses an envelope as soon as %s make it too large, whatever follows', async (_, body) => {
    expect((await failureOf(`${body} no JSON`)).kind).toBe('breach');
  });

  test('takes an envelope of a megabyte, its lists not counted, and refuses one byte more', async () => {
    const list = JSON.stringify(Array.from({ length: 10 }, () => 'x'.repeat(200_000)));
    const rest = '{"items":[],"x":""}'.length;
    const body = (size: number) => `{"items":${list},"x":"${'x'.repeat(size - rest)}"}`;
    expect((await reassembled(body(LIMIT))).lists['items']).toHaveLength(10);
    expect(await failureOf(body(LIMIT + 1))).toMatchObject({ message: ' is too large beside its records' });
  });

  test.each<[string, Buffer]>([
    ['a record', Buffer.from('{"items":["\xff"]}', 'latin1')],
    ['the envelope', Buffer.from('{"a":"\xff","items":[]}', 'latin1')],
  ])('refuses bytes that are not UTF-8 in %s', async (_, body) => {
    expect((await failureOf(body)).kind).toBe('notJson');
  });

  test('keeps characters of several bytes that two chunks share', async () => {
    const body = '{"items":["ü🚛\ufffd"]}';
    for (const size of [1, 2, 3, 5]) expect((await reassembled(body, size)).lists['items']).toEqual(['ü🚛\ufffd']);
  });
});
