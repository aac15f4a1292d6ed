import { expect, test } from '@jest/globals';
import { visibleOutput, visibleText } from '../../../src/core/text/visible-text.js';

/** ANSI, C1, DEL, bidirectional, zero-width, line separators, soft hyphen, tag and filler characters, a line break. */
const HOSTILE = [
  ...['\u001b[2J\u001b]0;title\u0007', '\u009b31m', '\u007f', '\u202e\u2066\u200f\u061c', '\u200b\u200d\u2060\ufeff'],
  ...['\u2028\u2029\u0085', '\u00ad\u{e0041}\u3164\u180e', '\r\nforged-line\t'],
].join('x');
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

test('escapes are those of JSON: both halves of a character beyond U+FFFF, and the value stays', () => {
  expect(visibleText('a\u202eb\u{e0041}c\nd\t')).toBe('a\\u202eb\\udb40\\udc41c\\nd\\t');
  const value = { [HOSTILE]: [HOSTILE, 'a\\b"c', 'München 東京'] };
  const printed = visibleOutput(JSON.stringify(value, undefined, 2));
  expect(JSON.parse(printed)).toEqual(value);
  expect([visibleText(HOSTILE), printed.replaceAll('\n', '')].filter((text) => UNSEEN.test(text))).toEqual([]);
  expect(visibleOutput('München 東京 ✓\n')).toBe('München 東京 ✓\n');
});
