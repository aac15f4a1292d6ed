import { describe, expect, test } from '@jest/globals';
import { jsonFaultPlace, placed } from '../../src/contracts/common/json-place.js';

const wrong = (line: number, column: number) => `what stands at line ${line}, column ${column} does not belong there`;
const short = (line: number, column: number) => `it ends too early, at line ${line}, column ${column}`;

describe('where a text stops being JSON', () => {
  test.each([
    ['{"a":1,}', wrong(1, 8)],
    ['{"a":1 "b":2}', wrong(1, 8)],
    ['{"a" 1}', wrong(1, 6)],
    ['{a:1}', wrong(1, 2)],
    ["{'a':1}", wrong(1, 2)],
    ['[1,]', wrong(1, 4)],
    ['[,1]', wrong(1, 2)],
    ['[1}', wrong(1, 3)],
    ['{"a":[]]', wrong(1, 8)],
    ['{}{}', wrong(1, 3)],
    ['{},', wrong(1, 3)],
    ['}', wrong(1, 1)],
    ['{/* */}', wrong(1, 2)],
    ['{"a":NaN}', wrong(1, 6)],
    ['{"a":01}', wrong(1, 7)],
    ['{"a":1.}', wrong(1, 7)],
    ['{"a":+1}', wrong(1, 6)],
    ['{"a":"\\x41"}', wrong(1, 7)],
    ['{"a":"b\nc"}', wrong(1, 8)],
    ['{"a":"b\u0000c"}', wrong(1, 8)],
    ['{\n  "a": 1,\r\n  "b": tru\n}', wrong(3, 8)],
    ['{"😀é":"😀" x', wrong(1, 11)],
    ['{"a":', short(1, 6)],
    ['{"a":1', short(1, 7)],
    ['{"a":"b', short(1, 8)],
    ['[\n[],\n', short(3, 1)],
    ['['.repeat(100_000), short(1, 100_001)],
    [`["${'a'.repeat(1_000_000)}"x`, wrong(1, 1_000_004)],
  ])('%#', (text, place) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(jsonFaultPlace(text)).toBe(place);
  });

  test('what is right up to there is read past, of every kind', () => {
    const right = JSON.stringify(
      [{ a: [-1.5e-3, 0, 1e21, true, false, null], 'b "\\/\u2028': '\n\u0001\\' }, [], {}, ''],
      null,
      1,
    );
    expect(jsonFaultPlace(`${right}!`)).toBe(wrong(right.split('\n').length, 2));
  });
});

describe('a violation', () => {
  const notJson = { path: 'data', rule: 'isJson', message: 'it must be JSON' };

  test.each([
    ['{"a":1,}', wrong(1, 8)],
    ['\ufeff{"a":1,}', wrong(1, 8)],
    ['[', short(1, 2)],
  ])('of %j says where', (text, place) =>
    expect(placed(notJson, text)).toEqual({ ...notJson, message: `it must be JSON: ${place}` }),
  );

  test.each([undefined, '', ' \n'])('of %j has nothing to add', (text) => expect(placed(notJson, text)).toBe(notJson));

  test('of another rule is left alone', () => {
    const notText = { ...notJson, rule: 'isUtf8' };
    expect(placed(notText, '{')).toBe(notText);
  });
});
