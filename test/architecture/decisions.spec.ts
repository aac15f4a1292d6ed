import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { decisionsIn, sectionsIn } from '../shared/citations.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

/** The licences of packages have sections of their own. */
const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT, exclude: ['THIRD-PARTY-NOTICES.md'] });
/** Without the file that architecture.spec.ts writes for a moment. */
const CODE = globSync('{src,test,migrations}/**/*.{ts,mjs,cjs}', {
  cwd: ROOT,
  exclude: ['src/contracts/forbidden/**'],
});
const FILES = [...PAGES, ...CODE].filter(
  (file) => join(ROOT, file) !== import.meta.filename && file !== 'test/shared/citations.ts',
);

describe('docs/decisions.md', () => {
  const page = read('docs/decisions.md');

  test('lists every decision that is referred to by its number', () => {
    const listed = new Set([...page.matchAll(/^(\d+)\. /gm)].map(([, number]) => number));
    const named = FILES.flatMap((file) => decisionsIn(read(file)).map((number) => ({ number, file })));
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter(({ number }) => !listed.has(number))).toEqual([]);
  });

  test('is searched for numbers in wrapped comments, at the end of a list and within a range', () => {
    const text = '/**\n * See section 2.4a, decisions 7, 8\n * and 99, by RFC 9110, section 13.1.2\n';
    const more = ' * (sections 5.1 to 6; Decisions\n * 39 to 41).\n */';
    expect(decisionsIn(text + more)).toEqual(['7', '8', '99', '39', '40', '41']);
    expect(sectionsIn(text + more)).toEqual(['2.4a', '5.1', '6']);
  });
});

test.each(PAGES)('the links of %s lead to existing files', (file) => {
  const targets = [...read(file).matchAll(/\]\((?!https?:|#)([^)\s#]+)[^)]*\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !existsSync(join(ROOT, dirname(file), target)))).toEqual([]);
});
