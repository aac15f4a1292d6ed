import { describe, expect, test } from '@jest/globals';
import { matchesEtag } from '../../src/http/etag.js';

describe('If-None-Match', () => {
  test.each<[string, string | undefined, string, boolean]>([
    ['none', undefined, '"a"', false],
    ['an empty one', '', '"a"', false],
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
    ['a tag that is the other one but for a W/ inside', '"aW/b"', '"ab"', false],
    ['the tag in other letters', '"A"', '"a"', false],
  ])('%s', (_what, header, etag, expected) => expect(matchesEtag(header, etag)).toBe(expected));
});
