import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { gramsOf, searchTerm, searchText } from '../../src/accounts/account-search.js';

const text = searchText(['Löne  Star Ltd', 'A-100042', 'Dana.Reyes@Example.com']);
/** As the SQL does it. */
const finds = (term: string, within = text) => {
  const grams = new Set(gramsOf(within));
  return within.includes(searchTerm(term)) && gramsOf(searchTerm(term)).every((gram) => grams.has(gram));
};

describe('a search', () => {
  test.each([
    'Löne Star Ltd',
    'lÖNE',
    'o\u0308ne',
    'öne s',
    'star  ltd',
    'tar',
    'STAR',
    'A-100042',
    'a-100',
    '00042',
    '042',
    'dana.reyes@example.com',
    'reyes',
    '@example',
    'COM',
    'l',
    'L',
    's',
    'lö',
    'st',
    'a',
    'A-',
    'd',
    ' star ',
  ])('finds %j', (term) => expect(finds(term)).toBe(true));

  test.each(['lone', 'starltd', 'ltd a', 'A-100043', 'tx', 'ta', 'ö', 'x', '%', '_', 'st_r', '42a', 'comm', 'ltd\na'])(
    'does not find %j',
    (term) => expect(finds(term)).toBe(false),
  );

  test('finds every part of three or more characters of any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 3, maxLength: 40 }), fc.nat(), fc.nat(), (name, a, b) => {
        const within = searchText([name]);
        const points = [...within.trim().replaceAll('  ', ' ')];
        const start = a % points.length;
        const part = points.slice(start, start + 3 + (b % points.length)).join('');
        fc.pre([...part.trim()].length >= 3 && searchText([part.trim()]) === `  ${part.trim().replaceAll(' ', '  ')}`);
        expect(finds(part, within)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('grams are whole numbers of 32 bits', () => {
    for (const gram of gramsOf(searchText(['😀😀😀 中文字 \u{10ffff}'.repeat(10)]))) expect(gram | 0).toBe(gram);
    expect(gramsOf('')).toEqual([]);
    expect(gramsOf('ab')).toEqual([]);
    expect(gramsOf('abcabc')).toHaveLength(3);
  });

  test('grams equal the stored ones: otherwise stored accounts would not be found', () => {
    expect(gramsOf('abc😀')).toEqual([440920331, -826996234]);
  });
});
