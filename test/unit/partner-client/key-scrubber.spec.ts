import { afterEach, expect, jest, test } from '@jest/globals';
import { KeyScrubber } from '../../../src/partner-client/partner-answer.js';

const KEY = 'some-partner-key';

afterEach(() => {
  jest.restoreAllMocks();
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['33 levels', nested(33)],
  ['100,000 levels', nested(100_000)],
])('a value of %s is replaced by 0 at level 33, which bounds the recursion of every reader', (_, text) => {
  expect(JSON.stringify(new KeyScrubber([KEY]).parse(text))).toBe(`${'['.repeat(32)}0${']'.repeat(32)}`);
});

test('a value of 32 levels is returned unchanged', () => {
  expect(JSON.stringify(new KeyScrubber([KEY]).parse(nested(32)))).toBe(nested(32));
});

test('of many texts only those with our key are redacted', () => {
  const scrubber = new KeyScrubber([KEY]);
  // Base64 of the key is computed for each replacement.
  const made = jest.spyOn(Buffer, 'from');
  const read = scrubber.parse(`["\\n",${'"an ordinary text",'.repeat(5_000)}"${KEY}",{"a ${KEY}":"b"}]`) as unknown[];
  expect(read.slice(-3)).toEqual(['an ordinary text', '[redacted]', { 'a [redacted]': 'b' }]);
  expect(made.mock.calls.length).toBeLessThan(10);
});

test.each([
  ['8 characters, which is no common word', '12345678', '[redacted]'],
  ['7, which may be a common word', '1234567', '1234567'],
])('a key of %s: in data and in a sentence', (_, key, inData) => {
  const scrubber = new KeyScrubber([key]);
  expect(scrubber.parse(JSON.stringify({ [key]: [key, `a ${key}.`] }))).toEqual({ [inData]: [inData, `a ${inData}.`] });
  expect(scrubber.sentence(`a ${key}.`)).toBe('a [redacted].');
});
