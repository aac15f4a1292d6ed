import { type ElementType, sqlArray } from './sql-array.js';

/** Columns of rows that a statement is given, and the type of each: one array is a parameter, in this order. */
export type Columns = Readonly<Record<string, ElementType>>;

export type RowOf<Of extends Columns> = Readonly<Record<keyof Of, string | null>>;

/** The rows as a table, `$first` being the parameter of the first column. */
export function rowsSql(columns: Columns, first: number): string {
  const arrays = Object.values(columns).map((type, i) => `$${first + i}::${type}[]`);
  return `(SELECT * FROM unnest(${arrays.join(', ')}) AS given (${Object.keys(columns).join(', ')}))`;
}

/** The parameters. */
export function rowArrays<Of extends Columns>(columns: Of, rows: readonly RowOf<Of>[]): Buffer[] {
  return Object.entries(columns).map(([name, type]) =>
    sqlArray(
      type,
      rows.map((row) => row[name]!),
    ),
  );
}
