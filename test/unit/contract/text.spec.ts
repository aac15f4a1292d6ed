import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { joinPath, shortPath } from '../../../src/contracts/common/json.js';
import { codePoints, isBlank, isUuid, storableText, withoutFinalSlashes } from '../../../src/contracts/common/text.js';
import { AppError } from '../../../src/core/errors/app-error.js';
import { errorReply } from '../../../src/core/errors/error-body.js';

test.each([
  ['', 0],
  ['ab', 2],
  ['\ud7ff\ue000', 2],
  ['\u{10000}', 1],
  ['\u{10ffff}', 1],
  ['a\u{1f69b}b', 3],
])('%j has %i characters', (text, count) => expect(codePoints(text)).toBe(count));

test.each([
  ['plain', 'plain'],
  ['a\0b\0', 'ab'],
  ['a\ud83d', 'a\ufffd'],
  ['\ude9b\0', '\ufffd'],
])('%j is stored as %j', (text, stored) => expect(storableText(text)).toBe(stored));

test.each([
  ['', true],
  [' \t\u200b\u3164', true],
  [' a', false],
  ['a ', false],
])('%j is blank: %s', (text, blank) => expect(isBlank(text)).toBe(blank));

const ID = '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21';

test.each([
  [ID, true],
  [ID.toUpperCase(), true],
  [`0${ID}`, false],
  [`${ID}0`, false],
  [`${ID}\n`, false],
  [ID.replaceAll('-', ''), false],
])('%j is a UUID: %s', (text, uuid) => expect(isUuid(text)).toBe(uuid));

const [LONG, HALF] = ['x'.repeat(512), 'x'.repeat(511)];

test.each([
  ['a first key', '', 'a', 'a'],
  ['an index', 'a', 2, 'a[2]'],
  ['a key after an index', 'a[2]', 'b', 'a[2].b'],
  ['a key that is no identifier', 'a', 'a.b', 'a["a.b"]'],
  ['a key that looks like an index', 'a', '2', 'a["2"]'],
  ['the longest key that is not shortened', 'a', LONG, `a.${LONG}`],
  ['a longer key', 'a', `${LONG}y`, `a["${HALF}…"]`],
  ['a key that is shortened within a character', 'a', `${'x'.repeat(510)}\u{1f69b}y`, `a["${'x'.repeat(510)}\ufffd…"]`],
])('joins a path and %s', (_, parent, key, path) => expect(joinPath(parent, key)).toBe(path));

test('a path of more than 1024 code units keeps its beginning and its end', () => {
  expect(shortPath(LONG + LONG)).toBe(LONG + LONG);
  expect(shortPath(`a${LONG}${HALF}b`)).toBe(`a${'x'.repeat(510)}…${'x'.repeat(510)}b`);
});

test.each([
  ['', ''],
  ['/', ''],
  ['///', ''],
  ['/a', '/a'],
  ['/a//b/', '/a//b'],
  ['https://example.com//', 'https://example.com'],
  ['//a', '//a'],
])('%j without its final slashes is %j', (text, expected) => expect(withoutFinalSlashes(text)).toBe(expected));

// A regular expression that starts again at each slash would take minutes.
test('a path of a million slashes is scanned once', async () => {
  const { status } = errorReply(new AppError('notFound', 'there is nothing'), `${'/'.repeat(1_000_000)}x`);
  expect(status).toBe(404);
  await delay(1);
});
