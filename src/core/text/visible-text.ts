/**
 * Characters that a terminal executes or does not show: controls and ANSI escapes, bidirectional and zero-width characters,
 * line separators, lone surrogates.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** A value for a terminal, in one line: an unseen character is written as its escape, such as `\u202e`. */
export const visibleText = (text: string): string => text.replace(UNSEEN, escapeOf);

/** A whole output, whose line breaks stay. JSON keeps its value, because JSON has the same escapes. */
export const visibleOutput = (text: string): string =>
  text.replace(UNSEEN, (character) => (character === '\n' ? character : escapeOf(character)));

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A character beyond U+FFFF has two escapes, as in JSON. */
const escapeOf = (character: string): string =>
  SHORT[character] ?? Array.from({ length: character.length }, (_, i) => hexEscape(character.charCodeAt(i))).join('');

const hexEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
