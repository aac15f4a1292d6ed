import { normaliseName } from './account-name.js';

/** Characters in a gram. */
const GRAM = 3;

/**
 * What a search looks through: each value folded as names are, and led by two blanks before every word, so that
 * a term of one or two characters is a gram too: the beginning of a word.
 */
export function searchText(values: readonly (string | undefined)[]): string {
  return values
    .filter((value) => value !== undefined)
    .map((value) => `  ${spread(value)}`)
    .join('\n');
}

/** A search term in the form in which it stands in a search text: anywhere, or, if short, where a word begins. */
export function searchTerm(term: string): string {
  const text = spread(term);
  return ' '.repeat(Math.max(0, GRAM - [...text].length)) + text;
}

/**
 * The grams of a text, each as a 32-bit number. A text holds a term only if its grams include the term's; what they
 * merely share by chance is ruled out by comparing the texts.
 */
export function gramsOf(text: string): number[] {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const grams = new Set<number>();
  for (let i = GRAM; i <= points.length; i++) {
    grams.add(points.slice(i - GRAM, i).reduce((hash, point) => Math.imul(hash ^ point, 0x01000193), 0x811c9dc5 | 0));
  }
  return [...grams];
}

function spread(value: string): string {
  return normaliseName(value).replaceAll(' ', '  ');
}
