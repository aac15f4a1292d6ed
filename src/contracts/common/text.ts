/** Counts Unicode code points, not UTF-16 units, as the lengths of the contracts do (decision 8). */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}

/** Valid Unicode without U+0000 (decision 8). PostgreSQL can store no other text. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Describes `isStorableText` in a violation. */
export const STORABLE_TEXT = 'valid Unicode without U+0000 and without lone surrogates';

/** Removes or replaces the characters that PostgreSQL cannot store. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** A path or an address without the slashes at its end; a pattern would start again at each slash of a long run. */
export function withoutFinalSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/** Whether no character is visible: only white space, control characters, and characters without a glyph (decision 27). */
export function isBlank(text: string): boolean {
  // U+2800 is the Braille pattern without a dot.
  return /^[\p{White_Space}\p{Control}\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);
}

/** Any version of the 8-4-4-4-12 form, either case (decision 6). */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}
