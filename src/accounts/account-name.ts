import { createHash } from 'node:crypto';

const WHITE_SPACE = /[\p{White_Space}\uFEFF]+/gu;

/**
 * The form in which two names are the same (decision 27): NFKC, case folded, inner white space of any kind as one
 * blank, none at the ends. Upper case of lower case is Unicode's full case folding (`ß` and `ẞ` are `SS`, both sigmas are one, `İ` is
 * not `I`), save for the dotless `ı`, which folds to nothing else and must not become the `I` that its upper case is.
 */
export function normaliseName(name: string): string {
  const folded = name.normalize('NFKC').replace(/[^ı]+/g, (part) => part.toLowerCase().toUpperCase());
  return folded.normalize('NFKC').replace(WHITE_SPACE, ' ').trim();
}

/**
 * SHA-256 of the normalised name, for the unique index: NFKC can make 6,600 bytes of 200 characters, and PostgreSQL
 * indexes no value of more than 2,704.
 */
export function nameDigest(name: string): Buffer {
  return createHash('sha256').update(normaliseName(name)).digest();
}
