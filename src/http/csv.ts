import type { StreamableFile } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import type { Request } from 'express';
import { isJsonObject, type JsonObject } from '../contracts/common/json.js';
import { BOM_PARAMETER, type CsvForm, csvColumns } from '../contracts/common/csv.js';
import { keepingLimit } from '../database/hauler-limit.js';
import { invalid } from '../errors/app-error.js';
import { maskSecrets } from '../observability/known-secrets.js';
import { elementsOf, type PageOf, streamedTexts } from './list-stream.js';
import { servedBy, type ServedRequest } from './recorded-request.js';

const CSV_TYPE = 'text/csv';
const JSON_TYPE = 'application/json';

/** Rows that are written together: a call for each row takes three times as long. */
const ROWS_AT_ONCE = 100;

type ListOf<Query, Page> = (query: Query) => Promise<Page>;

/** A list as its client accepts it: a page as JSON, or every element as CSV. JSON wins where both are accepted. */
export async function listAnswer<Query extends object, Found extends PageOf<unknown>>(
  request: ServedRequest,
  query: Query,
  list: ListOf<Query, Found>,
): Promise<Found | StreamableFile> {
  return acceptsCsv(request) ? csvAnswer(request, query, list) : list(query);
}

export const acceptsCsv = (request: Request): boolean => request.accepts([JSON_TYPE, CSV_TYPE]) === CSV_TYPE;

/** The names of the filters that a client sent. */
export const filterNames = (request: Request): string[] =>
  Object.keys(request.query).filter((name) => name !== BOM_PARAMETER || !acceptsCsv(request));

/** Every element of the list as CSV. */
export async function csvAnswer<Query extends object>(
  request: ServedRequest,
  query: Query,
  list: ListOf<Query, PageOf<unknown>>,
): Promise<StreamableFile> {
  const { route } = servedBy(request);
  const { res: response } = request;
  if (route.csv === undefined || response === undefined) throw new Error(`${route.operation} has no CSV`);
  const bom = hasBom(request) ? '\ufeff' : '';
  // Later pages are read outside the call.
  const texts = csvTexts(route.csv, elementsOf(query, keepingLimit(list)), bom);
  const answer = await streamedTexts(response, `${CSV_TYPE}; charset=utf-8; header=present`, texts);
  response.setHeader('Content-Disposition', `attachment; filename="${fileName(request)}"`);
  return answer;
}

function hasBom({ query }: Request): boolean {
  const { [BOM_PARAMETER]: bom = 'false' } = query;
  if (bom === 'true' || bom === 'false') return bom === 'true';
  throw invalid([
    {
      path: BOM_PARAMETER,
      rule: 'isBoolean',
      message: `${BOM_PARAMETER} must be true or false`,
    },
  ]);
}

/** `sync-runs-<id>-changes-2026-11-26.csv` */
function fileName(request: ServedRequest): string {
  const { api } = servedBy(request);
  const name = request.path
    .slice(api.prefix.length)
    .replace(/[^\w-]+/g, '-')
    .replace(/^-/, '');
  return `${name}-${new Date().toISOString().slice(0, 10)}.csv`;
}

/** The lines of a CSV, with the head first. An element is an object or its JSON. */
async function* csvTexts(form: CsvForm, elements: AsyncIterable<unknown>, bom: string): AsyncGenerator<string> {
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

/**
 * RFC 4180. The library quotes only where its own separators stand: a lone line break, and the separators that a
 * spreadsheet of another language takes, are quoted as well.
 */
const linesOf = (rows: string[][]): string =>
  rows.length === 0
    ? ''
    : maskSecrets(
        stringify(rows, {
          record_delimiter: '\r\n',
          quoted_match: /[\r\n;\t]|^\s|\s$/,
        }),
      );
