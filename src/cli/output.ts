import { isJsonObject } from '../contracts/common/json.js';
import { visibleText } from '../core/text/visible-text.js';
import type { StorageCheck, StorageRepair, UnreadPlace } from '../contracts/admin/storage.routes.js';
import { CommandError, FAILURE } from './command-error.js';
import type { AccountImport } from '../contracts/admin/accounts.routes.js';

/** Where a command writes. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** The result of a command as text: JSON as the admin API returns it, or a table for people. */
export function render(result: unknown, asJson: boolean): string {
  if (asJson) return `${JSON.stringify(result, undefined, 2)}\n`;
  return isList(result) ? renderList(result) : renderFields(result as object);
}

interface RawJson {
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
}

/** Parses JSON and keeps the digits of each number that JavaScript would write differently, such as 1e309, 12.50 and -0. */
export function exactValue(json: string): unknown {
  // TypeScript's library does not declare JSON.rawJSON yet.
  const exact = JSON as unknown as RawJson;
  return exact.parse(json, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  );
}

/** An older service sends neither `more` nor `next`. */
interface Position {
  readonly page: number;
  readonly totalPages: number;
  readonly totalItems: number;
  readonly more?: boolean;
  readonly next?: string | null;
}

/** How long a list is, where the page stands in it, and how to go on after the last page that has a number. */
export function positionText({ page, totalPages, totalItems, more = false, next = null }: Position): string {
  const [last, plus] = [Math.max(totalPages, 1), more ? '+' : ''];
  const place = page > last ? `page ${page}` : `page ${page} of ${last}${plus}`;
  const further = page < last || next === null ? '' : `more: --cursor ${visibleText(next)}\n`;
  return `${totalItems}${plus} in all, ${place}\n${further}`;
}

interface List {
  readonly data: readonly object[];
  readonly pagination?: Position;
}

function isList(result: unknown): result is List {
  return typeof result === 'object' && result !== null && 'data' in result && Array.isArray(result.data);
}

function renderFields(result: object): string {
  const entries = Object.entries(result).map(([name, value]) => [visibleText(name), value] as const);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${cellOf(value)}\n`).join('');
}

function renderList({ data, pagination }: List): string {
  // Optional fields are absent in some rows.
  const columns = [...new Set(data.flatMap((row) => Object.keys(row)))];
  const table = columns.length === 0 ? '' : renderTable(columns, data);
  if (pagination === undefined) return table;
  return table + positionText(pagination);
}

function renderTable(columns: readonly string[], data: readonly object[]): string {
  const rows = [
    columns.map(visibleText),
    ...data.map((row) => columns.map((name) => cellOf((row as Record<string, unknown>)[name]))),
  ];
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const lineOf = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  return rows.map((row) => `${lineOf(row).trimEnd()}\n`).join('');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.map(cellOf).join(',');
  const text = typeof value === 'string' ? value : (countsIn(value) ?? JSON.stringify(value));
  return visibleText(text);
}

/** `sites: received 2, created 2; kiosks: received 3, unchanged 3` for the counts of a run; undefined for other values. */
function countsIn(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const groups = Object.entries(value).map(([kind, counts]) => {
    if (!isJsonObject(counts) || !Object.values(counts).every(Number.isInteger)) return undefined;
    const shown = Object.entries(counts).filter(([, count]) => count !== 0);
    return `${kind}: ${shown.map(([name, count]) => `${name} ${String(count)}`).join(', ') || 'none'}`;
  });
  return groups.includes(undefined) || groups.length === 0 ? undefined : groups.join('; ');
}

/** A folder or file of the service, and not of another program. */
const OF_THE_SERVICE = /^[a-z-]+(\/\d{4}-\d{2}-\d{2})?(\/[0-9a-f]{2}(\/[^/]+\.mp4)?)?$/;

/** After the table of the differences. Throws where there is one. */
export function reportDifferences({ examined, data, unread = [], advice }: StorageCheck, { out }: Streams): void {
  if (advice !== undefined) out(`${visibleText(advice)}\n`);
  out(unreadLines(unread));
  refuseDifferences({ data, unread });
  out(`storage and database agree: examined ${examined} rows and files\n`);
}

export function refuseDifferences({ data, unread = [] }: Pick<StorageCheck, 'data' | 'unread'>): void {
  const differences = data.length === 1 ? '1 difference' : `${data.length} differences`;
  const wrong = data.length === 0 ? [] : [`${differences} between storage and database`];
  const missed = unread.filter(({ place }) => OF_THE_SERVICE.test(place));
  if (missed.length > 0)
    wrong.push(`${missed.length} of its places in the storage cannot be read, and were not compared`);
  if (wrong.length > 0) throw new CommandError(wrong.join('; '), FAILURE);
}

/** After the table of the differences and their remedies. */
export function reportRepair(repair: StorageRepair, { out }: Streams): void {
  const { dryRun, unread = [], examined, fetchedAgain, removed, none } = repair;
  const would = dryRun ? 'would be ' : '';
  out(unreadLines(unread));
  out(
    `examined ${examined} rows and files: ${fetchedAgain} recordings ${would}fetched again, ${removed} files ${would}removed, ${none} differences left as they are\n`,
  );
}

const unreadLines = (unread: readonly UnreadPlace[]): string =>
  unread.length === 0
    ? ''
    : `not compared, because it cannot be read:\n${render({ data: unread.map(({ place, reason }) => ({ place, reason })) }, false)}`;

/** Rows that a person reads on a terminal; `--json` has all that the service lists. */
const SHOWN_ROWS = 50;

/** The counts, and the rows that need a correction. */
export function renderImport({ dryRun, rows, created, exists, conflict, invalid, data }: AccountImport): string {
  const bad = data.filter(({ violations }) => violations !== undefined);
  const shown = bad.slice(0, SHOWN_ROWS).map(({ line, result, accountName, violations = [] }) => ({
    line,
    result,
    account: accountName ?? '-',
    reason: violations.map(({ message }) => message).join('; '),
  }));
  const rest = invalid + conflict - shown.length;
  return [
    shown.length === 0 ? '' : render({ data: shown }, false),
    rest === 0 ? '' : `and ${rest} more: --json lists up to 1,000\n`,
    visibleText(
      `${rows} rows: ${created} ${dryRun ? 'would be created' : 'created'}, ${exists} exist, ${conflict} in conflict, ${invalid} invalid`,
    ),
    '\n',
  ].join('');
}
