import { parse } from 'node:querystring';
import { STRAY_PERCENT } from './literal-path.js';

/** Stands for bytes that are not UTF-8: U+0000 is refused in every text. */
const NO_TEXT = '\0';

/**
 * As Express reads a simple query, but for two things. Bytes that are not UTF-8 (decision 8) do not become U+FFFD, which
 * is a text like any other; and what comes after a thousand parameters is not dropped: the headers' limit bounds them.
 */
export const parseQuery = (text: string) =>
  parse(text, undefined, undefined, { decodeURIComponent: decode, maxKeys: 0 });

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll(STRAY_PERCENT, '%25'));
  } catch {
    return NO_TEXT;
  }
}
