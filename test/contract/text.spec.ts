import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { withoutFinalSlashes } from '../../src/contracts/common/text.js';
import { AppError } from '../../src/errors/app-error.js';
import { errorReply } from '../../src/errors/error-body.js';

test.each([
  ['', ''],
  ['/', ''],
  ['///', ''],
  ['/a', '/a'],
  ['/a//b/', '/a//b'],
  ['https://example.com//', 'https://example.com'],
  ['//a', '//a'],
])('%j without its final slashes is %j', (text, expected) => expect(withoutFinalSlashes(text)).toBe(expected));

// A pattern that begins anew at each of them would take minutes, until long after this test's time.
test('a million slashes within a path are looked at once', async () => {
  const { status } = errorReply(new AppError('notFound', 'there is nothing'), `${'/'.repeat(1_000_000)}x`);
  expect(status).toBe(404);
  await delay(1);
});
