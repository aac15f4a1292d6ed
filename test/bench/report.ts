import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './processes.js';

export type Row = readonly (string | number)[];

/** Prints a table, its first row being the head, and keeps it as JSON in data/bench, which git ignores. */
export function report(name: string, rows: readonly Row[], more: object = {}): void {
  printTable(rows);
  const folder = join(ROOT, 'data', 'bench');
  mkdirSync(folder, { recursive: true });
  const [head = [], ...body] = rows;
  const table = body.map((row) => Object.fromEntries(head.map((title, i) => [title, row[i]])));
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ machine: machine(), table, ...more }, null, 2));
}

function machine(): object {
  const { version } = process;
  const memoryGiB = Math.round(totalmem() / 1024 ** 3);
  // More load than our own: other programs share the machine.
  return { cores: availableParallelism(), memoryGiB, node: version, load: loadavg()[0], at: new Date().toISOString() };
}

/** A table for people. */
function printTable(rows: readonly Row[]): void {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? shownNumber(cell) : cell)));
  const widths = (texts[0] ?? []).map((_, i) => Math.max(...texts.map((row) => row[i]?.length ?? 0)));
  for (const [i, row] of texts.entries()) {
    const line = row.map((cell, j) => (j === 0 ? cell.padEnd(widths[j] ?? 0) : cell.padStart(widths[j] ?? 0)));
    console.log(`| ${line.join(' | ')} |`);
    if (i === 0) console.log(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  }
}

function shownNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
