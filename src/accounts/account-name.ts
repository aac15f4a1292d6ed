import { hash } from 'node:crypto';

const WHITE_SPACE = /\p{White_Space}+/gu;

/** What Unicode says is not shown: zero width, direction marks, soft hyphens, variation selectors, fillers. */
const NOT_SHOWN = /\p{Default_Ignorable_Code_Point}+/gu;

/**
 * Two names are the same if this form of them is equal (decision 27): NFKC, case folded, without characters that are not shown,
 * white space as one blank between words. The upper case of the lower case is Unicode's full case folding: `ß` and `ẞ` become `SS`, both sigmas become one, and
 * `İ` does not become `I`. The dotless `ı` is excluded: it folds to itself, but its upper case is `I`.
 */
export function normaliseName(name: string): string {
  // Before NFKC, which composes what they separate, and behind it, because it makes such characters of others.
  const shown = name.replace(NOT_SHOWN, '').normalize('NFKC').replace(NOT_SHOWN, '');
  const folded = shown.replace(/[^ı]+/g, (part) => part.toLowerCase().toUpperCase());
  return folded.normalize('NFKC').replace(WHITE_SPACE, ' ').trim();
}

/**
 * SHA-256 of the normalised name, for the unique index: NFKC can make 6,600 bytes of 200 characters, and PostgreSQL
 * indexes no value of more than 2,704.
 */
export function nameDigest(name: string): Buffer {
  return hash('sha256', normaliseName(name), 'buffer');
}

/** The length of a trigram. */
const GRAM = 3;

/**
 * The text that a search reads: each value is folded like a name, with two spaces before every word. A term of one or two
 * characters is then a trigram too: the beginning of a word.
 */
export function searchText(values: readonly (string | undefined)[]): string {
  return values
    .filter((value) => value !== undefined)
    .map((value) => `  ${spread(value)}`)
    .join('\n');
}

/** The pattern of LIKE for a part of a search text. A term shorter than a trigram matches only the beginning of a word. */
export function partPattern(term: string): string {
  const text = spread(term);
  return `%${escaped(' '.repeat(Math.max(0, GRAM - [...text].length)) + text)}%`;
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

function spread(value: string): string {
  return normaliseName(value).replaceAll(' ', '  ');
}
