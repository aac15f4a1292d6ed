import type { Backoff } from './backoff.js';
import type { Next } from './due-rows.js';
import type { Run } from './run.js';

type KeyType = 'uuid' | 'text' | 'bigint' | 'integer';

/**
 * One kind of scheduled work, as a literal: which rows of which table, in which order, how many at once, and what is
 * done with one. All names and pieces of SQL are constants of the code. The table has the columns
 * `due_at timestamptz, leased_until timestamptz, lease_token uuid, attempts integer NOT NULL DEFAULT 0, last_error text`
 * and an index over `order` (after `group.by`, where there is one) `WHERE due_at IS NOT NULL`; with a group, also one
 * over `leased_until WHERE leased_until IS NOT NULL`. Who takes a row off the list from outside sets `due_at` and
 * `lease_token` to null: then the run that has it can write no more.
 */
export interface WorkKind<Row extends object = object> {
  /** Unique in the process; in logs, in metrics, and for `wake`. */
  readonly name: string;
  readonly table: string;
  /** The primary key: column to type, in the order of the key. */
  readonly key: Readonly<Record<string, KeyType>>;
  /** Further columns that `run.row` has, as they were before the claim. */
  readonly columns?: readonly string[];
  /** Which rows are of this kind, as SQL over the table's columns; where absent, all. */
  readonly where?: string;
  /** What is taken first among the due rows: columns, ascending. Default: `due_at`. */
  readonly order?: readonly string[];
  /** What a claim sets besides the lease: column to SQL over the row, which is `t`. */
  readonly claimed?: Readonly<Record<string, string>>;
  /** Runs at once in this instance. */
  readonly concurrency: number;
  /** How often is asked whether something is due. Default 1,000 ms. */
  readonly tickMs?: number;
  /** After a kill, the row is taken over when this has passed. Default 15,000 ms. */
  readonly leaseMs?: number;
  readonly backoff?: Backoff;
  /** At most so many rows of one group (a connection, say) at once, over all instances. The column is NOT NULL. */
  readonly group?: { readonly by: string; readonly concurrency: number };
  /** Asked before each claim. Where it says no nothing is claimed until a later tick: no row loses a try to it. */
  mayClaim?(): boolean;
  /**
   * Does the work; what it returns says when the row is due again. An error is recorded in the row and comes back by
   * `backoff`, or by its own advice. It may be killed at any line and started again.
   */
  run(run: Run<Row>): Promise<Next>;
}

export const TICK_MS = 1_000;
export const LEASE_MS = 15_000;

/** A name that may stand in SQL: they are all constants, and this keeps it so. */
export function identifier(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a table or column`);
  return name;
}
