import type { ClientBase } from 'pg';
import type { DataSource } from 'typeorm';
import { DatabaseConnectionError, isLostStatement, isSocketFailure } from './postgres-errors.js';

/** Runs statements: a data source, an entity manager in its transaction, or one connection. */
export interface Querying {
  query<T>(sql: string, parameters: unknown[]): Promise<T>;
}

/**
 * A `timestamptz` as the canonical `Instant`, in microseconds and UTC: a JavaScript date would lose the microseconds, which
 * decide the order.
 */
export const instantSql = (expression: string): string =>
  `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The name of each prepared statement, by its text. */
const statementNames = new Map<string, string>();

/** False after a pooler has executed a prepared statement on another server connection than the one that prepared it. */
let canPrepare = true;

/** Plain SQL and its parameters. */
export type Statement = readonly [sql: string, parameters: unknown[]];

export interface ConnectionOptions {
  /** Prepare statements. The SQL must then be one of a fixed set of texts, because each stays prepared. */
  readonly prepared?: boolean;
}

/** Runs `work` on one connection of the ordinary pool. */
export async function onConnection<T>(
  dataSource: DataSource,
  work: (connection: Connection) => Promise<T>,
  options: ConnectionOptions = {},
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    return await work(new Connection((await runner.connect()) as ClientBase, options));
  } finally {
    await runner.release();
  }
}

/** One connection, for plain SQL. */
export class Connection {
  private inTransaction = false;
  private readonly prepared: boolean;

  constructor(
    private readonly client: ClientBase,
    { prepared = false }: ConnectionOptions = {},
  ) {
    this.prepared = prepared;
  }

  /** Returns the rows. */
  async query<Rows>(text: string, values: unknown[]): Promise<Rows> {
    const isPrepared = this.prepared && canPrepare;
    try {
      const { rows } = await this.client.query(isPrepared ? { text, values, name: nameOf(text) } : { text, values });
      return rows as Rows;
    } catch (error) {
      if (isPrepared && isLostStatement(error)) canPrepare = false;
      throw isSocketFailure(error) ? new DatabaseConnectionError(error) : error;
    }
  }

  /** Runs `work` in a transaction (READ COMMITTED), or in the current one, and returns its result after the commit. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    if (this.inTransaction) return work();
    await this.client.query('BEGIN');
    this.inTransaction = true;
    try {
      const result = await work();
      await this.client.query('COMMIT');
      return result;
    } catch (error) {
      // The first error is the one to report. A lost connection has nothing to roll back.
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw isSocketFailure(error) ? new DatabaseConnectionError(error) : error;
    } finally {
      this.inTransaction = false;
    }
  }

  /** Runs the statements in one transaction and returns the rows of the last one. */
  inSequence<Rows>(...statements: readonly Statement[]): Promise<Rows> {
    return this.transaction(async () => {
      let rows: unknown;
      for (const [sql, parameters] of statements) rows = await this.query<unknown>(sql, parameters);
      return rows as Rows;
    });
  }
}

function nameOf(sql: string): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    name = `hb_${statementNames.size}`;
    statementNames.set(sql, name);
  }
  return name;
}

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
