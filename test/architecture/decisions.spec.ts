import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

/** One number, or several in the form of a sentence: `3, 10`, `8, 11 and 32`, `39 to 42`. */
const severalOf = (one: string) => `${one}(?:,? (?:and |or |to )?${one})*`;
const DECISIONS = new RegExp(`\\bdecisions? (${severalOf('\\d+')})`, 'gi');
/** Without the sections of RFCs and other standards. */
const SECTIONS = new RegExp(
  `(?<!(?:RFC|ISO/IEC) [\\d-]+,? )\\bsections? (${severalOf('\\d+(?:\\.\\d+)?(?:[a-z]\\b)?')})`,
  'gi',
);

/** The numbers in a text. A number after a line break of a comment is found as well. */
function numbersIn(text: string, pattern: RegExp): string[] {
  const line = text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ');
  return [...line.matchAll(pattern)].flatMap(([, list = '']) => spelledOut(list));
}

/** Every decision of a range; the first and the last section of a range. */
function spelledOut(list: string): string[] {
  const ranged = list.replaceAll(/(?<![\d.])(\d+) to (\d+)(?![\d.])/g, (_range, first: string, last: string) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i).join(', '),
  );
  return ranged.split(/,? (?:and |or |to )?/);
}

/** The licences of packages have sections of their own. */
const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT, exclude: ['THIRD-PARTY-NOTICES.md'] });
/** Without the file that architecture.spec.ts writes for a moment. */
const CODE = globSync('{src,test,migrations}/**/*.{ts,mjs,cjs}', {
  cwd: ROOT,
  exclude: ['src/contracts/forbidden/**'],
});
const FILES = [...PAGES, ...CODE].filter((file) => join(ROOT, file) !== import.meta.filename);

describe('docs/decisions.md', () => {
  const page = read('docs/decisions.md');

  test.each([
    ['decision', DECISIONS, /^(\d+)\. /gm],
    ['section', SECTIONS, /^\| ([\d.]+[a-z]?) +\|/gm],
  ])('lists every %s that is referred to by its number', (_what, pattern, row) => {
    const listed = new Set([...page.matchAll(row)].map(([, number]) => number));
    const named = FILES.flatMap((file) => numbersIn(read(file), pattern).map((number) => ({ number, file })));
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter(({ number }) => !listed.has(number))).toEqual([]);
  });

  test('is searched for numbers in wrapped comments, at the end of a list and within a range', () => {
    const text = '/**\n * See section 2.4a, decisions 7, 8\n * and 99, by RFC 9110, section 13.1.2\n';
    const more = ' * (sections 5.1 to 6; Decisions\n * 39 to 41).\n */';
    expect(numbersIn(text + more, DECISIONS)).toEqual(['7', '8', '99', '39', '40', '41']);
    expect(numbersIn(text + more, SECTIONS)).toEqual(['2.4a', '5.1', '6']);
  });
});

test.each(PAGES)('the links of %s lead to existing files', (file) => {
  const targets = [...read(file).matchAll(/\]\((?!https?:|#)([^)\s#]+)[^)]*\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !existsSync(join(ROOT, dirname(file), target)))).toEqual([]);
});

test('the tests that docs/reliability.md names exist', () => {
  const rows = [...read('docs/reliability.md').matchAll(/^\|.*\| ([^|]+) +\|$/gm)].map(([, last = '']) => last);
  const named = rows.flatMap((row) => [...row.matchAll(/`([\w-]+\/[\w/-]+)`/g)].map(([, name = '']) => name));
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !existsSync(join(ROOT, `test/${name}.spec.ts`)))).toEqual([]);
});
