import { randomUUID } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { type Connection, onConnection } from '../database/connection.js';
import { isLostStatement, isTransient } from '../database/postgres-errors.js';
import { type ClaimSql, claimSql, type DueRowsSql, dueRowsSql } from './due-rows.sql.js';
import { LeaseLost } from './lease-lost.js';
import { identifier, LEASE_MS, type WorkKind } from './work-kind.js';

/** When a row is due again: never (`done`), after a while, or at an instant. */
export type Next = 'done' | { readonly afterMs: number } | { readonly at: Date };

/** What is written with a move of the row: column to value. Objects are written as JSON. */
export type Changes = Readonly<Record<string, unknown>>;

/** A row that is leased to this process. */
export interface Leased<Row extends object = object> {
  readonly row: Row;
  readonly leaseToken: string;
}

export interface Claimed extends Leased {
  /** From 1: how often the row was tried since it last succeeded, this time included. */
  readonly attempt: number;
}

/** Every statement over the due rows of one kind of work. Time is the database's: instances need not agree about it. */
export class DueRows {
  private readonly sql: DueRowsSql;
  private readonly claiming: ClaimSql;

  constructor(
    private readonly dataSource: DataSource,
    readonly kind: WorkKind,
  ) {
    this.sql = dueRowsSql(kind);
    this.claiming = claimSql(kind);
  }

  /** For how long a claim or a renewal lasts. */
  get leaseMs(): number {
    return this.kind.leaseMs ?? LEASE_MS;
  }

  /** At most `limit` due rows, in the kind's order, leased from now on. */
  async claim(limit: number): Promise<Claimed[]> {
    const leaseToken = randomUUID();
    const parameters = [limit, this.leaseMs, leaseToken];
    const rows = this.claiming.serialised
      ? await this.claimAlone(parameters)
      : await this.query<ClaimedRow[]>(this.claiming.text, parameters);
    return rows.map(({ due_row_attempts, ...row }) => ({ row, leaseToken, attempt: due_row_attempts }));
  }

  /** For how long the oldest row has been due that nobody has in work, in seconds; 0 where none is. */
  async oldestDue(): Promise<number> {
    const [row] = await this.query<{ seconds: number | null }[]>(this.sql.oldest, []);
    return row?.seconds ?? 0;
  }

  /** Renews what is still ours and returns it; what is missing in the answer was lost. */
  async renew<L extends Leased>(leased: readonly L[]): Promise<Set<L>> {
    const rows = await this.dataSource.query<{ place: number }[]>(this.sql.renew, [this.leaseMs, ...this.held(leased)]);
    return new Set(rows.map(({ place }) => leased[place - 1]).filter((lease) => lease !== undefined));
  }

  /** After a failure: its sentence stays with the row. What was lost meanwhile is left alone. */
  async fail(leased: Leased, lastError: string, delayMs: number): Promise<void> {
    await this.dataSource.query(this.sql.fail, [lastError, delayMs, ...this.held([leased])]);
  }

  /** Unfinished work, at a stop: still due, and this try does not count. */
  async giveBack(leased: readonly Leased[]): Promise<void> {
    await this.dataSource.query(this.sql.giveBack, this.held(leased));
  }

  /** Success of a row whose run has written no last move itself. What was lost meanwhile is left alone. */
  async conclude(leased: Leased, next: Next): Promise<void> {
    await this.finish(leased, next, {}).catch((error: unknown) => {
      if (!(error instanceof LeaseLost)) throw error;
    });
  }

  /** Success, with changes of the row's other columns. Throws `LeaseLost`. */
  async finish(leased: Leased, next: Next, set: Changes, manager?: EntityManager): Promise<void> {
    const released = {
      due_at: NEXT_DUE,
      leased_until: 'NULL',
      lease_token: 'NULL',
      attempts: '0',
      last_error: 'NULL',
    };
    await this.write(leased, released, nextDue(next), set, manager);
  }

