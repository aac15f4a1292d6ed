import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JsonSplitFault } from '../../src/chunked-work/json-split-fault.js';
import { splitJson } from '../../src/chunked-work/split-json.js';
import { KeyScrubber } from '../../src/partner-client/key-scrubber.js';
import { PartnerAnswer } from '../../src/partner-client/partner-answer.js';
import { PartnerFailure } from '../../src/partner-client/partner-failure.js';

const LISTS = ['data.sites', 'data.kiosks', 'data.materials', 'items'];

const answerOf = (body: string | Buffer) =>
  new PartnerAnswer(200, undefined, Buffer.from(body), 'partner', new KeyScrubber(['some-partner-key']));

/** The document as it comes out of its parts again. */
async function reassembled(body: string | Buffer): Promise<{ envelope: unknown; lists: Record<string, unknown[]> }> {
  const answer = await answerOf(body).records(LISTS);
  const lists: Record<string, unknown[]> = {};
  for await (const { list, first, records } of answer.batches()) {
    const all = (lists[list] ??= []);
    expect(first).toBe(all.length);
    all.push(...records);
  }
  return { envelope: answer.envelope, lists };
}

const failureOf = async (body: string | Buffer): Promise<PartnerFailure> =>
  reassembled(body).then(
    () => Promise.reject(new Error('it was read')),
    (error: unknown) => (error instanceof PartnerFailure ? error : Promise.reject(error as Error)),
  );

/** How often the event loop came round meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let done = false;
  const turn = () => {
    turns++;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  done = true;
  return turns;
}

describe('records of a large answer', () => {
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
    expect(await reassembled(body)).toEqual({ envelope, lists });
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
  });

  test.each<[string, string, string]>([
    ['a list that comes twice', '{"data":{"sites":[1],"sites":[2]}}', 'data.sites occurs twice'],
    ['a list that comes twice, in two parents', '{"data":{"sites":[1]},"data":{"kiosks":[2]}}', 'data occurs twice'],
    ['a parent that comes twice', '{"data":{"sites":[1]},"data":null}', 'data occurs twice'],
    ['what is nested too deep beside the lists', `{"x":${'['.repeat(40)}${']'.repeat(40)}}`, 'nested deeper than 32'],
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

  test.each([33, 500_000])(
    'gives a 0 for what is nested too deep in a record, %i levels, and the rest as it is',
    async (levels) => {
      const deep = (n: number) => '['.repeat(n) + ']'.repeat(n);
      const odd = `{"id":"odd","x":["]",${deep(levels - 2)}],"y":1}`;
      const body = `{"data":{"sites":[1,${deep(32)},${odd},{"id":2}],"kiosks":[${deep(32)}]}}`;
      const cut = `{"id":"odd","x":["]",${deep(30).replace('[]', '[0]')}],"y":1}`;
      const whole = JSON.parse(deep(32)) as unknown;
      expect((await reassembled(body)).lists).toEqual({
        'data.sites': [1, whole, JSON.parse(cut), { id: 2 }],
        'data.kiosks': [whole],
      });
    },
  );

  test.each(['[[', ']]', '[}', '{"a":'])('what is nested too deep hides nothing behind it: %s', async (torn) => {
    const body = `{"data":{"sites":[${'['.repeat(40)}${']'.repeat(40)},${torn}]}}`;
    expect((await failureOf(body)).kind).toBe('notJson');
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
      fc.asyncProperty(document, async (text) => {
        const whole = JSON.parse(text) as { x: unknown; data: { sites: unknown[]; y: unknown; materials: unknown[] } };
        const { envelope, lists } = await reassembled(text);
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

  test('20 MB are read in small steps, and others get their turn between them', async () => {
    const materials = Array.from({ length: 100_000 }, (_, i) => ({
      id: `7b0a3a52-6e0d-4e0e-9d61-${String(i).padStart(12, '0')}`,
      siteId: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
      materialType: 'Mixed construction debris',
      measureUnit: 'Ton',
      updatedAt: '2026-01-15T10:00:00Z',
    }));
    const bytes = Buffer.from(JSON.stringify({ success: true, data: { materials } }));
    const sizes: number[] = [];
    const turns = await turnsDuring(async () => {
      const answer = await answerOf(bytes).records(LISTS);
      for await (const { records } of answer.batches()) sizes.push(records.length);
    });
    expect(sizes.reduce((sum, size) => sum + size)).toBe(100_000);
    expect(Math.max(...sizes)).toBeLessThan(2_000);
    expect(turns).toBeGreaterThan(20);
  });

  test.each<[string, string, number]>([
    ['a megabyte of members', `{"data":{${'"":0,'.repeat(200_000)}"a":0}}`, 40],
    ['eight megabytes of blanks in a list', `{"items":[${' '.repeat(8_388_608)}1]}`, 30],
  ])('others get their turn in %s, too', async (_, body, turns) => {
    const bytes = Buffer.from(body);
    expect(await turnsDuring(() => splitJson(bytes, LISTS))).toBeGreaterThan(turns);
  });

  const LIMIT = 1_048_576;
  test.each<[string, string]>([
    ['members', `{${'"":0,'.repeat(LIMIT / 5)}`],
    ['members of data', `{"data":{${'"":0,'.repeat(LIMIT / 5)}`],
    ['blanks', `{${' '.repeat(LIMIT)}`],
    ['blanks behind a list', `{"items":[1]${' '.repeat(LIMIT)}`],
    ['a text', `{"a":"${'x'.repeat(LIMIT + 262_144)}`],
  ])('refuses an envelope as soon as %s make it too large, whatever follows', async (_, body) => {
    await expect(splitJson(Buffer.from(`${body} no JSON`), LISTS)).rejects.toMatchObject({ kind: 'breach' });
  });

  test('takes an envelope of a megabyte, its lists not counted, and refuses one byte more', async () => {
    const list = `[${'1,'.repeat(1_000_000)}1]`;
    const rest = '{"items":,"x":""}'.length;
    const body = (size: number) => `{"items":${list},"x":"${'x'.repeat(size - rest)}"}`;
    const { envelope } = await splitJson(Buffer.from(body(LIMIT)), LISTS);
    expect(envelope).toHaveLength(LIMIT + '[]'.length);
    await expect(splitJson(Buffer.from(body(LIMIT + 1)), LISTS)).rejects.toThrow('too large beside its records');
  });

  test('ends with a signal', async () => {
    const bytes = Buffer.from(`{"items":[${'1,'.repeat(2_000_000)}1]}`);
    const abort = new AbortController();
    abort.abort(new Error('enough'));
    await expect(splitJson(bytes, LISTS, abort.signal)).rejects.toThrow('enough');
    await expect(splitJson(Buffer.from('{'), LISTS)).rejects.toBeInstanceOf(JsonSplitFault);
  });
});
