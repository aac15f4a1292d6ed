import { normaliseName } from './account-name.js';

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
