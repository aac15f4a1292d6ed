import { type ElementType, sqlArray } from './sql-array.js';

/** A column of rows that a statement is given: its type, and what a `Row` has in it. */
type Column<Row> = readonly [type: ElementType, of: (row: Row) => string | null];

/** One array is one parameter, in this order. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** The rows as a derived table; the caller names it with `AS`. `$first` is the first column's parameter. */
export function rowsSql(columns: Columns<never>, first: number): string {
  const arrays = Object.values(columns).map(([type], i) => `$${first + i}::${type}[]`);
  return `(SELECT * FROM unnest(${arrays.join(', ')}) AS given (${Object.keys(columns).join(', ')}))`;
}

/** The parameters. */
export function rowArrays<Row>(columns: Columns<Row>, rows: readonly Row[]): Buffer[] {
  return Object.values(columns).map(([type, of]) => sqlArray(type, rows.map(of)));
}
