import { Logger } from '@nestjs/common';
import { inBackground } from '../errors/background.js';
import { isDatabaseSlow, isDatabaseUnavailable } from '../database/postgres-errors.js';
import { DEFAULT_BACKOFF, retryDelayMs } from './backoff.js';
import type { Claimed, DueRows } from './due-rows.repository.js';
import { failureSentence, logFailure } from './failure-sentence.js';
import type { JobKind } from './job-kind.js';
import { LeaseLostError, Run, StoppingError } from './run.js';

/** Runs at once, including those that wait, for each place of the kind. */
const MAX_RUNS_PER_PLACE = 16;

/** How long a claim waits for further runs to end. */
const GATHER_MS = 10;

interface RunningJob {
  readonly run: Run;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  renewedAt: number;
  isWaiting: boolean;
}

/** Claims the due rows of one kind and runs them, up to the concurrency of the kind. */
export class JobRunner {
  private readonly logger: Logger;
  private readonly jobs = new Set<RunningJob>();
  private claiming: Promise<void> | undefined;
  private isClaimWanted = false;
  private stopped = false;
  private claimTimer: NodeJS.Timeout | undefined;
  /** A failed statement never ends the loop: the lease expires, and the row is claimed again. */
  private readonly statements: LoggedStatements;

  constructor(private readonly dueRows: DueRows) {
    this.logger = new Logger(`Jobs ${dueRows.kind.name}`);
    this.statements = new LoggedStatements(this.logger);
  }

  get kind(): JobKind {
    return this.dueRows.kind;
  }

  /** A third of the lease: two renewals may fail before the lease is lost. */
  get heartbeatMs(): number {
    return this.dueRows.leaseMs / 3;
  }

  /** The number of rows that this instance is processing. */
  get running(): number {
    return this.jobs.size;
  }

  /**
   * Claims and starts what is due; never rejects. A call during another call's claim waits for that claim, after which
   * the other call claims once more.
   */
  async tick(): Promise<void> {
    this.isClaimWanted = true;
    while (this.claiming === undefined && this.isClaimWanted && !this.stopped) {
      this.isClaimWanted = false;
      this.claiming = this.claim().finally(() => (this.claiming = undefined));
      await this.claiming;
    }
    await this.claiming;
  }

  /** Renews all leases by one statement, and aborts the runs whose lease was lost. */
  async heartbeat(): Promise<void> {
    const jobs = [...this.jobs].filter(({ run }) => !run.isFinished);
    if (jobs.length === 0) return;
    const startedAt = Date.now();
    const renewed = await this.statements.attempt('renew', () => this.dueRows.renew(jobs.map(({ run }) => run)));
    for (const job of jobs) {
      const isLost =
        renewed === undefined
          ? Date.now() - job.renewedAt > this.dueRows.leaseMs
          : !job.run.isFinished && !renewed.has(job.run);
      if (isLost) job.abort.abort(new LeaseLostError(this.kind.name));
      else if (renewed !== undefined) job.renewedAt = startedAt;
    }
  }

  stopClaiming(): void {
    this.stopped = true;
  }

  /** Waits `graceMs` for the running jobs, aborts the rest, waits `abortMs`, and releases the rows of the jobs that still run. */
  async drain(graceMs: number, abortMs: number): Promise<void> {
    this.stopped = true;
    clearTimeout(this.claimTimer);
    await this.claiming;
    await this.allEnded(graceMs);
    for (const { abort } of this.jobs) abort.abort(new StoppingError());
    await this.allEnded(abortMs);
    const remaining = [...this.jobs].map(({ run }) => run);
    if (remaining.length > 0) await this.statements.attempt('release', () => this.dueRows.release(remaining));
  }

  private async claim(): Promise<void> {
    const free = this.freePlaces();
    if (free <= 0 || this.kind.canClaim?.() === false) return;
    const claimed = await this.statements.attempt('claim', () => this.dueRows.claim(free));
    for (const row of claimed ?? []) this.start(row);
  }

  private freePlaces(): number {
    const { concurrency } = this.kind;
    const working = [...this.jobs].filter(({ isWaiting }) => !isWaiting).length;
    return Math.min(concurrency - working, concurrency * MAX_RUNS_PER_PLACE - this.jobs.size);
  }

