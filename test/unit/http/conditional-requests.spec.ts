import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { byteRange, matchesEtag } from '../../../src/core/http/conditional-requests.js';

const part = (start: number, end: number) => ({ start, end });

test.each<[string, ReturnType<typeof byteRange>]>([
  ['bytes=0-0', part(0, 0)],
  ['bytes=0-99', part(0, 99)],
  ['bytes=90-', part(90, 99)],
  ['bytes=90-200', part(90, 99)],
  ['Bytes=0-1', part(0, 1)],
  ['bytes= 5 - 9 ', part(5, 9)],
  ['bytes=\t5\u00a0-\u00a09\n', part(5, 9)],
  ['bytes= - 5 ', part(95, 99)],
  ['bytes= 0-1 , 500-', part(0, 1)],
  ['bytes=5 5-9', 'unsatisfiable'],
  ['bytes=   ', 'unsatisfiable'],
  ['bytes=-1', part(99, 99)],
  ['bytes=-100', part(0, 99)],
  ['bytes=-101', part(0, 99)],
  [`bytes=-${'9'.repeat(400)}`, part(0, 99)],
  ['bytes=0-1,200-300', part(0, 1)],
  ['bytes=0-1,5-6', 'whole'],
  ['bytes=0-1,-200', 'whole'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=100-', 'unsatisfiable'],
  [`bytes=${'9'.repeat(400)}-`, 'unsatisfiable'],
  ['bytes=5-2', 'unsatisfiable'],
  ['bytes=100-200,300-', 'unsatisfiable'],
  ['bytes=', 'unsatisfiable'],
  ['bytes=-', 'unsatisfiable'],
  ['bytes=x', 'unsatisfiable'],
  ['bytes=0-x', 'unsatisfiable'],
  ['bytes=0-1,x', 'unsatisfiable'],
  ['bytes=0-1,-', 'unsatisfiable'],
  ['items=0-1', 'unsatisfiable'],
  ['bytes=1.5-2', 'unsatisfiable'],
  ['bytes', 'unsatisfiable'],
  ['', 'unsatisfiable'],
])('of 100 bytes, "%s" is %j', (header, expected) => expect(byteRange(header, 100)).toEqual(expected));

test.each(['bytes=0-', 'bytes=-5', 'bytes=0-0'])('of an empty file, "%s" is unsatisfiable', (header) =>
  expect(byteRange(header, 0)).toBe('unsatisfiable'),
);

// A regular expression that starts again at each blank would take minutes.
test.each([
  ['before', `${' '.repeat(1_000_000)}x`],
  ['between', `0${' '.repeat(1_000_000)}x`],
  ['after', `0-0${' '.repeat(1_000_000)}x`],
])('a million blanks %s a range are scanned once', async (_, spec) => {
  expect(byteRange(`bytes=${spec}`, 100)).toBe('unsatisfiable');
  await delay(1);
});

describe('If-None-Match', () => {
  test.each<[string, string | undefined, string, boolean]>([
    ['no header', undefined, '"a"', false],
    ['an empty header', '', '"a"', false],
    ['the tag', '"a"', '"a"', true],
    ['another tag', '"b"', '"a"', false],
    ['a weak tag for a strong one', 'W/"a"', '"a"', true],
    ['a strong tag for a weak one', '"a"', 'W/"a"', true],
    ['a weak tag for a weak one', 'W/"a"', 'W/"a"', true],
    ['another weak tag', 'W/"b"', 'W/"a"', false],
    ['several, one of them the tag', '"x", W/"y" ,"a"', '"a"', true],
    ['several others', '"x", W/"y"', '"a"', false],
    ['any', '*', 'W/"a"', true],
    ['any, among others', '"x", *', '"a"', true],
    ['the tag without its quotes', 'a', '"a"', false],
    ['a part of the tag', '"a', '"ab"', false],
    ['a tag that contains W/', '"aW/b"', '"ab"', false],
    ['the tag in another case', '"A"', '"a"', false],
  ])('%s', (_what, header, etag, expected) => expect(matchesEtag(header, etag)).toBe(expected));
});
