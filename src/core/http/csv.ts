import { stringify } from 'csv-stringify/sync';
import { isJsonObject, type JsonObject } from '../../contracts/common/json.js';
import { type CsvForm, csvColumns } from '../../contracts/common/csv.js';
import { maskSecretsInData } from '../observability/known-secrets.js';

/** Rows that are written together: a call for each row takes three times as long. */
const ROWS_AT_ONCE = 100;

/** The lines of a CSV, with the head first. An element is an object or its JSON. */
export async function* csvTexts(
  form: CsvForm,
  elements: Iterable<unknown> | AsyncIterable<unknown>,
  bom: string,
): AsyncGenerator<string> {
  const columns = csvColumns(form).map(({ name }) => ({
    name,
    path: name.split('.'),
  }));
  yield bom + linesOf([columns.map(({ name }) => name)]);
  let rows: string[][] = [];
  for await (const element of elements) {
    for (const row of rowsOf(typeof element === 'string' ? (JSON.parse(element) as unknown) : element, form.each)) {
      rows.push(columns.map(({ path }) => cellOf(path.reduce(memberOf, row))));
    }
    if (rows.length < ROWS_AT_ONCE) continue;
    yield linesOf(rows);
    rows = [];
  }
  yield linesOf(rows);
}

/** An element once for each entry of the field that has a row each; at least one. */
function rowsOf(element: unknown, each: string | undefined): unknown[] {
  if (each === undefined || !isJsonObject(element)) return [element];
  const entries = element[each];
  const rows = Array.isArray(entries)
    ? entries.map((entry: unknown): JsonObject => ({
        ...element,
        [each]: entry,
      }))
    : [];
  return rows.length === 0 ? [{ ...element, [each]: undefined }] : rows;
}

const memberOf = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Null and absent are empty. A list or a map is JSON. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return guarded(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** How a spreadsheet recognises a formula, also in its full-width forms. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[-+]?(\d+(\.\d+)?|\.\d+)(e[-+]?\d+)?$/i;

/** A text that a spreadsheet would run as a formula begins with an apostrophe, which it does not show. A number is none. */
const guarded = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

/** A cell without the apostrophe that `guarded` or a spreadsheet put before it. */
export const unguarded = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;

/**
 * RFC 4180. The library quotes only where its own separators stand: a lone line break, and the separators that a
 * spreadsheet of another language takes, are quoted as well.
 */
const linesOf = (rows: string[][]): string =>
  rows.length === 0
    ? ''
    : maskSecretsInData(
        stringify(rows, {
          record_delimiter: '\r\n',
          quoted_match: /[\r\n;\t]|^\s|\s$/,
        }),
      );
