import { parse } from 'node:querystring';
import { STRAY_PERCENT } from './literal-path.js';

/** What a query text becomes that is none: U+0000 is refused wherever it stands. */
const NO_TEXT = '\0';

/**
 * As Express reads a simple query, but for bytes that are not UTF-8 (decision 8), which would become U+FFFD, a text like
 * any other, and for what comes after a thousand parameters, which would be dropped: the headers' limit bounds them.
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