  /** Changes of a row that stays leased. Throws `LeaseLost`. */
  async update(leased: Leased, set: Changes, manager?: EntityManager): Promise<void> {
    await this.write(leased, {}, [], set, manager);
  }

  /** Locks the row until the end of the transaction. Throws `LeaseLost`. */
  async hold(leased: Leased, manager: EntityManager): Promise<void> {
    const { condition, values } = this.mine(leased, 0);
    const rows = await manager.query<unknown[]>(
      `SELECT 1 FROM ${this.sql.table} WHERE ${condition} FOR UPDATE`,
      values,
    );
    if (rows.length === 0) throw new LeaseLost(this.kind.name);
  }

  /** Under a lock, and the claim in a statement of its own: what is leased must be counted after the wait for it. */
  private claimAlone(parameters: unknown[]): Promise<ClaimedRow[]> {
    const lock = [`due rows: ${this.kind.name}`];
    return this.connected((connection) => connection.inOneGo([LOCK, lock], [this.claiming.text, parameters]));
  }

  private async write(
    leased: Leased,
    expressions: Readonly<Record<string, string>>,
    parameters: readonly unknown[],
    set: Changes,
    manager: EntityManager | undefined,
  ): Promise<void> {
    const given = Object.entries(set);
    const columns = new Map(Object.entries(expressions));
    given.forEach(([column], i) => columns.set(column, `$${parameters.length + i + 1}`));
    const before = [...parameters, ...given.map(([, value]) => value)];
    const { condition, values } = this.mine(leased, before.length);
    const assignments = [...columns].map(([column, expression]) => `${identifier(column)} = ${expression}`);
    const sql = `UPDATE ${this.sql.table} SET ${assignments.join(', ')} WHERE ${condition}`;
    if ((await this.affected(sql, [...before, ...values], manager)) === 0) throw new LeaseLost(this.kind.name);
  }

  private async affected(sql: string, parameters: unknown[], manager: EntityManager | undefined): Promise<number> {
    if (manager === undefined) return (await this.query<unknown[]>(`${sql} RETURNING 1`, parameters)).length;
    const [, affected] = await manager.query<[unknown[], number]>(sql, parameters);
    return affected;
  }

  /** Prepared: which columns a kind of work writes is in the code, and so there are few texts. */
  private query<Rows>(sql: string, parameters: unknown[]): Promise<Rows> {
    return this.connected((connection) => connection.query<Rows>(sql, parameters));
  }

  /** Once more where nothing was done: after a deadlock, or where a pooler in between has lost a prepared statement. */
  private async connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await onConnection(this.dataSource, work);
    } catch (error) {
      if (!isTransient(error) && !isLostStatement(error)) throw error;
      return onConnection(this.dataSource, work);
    }
  }

  private mine({ row, leaseToken }: Leased, before: number): { condition: string; values: unknown[] } {
    const columns = [...Object.keys(this.kind.key), 'lease_token'];
    return {
      condition: columns.map((column, i) => `${column} = $${before + i + 1}`).join(' AND '),
      values: [...this.keyOf(row), leaseToken],
    };
  }

  /** Parameters of the leased rows: one array for each key column, then the tokens. */
  private held(leased: readonly Leased[]): unknown[] {
    const keys = leased.map(({ row }) => this.keyOf(row));
    return [
      ...Object.keys(this.kind.key).map((_, column) => keys.map((key) => key[column])),
      leased.map(({ leaseToken }) => leaseToken),
    ];
  }

  private keyOf(row: object): unknown[] {
    return Object.keys(this.kind.key).map((column) => (row as Record<string, unknown>)[column]);
  }
}

const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

type ClaimedRow = object & { due_row_attempts: number };

/** $1 an instant, or $2 a delay in milliseconds, or neither. */
const NEXT_DUE = `coalesce($1::timestamptz, clock_timestamp() + $2::float8 * interval '1 ms')`;

/** The two parameters of `NEXT_DUE`. */
function nextDue(next: Next): [Date | null, number | null] {
  if (next === 'done') return [null, null];
  return 'at' in next ? [next.at, null] : [null, next.afterMs];
}
