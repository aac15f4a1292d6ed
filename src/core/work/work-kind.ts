import type { Backoff } from '../outbound/backoff.js';
import type { Next, Run } from './run.js';

type KeyType = 'uuid' | 'text' | 'timestamptz';

/**
 * One kind of scheduled work as a literal: the rows of a table, their lanes, and the function that processes one row, which has
 * all columns with their values before the start. All names and SQL fragments are constants of the code. The table has the columns
 * `due_at timestamptz, started_at timestamptz, attempts integer NOT NULL DEFAULT 0, last_error text`, an index over `due_at`
 * and one over the column of the lane and `order`, both `WHERE due_at IS NOT NULL`. `started_at` says since when a row is
 * worked on. Code that cancels a row from outside a run sets it to null: the current run can then write nothing more.
 */
export interface WorkKind<Row extends object = object> {
  /** Unique in the process. Used in logs, metrics and `WorkService.runDue`. */
  readonly name: string;
  readonly table: string;
  /** The primary key: column to type, in the order of the key. */
  readonly key: Readonly<Record<string, KeyType>>;
  /** SQL condition over the table's columns that selects the rows of this kind. Default: all rows. */
  readonly where?: string;
  readonly lane: {
    /** The column of type uuid whose value names the lane. It is NOT NULL. */
    readonly by: string;
    /** Maximum number of concurrent runs of a lane. One instance owns it, so this is the limit over all instances. */
    readonly concurrency: number;
  };
  /** The column that orders the due rows, ascending. Default: `due_at`. */
  readonly order?: string;
  /**
   * For a table that may have too many due rows to read them all at each tick: a SELECT of the lanes with due rows. `lane` is
   * text, the lane with the lowest `urgency` comes first, and `waiting_since` is the `due_at` of a row that nobody works on.
   */
  readonly lanesSql?: string;
  /** Maximum number of lanes that this instance works on at once. Default: 64, for runs that mostly wait for partners. */
  readonly lanes?: number;
  readonly backoff?: Backoff;
  /**
   * The cap on attempts and the final state behind it (decision 54). Only a recurring kind has none: its rows stay
   * scheduled, and each of its occurrences has a cap of its own.
   */
  readonly attempts?: AttemptLimit<Row>;
  /** Its runs call partners or fetch their files: nothing is started while that is switched off. */
  readonly callsPartners?: true;
  /** While it returns false nothing is started, so no row loses an attempt. */
  canStart?(): boolean;
  /**
   * Processes the row and returns when it is due again. A thrown error is stored in the row, and the row is due again by
   * `backoff` or by the error's own advice. The process can be killed at any line, and the row is then run again.
   */
  run(run: Run<Row>): Promise<Next>;
}

export interface AttemptLimit<Row extends object = object> {
  /**
   * Attempts in a row that may fail. `run.finish` and a successful run start the count again. An attempt that ended
   * because the service stopped, because our database was unavailable, or by an error with `isAttempt: false` does not
   * count. A run that ended with its process does.
   */
  readonly max: number;
  /**
   * Writes the final state and `reason` (one sentence for an admin) by `run.finish`. It is called after the last attempt
   * failed, or in place of one more attempt if the process ended during the last one. It is called again if it throws.
   */
  giveUp(run: Run<Row>, reason: string): Promise<void>;
}

/** Returns a name that is safe in SQL, or throws. All names are constants, and this keeps it so. */
export function identifier(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a table or column`);
  return name;
}
