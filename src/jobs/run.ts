import type { EntityManager } from 'typeorm';
import type { Changes, Claimed, DueRows, Leased, Next } from './due-rows.js';

/** One leased row in work. Every write through it is fenced: it happens only while the lease is ours. */
export class Run<Row extends object = object> implements Leased<Row> {
  readonly row: Row;
  /** From 1: how often the row was tried since it last succeeded, this time included. */
  readonly attempt: number;
  /** For SQL of the caller's own: `WHERE … AND lease_token = $n`. */
  readonly leaseToken: string;
  private finished = false;

  constructor(
    private readonly dueRows: DueRows,
    claimed: Claimed,
    /** Aborted when the lease is lost (`LeaseLost`) or the service stops (`Stopping`). */
    readonly signal: AbortSignal,
  ) {
    this.row = claimed.row as Row;
    this.attempt = claimed.attempt;
    this.leaseToken = claimed.leaseToken;
  }

  get isFinished(): boolean {
    return this.finished;
  }

  /** Writes columns of the row and keeps the lease. Throws `LeaseLost`. */
  async update(set: Changes, manager?: EntityManager): Promise<void> {
    await this.dueRows.update(this, set, manager);
  }

  /**
   * Locks the row until the end of the caller's transaction, or throws `LeaseLost`: for writes to other tables that
   * must not happen once another owner has begun. Nobody can take the row over while it is locked.
   */
  async hold(manager: EntityManager): Promise<void> {
    await this.dueRows.hold(this, manager);
  }

  /**
   * The run's last write, within a transaction of the caller's too: columns, next due time, lease given up. Throws
   * `LeaseLost`.
   */
  async finish(next: Next, set: Changes = {}, manager?: EntityManager): Promise<void> {
    await this.dueRows.finish(this, next, set, manager);
    this.finished = true;
  }
}
