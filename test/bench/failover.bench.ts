import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figures } from '../nightly/failover/figures.js';
import { ROOT } from './processes.js';
import { printTable, type Row } from './report.js';

const PAGE = join(ROOT, 'docs/engineering/failover.md');
const BLOCK = /(?<=<!-- runs -->\n)[^]*(?=<!-- end of runs -->)/;
const MAX_RUNS = 3;
const HEAD = ['fault', 'run', 'writable', 'taken', 'acknowledged', '503', 'refused', 'lost', 'doubled'];

/** One run of the fault suite with all its cases. The page keeps the figures of the last three runs. */
export function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-figures-'));
  const file = join(folder, 'figures.json');
  const { status } = spawnSync('npm', ['run', '-s', 'jest', '--', 'test/nightly/failover.spec.ts'], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, FAILOVER: 'all', FAILOVER_FIGURES: file },
  });
  const figures = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Figures[]) : [];
  rmSync(folder, { recursive: true });
  if (status !== 0 || figures.length === 0) return Promise.reject(new Error('the suite failed, or was skipped'));
  const page = readFileSync(PAGE, 'utf8');
  const rows = withRun(rowsIn(page), figures);
  writeFileSync(
    PAGE,
    page.replace(BLOCK, () => `\n${tableOf(rows)}\n\n`),
  );
  printTable([HEAD, ...rows]);
  return Promise.resolve();
}

/** The rows of the page, by fault and run. */
const rowsIn = (page: string): string[][] =>
  [...(BLOCK.exec(page)?.[0] ?? '').matchAll(/^\| (.+) \|$/gm)]
    .map(([, cells = '']) => cells.split('|').map((cell) => cell.trim()))
    .slice(2);

function withRun(rows: readonly string[][], figures: readonly Figures[]): Row[] {
  return figures.flatMap((one) => {
    const former = rows.filter(([fault]) => fault === one.case).slice(1 - MAX_RUNS);
    const { writable, taken, acknowledged, answers503, refused, lost, doubled } = one;
    const cells = [writable.toFixed(1), taken.toFixed(1), acknowledged, answers503, refused, lost, doubled];
    return [...former.map(([, , ...rest]) => rest), cells.map(String)].map((rest, i) => [
      one.case,
      String(i + 1),
      ...rest,
    ]);
  });
}

const tableOf = (rows: readonly Row[]): string =>
  [HEAD, HEAD.map((_, i) => (i === 0 ? '---' : '--:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
