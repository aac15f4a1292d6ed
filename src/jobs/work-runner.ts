import { Logger } from '@nestjs/common';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';
import { DEFAULT_BACKOFF, retryDelayMs } from './backoff.js';
import type { Claimed, DueRows } from './due-rows.js';
import { failureSentence, logFailure } from './failure-sentence.js';
import { LeaseLost, Stopping } from './lease-lost.js';
import { Run } from './run.js';
import type { WorkKind } from './work-kind.js';

interface InWork {
  readonly run: Run;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  renewedAt: number;
}

/** Claims the due rows of one kind and runs them, never more at once than the kind says. */
export class WorkRunner {
  private readonly logger: Logger;
  private readonly inWork = new Set<InWork>();
  private claiming: Promise<void> | undefined;
  private wanted = false;
  private stopped = false;
  private faults = new Set<string>();

  constructor(private readonly dueRows: DueRows) {
    this.logger = new Logger(`Jobs ${dueRows.kind.name}`);
  }

  get kind(): WorkKind {
    return this.dueRows.kind;
  }

  /** Two renewals may fail before a lease is lost. */
  get heartbeatMs(): number {
    return this.dueRows.leaseMs / 3;
  }

  /** Rows in work in this instance. */
  get running(): number {
    return this.inWork.size;
  }

  /** For how long the oldest row has been due, in seconds. */
  oldestDue(): Promise<number> {
    return this.dueRows.oldestDue();
  }

  /**
   * Claims what is due now; never rejects. While another call is claiming, this one only waits for that claim to end,
   * and the other then asks once more.
   */
  async tick(): Promise<void> {
    this.wanted = true;
    while (this.claiming === undefined && this.wanted && !this.stopped) {
      this.wanted = false;
      this.claiming = this.fill().finally(() => (this.claiming = undefined));
      await this.claiming;
    }
    await this.claiming;
  }

  /** Renews the leases of everything in work by one statement, and stops what is no longer ours. */
  async heartbeat(): Promise<void> {
    const works = [...this.inWork].filter(({ run }) => !run.isFinished);
    if (works.length === 0) return;
    const asked = Date.now();
    const held = await this.recover('renew', () => this.dueRows.renew(works.map(({ run }) => run)));
    for (const work of works) {
      const lost =
        held === undefined
          ? Date.now() - work.renewedAt > this.dueRows.leaseMs
          : !work.run.isFinished && !held.has(work.run);
      if (lost) work.abort.abort(new LeaseLost(this.kind.name));
      else if (held !== undefined) work.renewedAt = asked;
    }
  }

  /** Claims nothing more. */
  stopClaiming(): void {
    this.stopped = true;
  }

  /** Waits for what is in work, then aborts it, then gives back what still has not ended: each in milliseconds. */
  async drain(graceMs: number, abortMs: number): Promise<void> {
    this.stopped = true;
    await this.claiming;
    await this.ended(graceMs);
    for (const { abort } of this.inWork) abort.abort(new Stopping());
    await this.ended(abortMs);
    const left = [...this.inWork].map(({ run }) => run);
    if (left.length > 0) await this.recover('give back', () => this.dueRows.giveBack(left));
  }

  /** One claim: whatever ends asks again. */
  private async fill(): Promise<void> {
    const free = this.kind.concurrency - this.inWork.size;
    if (free <= 0 || this.kind.mayClaim?.() === false) return;
    const claimed = await this.recover('claim', () => this.dueRows.claim(free));
    for (const row of claimed ?? []) this.start(row);
  }

  private start(claimed: Claimed): void {
    const abort = new AbortController();
    const run = new Run(this.dueRows, claimed, abort.signal);
    const work: InWork = {
      run,
      abort,
      renewedAt: Date.now(),
      // Not before this turn has ended: `work` must be in the set when its end takes it out.
      ended: Promise.resolve()
        .then(() => this.perform(run))
        .finally(() => {
          this.inWork.delete(work);
          void this.tick();
        }),
    };
    this.inWork.add(work);
  }

  private async perform(run: Run): Promise<void> {
    try {
      const next = await this.kind.run(run);
      if (!run.isFinished) await this.recover('finish', () => this.dueRows.conclude(run, next));
    } catch (error) {
      await this.recover('record', () => this.record(error, run));
    }
  }

  /** Of a finished run too: its finish may have been rolled back, and if not, its lease is gone. */
  private async record(error: unknown, run: Run): Promise<void> {
    const reason: unknown = run.signal.reason;
    if (reason instanceof Stopping) return this.dueRows.giveBack([run]);
    if (error instanceof LeaseLost || reason instanceof LeaseLost) return;
    const sentence = failureSentence(error);
    const rule = this.kind.backoff ?? DEFAULT_BACKOFF;
    const delayMs = retryDelayMs(error, rule, run.attempt, new Date(), Math.random());
    logFailure(this.logger, describe(run, this.kind), sentence);
    await this.dueRows.fail(run, sentence.text, delayMs);
  }

  private async ended(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([Promise.all([...this.inWork].map((work) => work.ended)), timeout]);
    clearTimeout(timer);
  }

  /**
   * A statement that fails never ends the loop: the lease runs out, and the row is claimed again. Said once, until it
   * works again.
   */
  private async recover<T>(what: string, statement: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await statement();
      if (this.faults.delete(what)) this.logger.log(`can ${what} again`);
      return result;
    } catch (error) {
      if (!this.faults.has(what)) {
        const away = isDatabaseUnavailable(error);
        if (away) this.logger.warn(`cannot ${what}: the database is away`);
        else this.logger.error({ err: error }, `cannot ${what}`);
      }
      this.faults.add(what);
      return undefined;
    }
  }
}

/** The row's key. */
function describe({ row }: Run, kind: WorkKind): string {
  return Object.keys(kind.key)
    .map((column) => (row as Record<string, unknown>)[column])
    .join(' ');
}
