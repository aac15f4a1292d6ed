import type { QueryResult } from 'pg';

export interface StatementOptions {
  /** Keep the statement prepared. Its text must then be one of a fixed set. */
  readonly prepared?: boolean;
}

/** Runs statements: each one by itself, or all in one transaction. */
export abstract class Sql<Options extends StatementOptions = StatementOptions> {
  /** Returns the result of pg. */
  abstract run(text: string, values?: readonly unknown[], options?: Options): Promise<QueryResult>;

  /** Returns the rows: of a SELECT, or of RETURNING. */
  async query<Row = unknown>(text: string, values?: readonly unknown[], options?: Options): Promise<Row[]> {
    return (await this.run(text, values, options)).rows as Row[];
  }

  /** Returns the first row, if there is one. */
  async first<Row>(text: string, values?: readonly unknown[]): Promise<Row | undefined> {
    return (await this.query<Row>(text, values))[0];
  }

  /** Returns the row of a statement that always has one, such as an aggregate. */
  async only<Row>(text: string, values?: readonly unknown[]): Promise<Row> {
    return onlyRow(await this.query<Row>(text, values));
  }

  /** Returns how many rows an INSERT, UPDATE or DELETE has changed. */
  async change(text: string, values?: readonly unknown[], options?: Options): Promise<number> {
    return (await this.run(text, values, options)).rowCount ?? 0;
  }
}

export function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new TypeError('the statement has no row');
  return row;
}

/**
 * A `timestamptz` as the canonical `Instant`, in microseconds and UTC: a JavaScript date would lose the microseconds, which
 * decide the order.
 */
export const instantSql = (expression: string): string =>
  `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * A column of rows that are the parameters of a statement: its type, and its value in a `Row`. A value of `json` is JSON
 * text, and becomes `text`.
 */
type Column<Row> = readonly [
  type: 'integer' | 'json' | 'text' | 'timestamptz' | 'uuid',
  of: (row: Row) => string | number | null,
];

/** Each column is one parameter, in this order. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** Separates JSON texts: JSON contains no control character but white space. */
const SEPARATOR = '\x1f';

/** The rows as a derived table; the caller names it with `AS`. `$first` is the parameter of the first column. */
export function rowsSql(columns: Columns<never>, first: number): string {
  const arrays = Object.values(columns).map(([type], i) =>
    type === 'json' ? `string_to_array($${first + i}::text, E'\\x1f', '')` : `$${first + i}::${type}[]`,
  );
  return `(SELECT * FROM unnest(${arrays.join(', ')}) AS rows (${Object.keys(columns).join(', ')}))`;
}

/**
 * The parameters. Only `text` needs escapes in PostgreSQL's form of an array: pg would escape each value of the others too,
 * and JSON has many characters to escape.
 */
export function rowArrays<Row>(columns: Columns<Row>, rows: readonly Row[]): (string | (string | number | null)[])[] {
  return Object.values(columns).map(([type, of]) => {
    if (type === 'text') return rows.map(of);
    if (type === 'json') return rows.map(of).join(SEPARATOR);
    return `{${rows.map((row) => of(row) ?? 'NULL').join(',')}}`;
  });
}
