import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const BLOCK = /(?<=<!-- generated: ([^\n]*?) -->\n)[\s\S]*?(?=<!-- end -->)/g;

/**
 * Compares the generated blocks of a Markdown page with `generate`, which gets the words of the marker. With the environment
 * variable, the page is written first. Text outside the blocks is written by hand. Returns the page.
 */
export function expectGenerated(
  page: string,
  variable: string,
  generate: (...words: string[]) => string,
): { readonly text: string; readonly markers: readonly string[] } {
  const file = join(ROOT, page);
  const current = readFileSync(file, 'utf8');
  const markers: string[] = [];
  const text = current.replaceAll(BLOCK, (_old, marker: string) => {
    markers.push(marker);
    return `\n${generate(...marker.split(' '))}\n\n`;
  });
  if (process.env[variable] === '1') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
  return { text, markers };
}

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
