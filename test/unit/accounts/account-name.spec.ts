import { describe, expect, test } from '@jest/globals';
import { nameDigest, normaliseName, partPattern, searchText } from '../../../src/accounts/account-name.js';
import fc from '../../support/fast-check.js';
import { anyCharacter } from '../../support/openapi-arbitrary.js';

const same = (a: string, b: string) => normaliseName(a) === normaliseName(b);

describe('the same name (decision 27)', () => {
  test.each([
    ['case', 'Lone Star LLC', 'LONE star llc'],
    ['blanks at the ends', '  Lone Star\t', 'Lone Star'],
    ['blanks inside', 'Lone \t\n  Star', 'Lone Star'],
    ['a no-break space', 'Lone\u00a0Star', 'Lone Star'],
    ['an ideographic space', 'Lone\u3000Star', 'Lone Star'],
    ['a thin space and a line separator', 'Lone\u2009\u2028Star', 'Lone Star'],
    ['a next line', 'Lone\u0085Star', 'Lone Star'],
    ['a byte order mark at the start', '\ufeffLone Star', 'Lone Star'],
    ['composed and decomposed', 'Caf\u00e9', 'cafe\u0301'],
    ['combining marks in another order', 'a\u0323\u0301', 'a\u0301\u0323'],
    ['full width', 'ＬＯＮＥ　ＳＴＡＲ', 'lone star'],
    ['a ligature', 'O\ufb03ce', 'OFFICE'],
    ['a superscript', 'Area⁵¹', 'area51'],
    ['case behind a dotless i', 'Sarıyer', 'SARıYER'],
    ['sharp s', 'Straßenbau', 'STRASSENBAU'],
    ['capital sharp s', 'STRAẞENBAU', 'straßenbau'],
    ['final sigma', 'ΟΔΟΣ', 'οδος'],
    ['medial sigma at the end', 'ΟΔΟΣ', 'οδοσ'],
    ['I with dot, composed or not', 'İzmir', 'I\u0307ZMIR'],
    ['the Kelvin sign', '\u212aelvin', 'kelvin'],
    ['long s', 'Wa\u017fte', 'waste'],
    ['micro sign and mu', '\u00b5', '\u03bc'],
    ['titlecase digraph', 'ǅ', 'ǆ'],
    ['Cherokee', 'Ꭰ', 'ꭰ'],
    ['beyond the basic plane', '𐐀', '𐐨'],
    ['a zero-width joiner', 'क्\u200dष', 'क्ष'],
    ['a soft hyphen and direction marks', 'Was\u00adte\u200f \u202aCo\u202c', 'Waste Co'],
    ['a joiner between a letter and its accent', 'Cafe\u034f\u0301', 'Caf\u00e9'],
    ['a variation selector', 'Star \u2b50\ufe0f', 'Star \u2b50'],
    ['a filler of half width', 'Lone\uffa0Star', 'LoneStar'],
    ['ypogegrammeni', 'ᾳ', 'αι'],
  ])('ignores %s', (_what, a, b) => expect(normaliseName(a)).toBe(normaliseName(b)));

  test.each([
    ['a word more', 'Lone Star', 'Lone Star LLC'],
    ['no blank at all', 'Lone Star', 'LoneStar'],
    ['an accent', 'Café', 'Cafe'],
    ['I with dot and without', 'İzmir', 'Izmir'],
    ['dotless i', 'Işık', 'Isik'],
    ['dotless i alone', 'ı', 'I'],
    ['punctuation', 'A.B.', 'AB'],
    ['Latin and Cyrillic A', 'A', 'А'],
    ['sharp s and one s', 'Maß', 'Mas'],
  ])('does not ignore %s', (_what, a, b) => expect(normaliseName(a)).not.toBe(normaliseName(b)));

  test('every character is the same as its other cases and forms', () => {
    const offenders: string[] = [];
    for (let point = 1; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const text = String.fromCodePoint(point);
      const cases = text === 'ı' ? [] : [text.toLowerCase(), text.toUpperCase()];
      const others = [...cases, text.normalize('NFD'), text.normalize('NFKC'), text.normalize('NFKD')];
      const different = others.filter((other) => other !== text);
      if (!different.every((other) => same(`a${other}b`, `a${text}b`))) offenders.push(point.toString(16));
    }
    expect(offenders).toEqual([]);
  });

  test('a normalised name is not changed by another normalisation', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter(), maxLength: 30 }), (text) => {
        expect(normaliseName(normaliseName(text))).toBe(normaliseName(text));
        expect(same(`\u2003${text.normalize('NFD')}\n`, text)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('a digest has 32 bytes, however long the name', () => {
    const longest = '\ufdfa'.repeat(200);
    expect(Buffer.byteLength(normaliseName(longest))).toBeGreaterThan(6000);
    expect(nameDigest(longest)).toHaveLength(32);
    expect(nameDigest('Straße')).toEqual(nameDigest(' STRASSE '));
    expect(nameDigest('Straße')).not.toEqual(nameDigest('Strase'));
  });

  test('a digest equals the stored ones: otherwise their names could be created again', () => {
    expect(nameDigest('Straße').toString('hex')).toBe(
      'b97805af0949694d12dec848dcd294fef9d063f7965c7bb955a8c5eb51a8088f',
    );
  });
});

const text = searchText(['Löne  Star Ltd', 'A-100042', 'Dana.Reyes@Example.com']);
/** As LIKE does it. */
const finds = (term: string, within = text) => {
  const [, part = ''] = /^%(.*)%$/su.exec(partPattern(term)) ?? [];
  return within.includes(part.replaceAll(/\\(.)/gu, '$1'));
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
});
