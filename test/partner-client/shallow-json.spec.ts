import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shallowJson } from '../../src/partner-client/shallow-json.js';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const read = (text: string) => JSON.parse(shallowJson(Buffer.from(text)).toString('utf8')) as unknown;
/** Of 32 levels, with a 0 in the innermost. */
const cut = `${'['.repeat(32)}0${']'.repeat(32)}`;

test.each<[string, string, string]>([
  ['33 levels', nested(33), cut],
  ['a million levels', nested(1_000_000), cut],
  ['objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, `${'{"a":'.repeat(32)}0${'}'.repeat(32)}`],
  [
    'brackets and quotes in texts',
    `[${nested(32).replace('[]', '[["]\\"["]]')},"[[\\\\"]`,
    `[${cut.slice(1, -1)},"[[\\\\"]`,
  ],
  ['what is beside it', `{"a":[${nested(40)},{"b":"c"}],"d":[]}`, `{"a":[${cut.slice(2, -2)},{"b":"c"}],"d":[]}`],
  ['what follows an empty text', `["",${nested(40)}]`, `["",${cut.slice(1, -1)}]`],
  ['several in one list', `${'['.repeat(32)}[],{},7${']'.repeat(32)}`, `${'['.repeat(32)}0,0,7${']'.repeat(32)}`],
])('%s: what is nested deeper than 32 is a 0', (_, text, expected) => expect(read(text)).toEqual(JSON.parse(expected)));

test('the bytes that were given stay as they came', () => {
  const bytes = Buffer.from(nested(40));
  shallowJson(bytes);
  expect(bytes.toString('utf8')).toBe(nested(40));
});

test('what is never closed is no JSON afterwards either', () => {
  expect(() => read('['.repeat(1_000_000))).toThrow(SyntaxError);
});

test('anything of 32 levels is left as it is', () => {
  for (const text of ['', '"', '[', ']]', nested(32), `{"a":"${'['.repeat(99)}"}`]) {
    expect(shallowJson(Buffer.from(text)).toString('utf8')).toBe(text);
  }
  fc.assert(fc.property(fc.json(), (text) => shallowJson(Buffer.from(text)).toString('utf8') === text));
});
