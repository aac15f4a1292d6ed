import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const released = JSON.parse(readFileSync(join(ROOT, 'test/fixtures/released-migrations.json'), 'utf8')) as Record<
  string,
  Record<string, string>
>;
const files = Object.values(released).flatMap(Object.entries) as [string, string][];

test.each(files)('%s is as it was released: databases have run it, write a new migration', (file, hash) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n');
  expect(createHash('sha256').update(text).digest('hex')).toBe(hash);
});
