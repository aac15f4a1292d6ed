import type { Sql } from '../database/sql.js';

/** When a row is due again: never (`done`), after a while, or at an instant. */
export type Next = 'done' | { readonly afterMs: number } | { readonly at: Date };

/** Columns that are written with a change of the row: name to value. Objects are written as JSON. */
export type Changes = Readonly<Record<string, unknown>>;

/** This run no longer owns its row: another instance has it, or it is no longer due. The run must write nothing more. */
export class RowLostError extends Error {
  constructor(kind: string) {
    super(`a row of ${kind} was lost to another instance, or cancelled`);
    this.name = 'RowLostError';
  }
}

/** The reason of `run.signal` when the service stops. The row is released and is due at once. */
export class StoppingError extends Error {
  constructor() {
    super('the service is stopping');
    this.name = 'StoppingError';
  }
}

/** A row on which this instance works. */
export interface Started {
  readonly row: object;
  /** Its primary key, as PostgreSQL reads it. */
  readonly key: readonly string[];
  /** The state that was read: every write of the run happens only while the row has it. */
  readonly startedAt: string;
  /** From 1: the number of attempts since the row last succeeded, this one included. */
  readonly attempt: number;
}

/** The statements of a run. Each throws `RowLostError` where the row is no longer as it was started. */
export interface RowWrites {
  finish(started: Started, next: Next, set: Changes, transaction?: Sql): Promise<void>;
  update(started: Started, set: Changes, transaction?: Sql): Promise<void>;
  hold(started: Started, transaction: Sql): Promise<void>;
}

/** One row while it is processed. Every write happens only while the row is as this run has started it. */
export class Run<Row extends object = object> implements Started {
  readonly row: Row;
  readonly key: readonly string[];
  readonly startedAt: string;
  /** From 1: the number of attempts since the row last succeeded, this one included. */
  readonly attempt: number;
  private finished = false;

  constructor(
    private readonly dueRows: RowWrites,
    started: Started,
    /** Aborted when the lane is lost (`RowLostError`) or the service stops (`StoppingError`). */
    readonly signal: AbortSignal,
  ) {
    this.row = started.row as Row;
    this.key = started.key;
    this.startedAt = started.startedAt;
    this.attempt = started.attempt;
  }

  get isFinished(): boolean {
    return this.finished;
  }

  /** Writes columns of the row, which is still worked on. Throws `RowLostError`. */
  async update(set: Changes, transaction?: Sql): Promise<void> {
    this.throwIfLost();
    await this.dueRows.update(this, set, transaction);
  }

  /**
   * Locks the row until the end of the caller's transaction, or throws `RowLostError`. For writes to other tables that must
   * not happen after another instance has started the row: a locked row cannot be started.
   */
  async hold(transaction: Sql): Promise<void> {
    this.throwIfLost();
    await this.dueRows.hold(this, transaction);
  }

  /**
   * The last write of the run: sets columns and the next due time. Can be part of the caller's transaction. Throws
   * `RowLostError`.
   */
  async finish(next: Next, set: Changes = {}, transaction?: Sql): Promise<void> {
    this.throwIfLost();
    await this.dueRows.finish(this, next, set, transaction);
    this.finished = true;
  }

  /** The row alone does not show it: the new owner may not have started the row yet. */
  private throwIfLost(): void {
    const reason: unknown = this.signal.reason;
    if (reason instanceof RowLostError) throw reason;
  }
}
