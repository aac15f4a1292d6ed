import { CreateAccountRequest } from '../../contracts/account/account.api.js';
import { Account } from '../../contracts/admin/accounts.routes.js';
import { csvColumns } from '../../contracts/common/csv.js';
import { readerOf } from '../../contracts/common/fields/field.js';
import type { JsonObject } from '../../contracts/common/json.js';
import type { Violation } from '../../contracts/common/violation.js';
import { invalid } from '../../core/errors/app-error.js';
import { unguarded } from '../../core/http/csv.js';
import type { CsvRow } from '../../core/http/csv-rows.js';
import { isNearly } from '../../core/http/json-body.js';

/** The columns of the export. Those that the platform sets are read for comparison, or not at all. */
const KNOWN = csvColumns({ elements: [Account] }).map(({ name }) => name);

/** The fields that a partner may send. */
const SENT = new Set(csvColumns({ elements: [CreateAccountRequest] }).map(({ name }) => name));

const REQUIRED = 'accountName';
const HAULER = 'haulerId';
const NUMBER = 'accountNumber';

const readRequest = readerOf(CreateAccountRequest);

/** The names of the columns, in their order. Throws `invalid` with every column that is unknown, double or absent. */
export function columnsOf({ line, cells }: CsvRow): string[] {
  const names = cells.map((cell) => cell.trim());
  const violations: Violation[] = [];
  const refuse = (path: string, message: string) =>
    violations.push({ path, rule: 'isColumn', message: `line ${line}: ${message}` });
  names.forEach((name, i) => {
    // A spreadsheet may write a separator after the last column.
    if (name === '') return;
    if (names.indexOf(name) < i) refuse(name, `the column ${name} stands twice`);
    else if (!KNOWN.includes(name)) refuse(name, `unknown column ${name}${suggestion(name)}`);
  });
  if (!names.includes(REQUIRED)) refuse(REQUIRED, `the column ${REQUIRED} is missing`);
  if (violations.length > 0) throw invalid(violations);
  return names;
}

function suggestion(name: string): string {
  const plain = name.replace(/[^a-z0-9]/gi, '').toLowerCase();
  const found =
    KNOWN.find((known) => isNearly(name, known)) ??
    KNOWN.find((known) => isNearly(plain, known.replace('.', ''))) ??
    KNOWN.find((known) => isNearly(plain, known.replace(/^.*\./, ''))) ??
    KNOWN.find((known) => plain.length > 2 && known.toLowerCase().endsWith(plain));
  return found === undefined ? `; the columns are ${KNOWN.join(', ')}` : ` (did you mean ${found}?)`;
}

/** One row of the file, with what it violates. */
export interface ReadRow {
  readonly line: number;
  readonly request: CreateAccountRequest;
  readonly accountNumber: string | undefined;
  readonly violations: readonly Violation[];
}

/** The row as a partner would send the account: an empty cell is an absent field. */
export function readRow(columns: readonly string[], { line, cells }: CsvRow, haulerId: string): ReadRow {
  const values = new Map(columns.map((name, i) => [name, unguarded(cells[i] ?? '')]));
  const violations: Violation[] = [];
  const surplus = cells.slice(columns.length).some((cell) => cell !== '');
  if (cells.length < columns.length || surplus) {
    const message = `the row has ${cells.length} cells, and the first line ${columns.length} columns`;
    violations.push({ path: '', rule: 'isCellCount', message });
  }
  const owner = values.get(HAULER) ?? '';
  if (owner !== '' && owner.toLowerCase() !== haulerId.toLowerCase()) {
    violations.push({ path: HAULER, rule: 'isOwnHauler', message: `haulerId is another hauler than ${haulerId}` });
  }
  const request = readRequest(objectOf(values), '', violations);
  return { line, request, accountNumber: values.get(NUMBER) === '' ? undefined : values.get(NUMBER), violations };
}

function objectOf(values: ReadonlyMap<string, string>): JsonObject {
  const object: Record<string, JsonObject[string]> = {};
  for (const [name, value] of values) {
    if (value === '' || !SENT.has(name)) continue;
    const [field = '', inner] = name.split('.');
    if (inner === undefined) object[field] = value;
    else object[field] = { ...(object[field] as JsonObject | undefined), [inner]: value };
  }
  return object;
}
