/** A column of rows that are the parameters of a statement: its type, and its value in a `Row`. */
type Column<Row> = readonly [
  type: 'integer' | 'text' | 'timestamptz' | 'uuid',
  of: (row: Row) => string | number | null,
];

/** Each column is one array parameter, in this order. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** The rows as a derived table; the caller names it with `AS`. `$first` is the parameter of the first column. */
export function rowsSql(columns: Columns<never>, first: number): string {
  const arrays = Object.values(columns).map(([type], i) => `$${first + i}::${type}[]`);
  return `(SELECT * FROM unnest(${arrays.join(', ')}) AS rows (${Object.keys(columns).join(', ')}))`;
}

/** The parameters. */
export function rowArrays<Row>(columns: Columns<Row>, rows: readonly Row[]): (string | number | null)[][] {
  return Object.values(columns).map(([, of]) => rows.map(of));
}
