import { normaliseName } from './account-name.js';

/** Characters in a gram. */
const GRAM = 3;

/** A constant, because in Jest a look-up of a global costs more than the rest of the hash. */
const { imul } = Math;

/**
 * The text that a search reads: each value is folded like a name, with two spaces before every word. A term of one or two
 * characters is then a gram too: the beginning of a word.
 */
export function searchText(values: readonly (string | undefined)[]): string {
  return values
    .filter((value) => value !== undefined)
    .map((value) => `  ${spread(value)}`)
    .join('\n');
}

/** A search term as a part of a search text. A term shorter than a gram matches only the beginning of a word. */
export function searchTerm(term: string): string {
  const text = spread(term);
  return ' '.repeat(Math.max(0, GRAM - [...text].length)) + text;
}

/**
 * The grams of a text, each as a 32-bit number. A text contains a term only if its grams include all grams of the term. The
 * texts must be compared afterwards, because other texts may have these grams too.
 */
export function gramsOf(text: string): number[] {
  const points: number[] = [];
  for (let i = 0; i < text.length; i += (points.at(-1) ?? 0) > 0xffff ? 2 : 1) points.push(text.codePointAt(i) ?? 0);
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
