import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { decisionsIn, sectionsIn } from './citations.js';

const ROOT = join(import.meta.dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });
const CODE = globSync('{src,migrations}/**/*.{ts,tsx}', { cwd: ROOT });

/** The numbers that the files cite and the page does not have, each with its file. */
function unknown(page: string, heading: RegExp, citedIn: (text: string) => string[]): string[] {
  const known = new Set([...read(page).matchAll(heading)].map(([, number]) => number));
  const cited = [...PAGES, ...CODE].flatMap((file) => citedIn(read(file)).map((number) => ({ number, file })));
  expect(cited.length).toBeGreaterThan(60);
  return cited.filter(({ number }) => !known.has(number)).map(({ number, file }) => `${number} in ${file}`);
}

test('docs/decisions.md has every decision that a page or the source cites', () => {
  expect(unknown('docs/decisions.md', /^(\d+)\. /gm, decisionsIn)).toEqual([]);
});

test('docs/interfaces.md has every section that a page or the source cites', () => {
  expect(unknown('docs/interfaces.md', /^#{2,3} (\d[\d.]*[a-z]?) /gm, sectionsIn)).toEqual([]);
});

test.each(PAGES)('the links of %s lead to existing files', (file) => {
  const targets = [...read(file).matchAll(/\]\((?!https?:|#)([^)\s#]+)[^)]*\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !existsSync(join(ROOT, dirname(file), target)))).toEqual([]);
});