  private start(claimed: Claimed): void {
    const abort = new AbortController();
    const run = new Run(this.dueRows, claimed, abort.signal, (isWaiting) => {
      job.isWaiting = isWaiting;
      if (isWaiting) this.claimSoon();
    });
    const job: RunningJob = {
      run,
      abort,
      renewedAt: Date.now(),
      isWaiting: false,
      // In a later microtask: the job must be in the set before its end removes it.
      ended: Promise.resolve()
        .then(() => this.perform(run))
        .finally(() => {
          this.jobs.delete(job);
          this.claimSoon();
        }),
    };
    this.jobs.add(job);
  }

  /** Runs often end together. One claim for several of them costs the database much less than one for each. */
  private claimSoon(): void {
    this.claimTimer ??= setTimeout(() => {
      this.claimTimer = undefined;
      inBackground(this.tick());
    }, GATHER_MS);
  }

  private async perform(run: Run): Promise<void> {
    if (run.attempt > (this.kind.attempts?.max ?? Infinity)) {
      await this.statements.attempt('give up', () => this.giveUp(run, ENDED_WITH_PROCESS));
      return;
    }
    const { waitsAfterMs } = this.kind;
    const timer = waitsAfterMs === undefined ? undefined : setTimeout(() => run.waits(true), waitsAfterMs);
    try {
      const next = await this.kind.run(run);
      if (!run.isFinished) await this.statements.attempt('finish', () => this.dueRows.conclude(run, next));
    } catch (error) {
      await this.statements.attempt('record', () => this.record(error, run));
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Also for a finished run, because its transaction may have been rolled back. If it was not, the run has no lease, and
   * nothing is written.
   */
  private async record(error: unknown, run: Run): Promise<void> {
    const abortReason: unknown = run.signal.reason;
    if (abortReason instanceof StoppingError) return this.dueRows.release([run]);
    if (error instanceof LeaseLostError || abortReason instanceof LeaseLostError) return;
    const sentence = failureSentence(error);
    logFailure(this.logger, describeKey(run, this.kind), sentence);
    const { attempts, backoff = DEFAULT_BACKOFF } = this.kind;
    const isAttempt = countsAsAttempt(error);
    if (isAttempt && run.attempt >= (attempts?.max ?? Infinity)) return this.giveUp(run, sentence.text);
    const delayMs = retryDelayMs(error, backoff, run.attempt, new Date(), Math.random());
    await this.dueRows.fail(run, { lastError: sentence.text, delayMs, isAttempt });
  }

  /** Ends the row for good. If this fails the lease expires, and the next claim of the row gives it up. */
  private async giveUp(run: Run, lastError: string): Promise<void> {
    const { attempts } = this.kind;
    if (attempts === undefined) return;
    const reason = `${lastError} Gave up after ${attempts.max} ${attempts.max === 1 ? 'attempt' : 'attempts'}.`;
    this.logger.warn(`${describeKey(run, this.kind)}: ${reason}`);
    try {
      await attempts.giveUp(run, reason);
    } catch (error) {
      if (error instanceof LeaseLostError) return;
      throw error;
    }
    // A `giveUp` that did not finish the run must not cause another attempt.
    if (!run.isFinished) await this.dueRows.fail(run, { lastError: reason, delayMs: null, isAttempt: true });
  }

  private async allEnded(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([Promise.all([...this.jobs].map((job) => job.ended)), timeout]);
    clearTimeout(timer);
  }
}

/** Runs statements that must not end a loop. A failure is logged once until the statement succeeds again. */
export class LoggedStatements {
  private readonly failing = new Set<string>();

  constructor(private readonly logger: Logger) {}

  /** `what` follows "cannot" in the log. Returns undefined after a failure. */
  async attempt<T>(what: string, statement: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await statement();
      if (this.failing.delete(what)) this.logger.log(`can ${what} again`);
      return result;
    } catch (error) {
      if (!this.failing.has(what)) {
        if (isDatabaseUnavailable(error)) this.logger.warn(`cannot ${what}: the database is unavailable`);
        else this.logger.error({ err: error }, `cannot ${what}`);
      }
      this.failing.add(what);
      return undefined;
    }
  }
}

/** An error with `isAttempt: false` does not count, nor does an unavailable database, which is no fault of the row. */
function countsAsAttempt(error: unknown): boolean {
  if (isDatabaseUnavailable(error) && !isDatabaseSlow(error)) return false;
  return typeof error !== 'object' || error === null || !('isAttempt' in error) || error.isAttempt !== false;
}

const ENDED_WITH_PROCESS = 'The process ended during the last attempt.';

function describeKey({ row }: Run, kind: JobKind): string {
  return Object.keys(kind.key)
    .map((column) => (row as Record<string, unknown>)[column])
    .join(' ');
}
