import { expect, test } from '@jest/globals';
import { exactJson, JsonText } from '../../src/contracts/common/exact-json.js';

test('a JSON text goes out to the letter, all else as JSON.stringify writes it', () => {
  const text = '{ "n" : [1e309, -0, 1.0, 12345678901234567890], "n":"\\u0041" }';
  const written = exactJson({ id: 'a"b', at: undefined, flow: { n: 1, none: undefined }, body: new JsonText(text) });
  expect(written).toBe(`{"id":"a\\"b","flow":{"n":1},"body":${text}}`);
});

test('a byte order mark stays behind', () => {
  expect(exactJson({ body: new JsonText('\ufeff{"a":"\ufeff"}') })).toBe('{"body":{"a":"\ufeff"}}');
});

test('an object without fields', () => expect(exactJson({ a: undefined })).toBe('{}'));
