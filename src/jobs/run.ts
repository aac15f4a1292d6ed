import type { EntityManager } from 'typeorm';
import type { Claimed, DueRows, Leased } from './due-rows.repository.js';

/** When a row is due again: never (`done`), after a while, or at an instant. */
export type Next = 'done' | { readonly afterMs: number } | { readonly at: Date };

/** Columns that are written with a change of the row: name to value. Objects are written as JSON. */
export type Changes = Readonly<Record<string, unknown>>;

/** This run no longer owns its row: another instance has it, or it is no longer due. The run must write nothing more. */
export class LeaseLostError extends Error {
  constructor(kind: string) {
    super(`the lease of a row of ${kind} was lost`);
    this.name = 'LeaseLostError';
  }
}

/** The reason of `run.signal` when the service stops. The row is released and is due at once. */
export class StoppingError extends Error {
  constructor() {
    super('the service is stopping');
    this.name = 'StoppingError';
  }
}

/** One leased row while it is processed. Every write is fenced: it happens only while this run holds the lease. */
export class Run<Row extends object = object> implements Leased<Row> {
  readonly row: Row;
  /** From 1: the number of attempts since the row last succeeded, this one included. */
  readonly attempt: number;
  /** For the caller's own SQL: `WHERE … AND lease_token = $n`. */
  readonly leaseToken: string;
  private finished = false;

  constructor(
    private readonly dueRows: DueRows,
    claimed: Claimed,
    /** Aborted when the lease is lost (`LeaseLostError`) or the service stops (`StoppingError`). */
    readonly signal: AbortSignal,
    private readonly onWaits: (isWaiting: boolean) => void = () => undefined,
  ) {
    this.row = claimed.row as Row;
    this.attempt = claimed.attempt;
    this.leaseToken = claimed.leaseToken;
  }

  get isFinished(): boolean {
    return this.finished;
  }

  /**
   * Says that the run waits for somebody else, such as a host that sends nothing, or that it works again. A run that waits
   * leaves its place to another one, so that a few hosts that hang cannot stop the work with all others.
   */
  waits(isWaiting: boolean): void {
    this.onWaits(isWaiting);
  }

  /** Writes columns of the row and keeps the lease. Throws `LeaseLostError`. */
  async update(set: Changes, manager?: EntityManager): Promise<void> {
    await this.dueRows.update(this, set, manager);
  }

  /**
   * Locks the row until the end of the caller's transaction, or throws `LeaseLostError`. For writes to other tables that
   * must not happen after another instance has claimed the row: a locked row cannot be claimed.
   */
  async hold(manager: EntityManager): Promise<void> {
    await this.dueRows.hold(this, manager);
  }

  /**
   * The last write of the run: sets columns and the next due time, and releases the lease. Can be part of the caller's
   * transaction. Throws `LeaseLostError`.
   */
  async finish(next: Next, set: Changes = {}, manager?: EntityManager): Promise<void> {
    await this.dueRows.finish(this, next, set, manager);
    this.finished = true;
  }
}
