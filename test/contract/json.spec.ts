import { describe, expect, it } from '@jest/globals';
import { JsonFault } from '../../src/contracts/common/json-fault.js';
import { parseJson, textOf } from '../../src/contracts/common/json.js';
import { LONGEST_PATH } from '../../src/contracts/common/text.js';
import { allViolations, MAX_FAULTS, MAX_TOLD_BYTES } from '../../src/contracts/common/told-faults.js';
import { FURTHER_FAULTS, summarise, type Violation } from '../../src/contracts/common/violation.js';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

const read = (body: string | Buffer) => parseJson(textOf(Buffer.from(body as string)));

/** The only fault. */
function faultOf(body: string | Buffer): Violation {
  const faults = faultsOf(body);
  expect(faults).toHaveLength(1);
  return faults[0] as Violation;
}

function faultsOf(body: string | Buffer): Violation[] {
  try {
    return read(body).faults.map(({ violation }) => violation);
  } catch (error) {
    if (error instanceof JsonFault) return [error.violation];
    throw error;
  }
}

describe('a JSON body (decision 8)', () => {
  it.each([
    ['an object', '{"a":[1,"x",null]}', { a: [1, 'x', null] }],
    ['after a byte order mark', '\ufeff{"a":1}', { a: 1 }],
    ['a whole surrogate pair, escaped', '{"a":"\\ud83d\\ude00"}', { a: '😀' }],
    ['a backslash before u0000', '{"a":"\\\\u0000"}', { a: '\\u0000' }],
    ['32 levels', nested(32), JSON.parse(nested(32)) as unknown],
  ])('is read: %s', (_name, body, value) => expect(read(body)).toEqual({ value, faults: [], areMore: false }));

  it('keeps __proto__ as a plain name', () => {
    const value = read('{"__proto__":"x"}').value as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each([
    ['nothing', '', '', 'isJson'],
    ['truncated', '{"a":', '', 'isJson'],
    ['U+0000 in a value', '{"a":["x\\u0000"]}', 'a[0]', 'isText'],
    ['a lone high surrogate', '{"a":{"b.c":"\\ud83d"}}', 'a["b.c"]', 'isText'],
    ['a lone low surrogate', '{"a":"\\uDE00"}', 'a', 'isText'],
    ['U+0000 in a name', '{"a":{"x\\u0000":1}}', 'a', 'isText'],
    ['U+0000 behind an empty text', '{"a":"","b":"\\u0000"}', 'b', 'isText'],
    ['U+0000 behind a text that ends in a quote', '{"a":"x\\"","b":"\\u0000"}', 'b', 'isText'],
    ['U+0000 behind an empty object', '[{},"\\u0000"]', '[1]', 'isText'],
    ['33 levels', nested(33), '[0]'.repeat(32), 'maxDepth'],
    ['a million levels', nested(1_000_000), '[0]'.repeat(32), 'maxDepth'],
  ])('is refused: %s', (_name, body, path, rule) => expect(faultOf(body)).toMatchObject({ path, rule }));

  it.each([
    ['{"a":["x\\u0000"]}', 'a[0] must be valid Unicode without U+0000 and without lone surrogates'],
    ['"\\u0000"', 'the body must be valid Unicode without U+0000 and without lone surrogates'],
    [
      '{"a":{"\\u0000":1}}',
      'the name of a field of a must be valid Unicode without U+0000 and without lone surrogates',
    ],
    [
      // Both are told by one path, and the first is the one that is told.
      '{"a":{"\\u0000":1},"a":"\\u0000"}',
      'the name of a field of a must be valid Unicode without U+0000 and without lone surrogates',
    ],
    ['{"\\u0000":1}', 'the name of a field must be valid Unicode without U+0000 and without lone surrogates'],
    [' \n', 'the body must be a JSON object, it is empty'],
    ['{', 'the body must be valid JSON'],
    [nested(33), `${'[0]'.repeat(32)} must not be nested deeper than 32`],
  ])('says of %s what is wrong', (body, message) => expect(faultOf(body).message).toBe(message));

  it('is told of all its faults, each path once', () => {
    const deep = `${'['.repeat(40)}{"]":"["},"}"${']'.repeat(40)}`;
    const body = `{"a":"\\u0000","b":[1,{"\\ud800":1,"\\u0000":2},"\\udfff",[]],"c":{},"d":${deep},"e":"\\u0000"}`;
    expect(faultsOf(body).map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      'a isText',
      'b[1] isText',
      'b[2] isText',
      `d${'[0]'.repeat(31)} maxDepth`,
      'e isText',
    ]);
  });

  it.each([
    ['text', '{"a":"\\u0000","a":"ok"}', ['a']],
    ['a name', '{"a":{"\\ud800":1},"a":"ok"}', ['a']],
    ['depth', `{"m":[{"f":${nested(50)},"f":"ok"}]}`, [`m[0].f${'[0]'.repeat(29)}`]],
    ['text, behind brackets and quotes in text', '{"x":"]}\\"[{\\\\","a":["\\u0000"],"a":1}', ['a[0]']],
  ])('is refused: %s hidden by a second field of the same name', (_name, body, paths) =>
    expect(faultsOf(body).map(({ path }) => path)).toEqual(paths),
  );

  it('brackets in text are no nesting', () => {
    const value = { a: '[{'.repeat(40), b: '"\\'.repeat(40) + '['.repeat(40) };
    expect(read(JSON.stringify(value))).toEqual({ value, faults: [], areMore: false });
  });

  it('is told of a hundred faults at most', () => {
    expect(faultsOf(`[${'"\\u0000",'.repeat(1000)}1]`)).toHaveLength(MAX_FAULTS);
  });

  it.each<[string, string, number, boolean]>([
    ['as many as are told', `[${'"\\u0000",'.repeat(MAX_FAULTS)}1]`, MAX_FAULTS, false],
    ['one more', `[${'"\\u0000",'.repeat(MAX_FAULTS)}[["\\u0000"]]]`, MAX_FAULTS, true],
    ['many of one path', `{${'"\\u0000":1,'.repeat(MAX_FAULTS)}"a":"\\u0000"}`, 1, true],
  ])('says whether there are more: %s', (_name, body, told, areMore) => {
    const { faults, ...rest } = read(body);
    expect([faults.length, rest.areMore]).toEqual([told, areMore]);
  });

  describe('behind 31 names of 512 characters that have to be escaped', () => {
    const name = JSON.stringify('\u0001'.repeat(512));
    const behind = (value: string) => `{"first":${`{${name}:`.repeat(29)}{"last":${value}}${'}'.repeat(30)}`;

    it('is told of both ends of the path', () => {
      const { path, message } = faultOf(behind('"\\u0000"'));
      expect(path).toMatch(/^first\["(?:\\u0001)+….*"\]\.last$/);
      expect(path.length).toBeLessThanOrEqual(LONGEST_PATH);
      expect(message).toBe(`${path} must be valid Unicode without U+0000 and without lone surrogates`);
    });

    it('is told of some 64 KB of faults at most', () => {
      const faults = faultsOf(behind(`[${'"\\u0000",'.repeat(1000)}1]`));
      expect(faults[0]?.path).toMatch(/\.last\[0\]$/);
      expect(faults.length).toBeGreaterThan(10);
      const size = JSON.stringify(faults).length;
      expect([size >= MAX_TOLD_BYTES, size < MAX_TOLD_BYTES * 1.2]).toEqual([true, true]);
    });
  });

  it('names a path that is cut within a character by whole characters', () => {
    const { path } = faultOf(`{"${'😀'.repeat(250)}":{"x${'😀'.repeat(250)}":{"${'é'.repeat(400)}":"\\u0000"}}}`);
    expect([path.isWellFormed(), path.length <= LONGEST_PATH, path.includes('…')]).toEqual([true, true, true]);
  });

  it('is refused: bytes that are not UTF-8', () => {
    expect(faultOf(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ path: '', rule: 'isUtf8' });
    expect(faultOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toMatchObject({ path: '', rule: 'isUtf8' });
  });
});

describe('all that is wrong, in one sentence', () => {
  const faults = (count: number) =>
    ['a', 'b', 'c', 'd', 'e'].slice(0, count).map((message) => ({ path: '', rule: '', message }));

  it.each([
    [[], ''],
    [faults(1), 'a'],
    [faults(3), 'a; b; c'],
    [faults(4), 'a; b; c; and 1 more'],
    [faults(5), 'a; b; c; and 2 more'],
    [[...faults(1), FURTHER_FAULTS], 'a; and more'],
    [[...faults(3), FURTHER_FAULTS], 'a; b; c; and more'],
    [[...faults(4), FURTHER_FAULTS], 'a; b; c; and at least 1 more'],
  ])('%#', (violations, sentence) => expect(summarise(violations)).toBe(sentence));

  it('is told once of each path, of the text first and of more at the end', () => {
    const { faults } = read('{"a":"\\u0000"}');
    const ofFields = ['a', 'b'].map((path) => ({ path, rule: 'isLength', message: '' }));
    const rules = (areMore: boolean) =>
      allViolations({ faults, areMore }, ofFields).map(({ path, rule }) => [path, rule]);
    const told = [
      ['a', 'isText'],
      ['b', 'isLength'],
    ];
    expect([rules(false), rules(true)]).toEqual([told, [...told, ['', 'maxFaults']]]);
  });

  it('tells as many as are asked for', () => expect(summarise(faults(5), 4)).toBe('a; b; c; d; and 1 more'));
});
