import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** The rows of all tables of a page. */
const rowsOf = (text: string) => text.split('\n').filter((line) => /^\|(?! -{3})/.test(line)).length - headsOf(text);
const headsOf = (text: string) => text.match(/^\| -{3}/gm)?.length ?? 0;

test.each([
  ['performance', 10],
  ['reliability', 30],
])('docs/%s.md has at most %d figures, names what is not bounded, and no history', (name, max) => {
  const text = readFileSync(join(import.meta.dirname, `../../../docs/${name}.md`), 'utf8');
  expect(rowsOf(text)).toBeGreaterThan(max / 2);
  expect(rowsOf(text)).toBeLessThanOrEqual(max);
  expect(text).toContain('## What is not bounded');
  expect(text).toContain(`(engineering/${name}.md)`);
  // Dates, ids of commits, goals.
  expect(text).not.toMatch(
    /\b20\d\d-\d\d-\d\d\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b(?:goal|floor|target)s?\b/,
  );
});
