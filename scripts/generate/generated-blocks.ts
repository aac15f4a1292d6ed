import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BLOCK = /(?<=<!-- generated: ([^\n]*?) -->\n)[\s\S]*?(?=<!-- end -->)/g;

/**
 * A Markdown page whose generated blocks are made again. `generate` gets the words of the marker. Text outside the blocks is
 * written by hand. Throws where the page lacks a block of `required`.
 */
export function generatedBlocks(
  page: string,
  required: readonly string[],
  generate: (...words: string[]) => string,
): string {
  const markers = new Set<string>();
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(BLOCK, (_old, marker: string) => {
    markers.add(marker);
    return `\n${generate(...marker.split(' '))}\n\n`;
  });
  const missing = required.filter((each) => !markers.has(each));
  if (missing.length > 0)
    throw new Error(`${page} lacks <!-- generated: ${missing.join(' -->, <!-- generated: ')} -->`);
  return text;
}

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
