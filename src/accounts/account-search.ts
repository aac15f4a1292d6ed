import { normaliseName } from './account-name.js';

/** Characters in a gram. */
const GRAM = 3;

/** Looked up once: in Jest's contexts a look-up of a global costs more than all the rest of hashing a gram. */
const { imul } = Math;

/**
 * The text that a search reads: each value folded as names are, with two spaces before every word, so that
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
  for (let end = GRAM; end <= points.length; end++) {
    let hash = 0x811c9dc5 | 0;
    for (let i = end - GRAM; i < end; i++) hash = imul(hash ^ (points[i] ?? 0), 0x01000193);
    grams.add(hash);
  }
  return [...grams];
}

function spread(value: string): string {
  return normaliseName(value).replaceAll(' ', '  ');
}
