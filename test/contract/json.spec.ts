import { describe, expect, it } from '@jest/globals';
import { JsonFault, readJson } from '../../src/contracts/common/json.js';
import type { Violation } from '../../src/contracts/common/violation.js';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

function faultOf(body: string | Buffer): Violation {
  try {
    readJson(Buffer.isBuffer(body) ? body : Buffer.from(body));
  } catch (error) {
    if (error instanceof JsonFault) return error.violation;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a JSON body (decision 8)', () => {
  it.each([
    ['an object', '{"a":[1,"x",null]}', { a: [1, 'x', null] }],
    ['after a byte order mark', '\ufeff{"a":1}', { a: 1 }],
    ['a whole surrogate pair, escaped', '{"a":"\\ud83d\\ude00"}', { a: '😀' }],
    ['a backslash before u0000', '{"a":"\\\\u0000"}', { a: '\\u0000' }],
    ['32 levels', nested(32), JSON.parse(nested(32)) as unknown],
  ])('is read: %s', (_name, body, value) => expect(readJson(Buffer.from(body))).toEqual(value));

  it('keeps __proto__ as a plain name', () => {
    const value = readJson(Buffer.from('{"__proto__":"x"}')) as object;
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
    ['{"\\u0000":1}', 'the name of a field must be valid Unicode without U+0000 and without lone surrogates'],
    [nested(33), `${'[0]'.repeat(32)} must not be nested deeper than 32`],
  ])('says of %s what is wrong', (body, message) => expect(faultOf(body).message).toBe(message));

  it('is refused: bytes that are not UTF-8', () => {
    expect(faultOf(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ path: '', rule: 'isUtf8' });
    expect(faultOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toMatchObject({ path: '', rule: 'isUtf8' });
  });
});
