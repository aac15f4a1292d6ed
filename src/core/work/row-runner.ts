import type { Logger } from '@nestjs/common';
import { storableText } from '../../contracts/common/text.js';
import { outageOf } from '../database/reason.js';
import { isDatabaseSlow, isDatabaseUnavailable } from '../database/postgres-errors.js';
import { redactText } from '../observability/redaction.js';
import { DEFAULT_BACKOFF, retryDelayMs } from '../outbound/backoff.js';
import type { DueRows } from './due-rows.repository.js';
import type { LoggedStatements } from './logged-statements.js';
import { type Next, RowLostError, type Run, StoppingError } from './run.js';
import type { WorkKind } from './work-kind.js';

const MAX_LENGTH = 1_000;

interface FailureSentence {
  readonly text: string;
  readonly expected: boolean;
  /** The log already has the cause. */
  readonly isLogged?: boolean;
  /** For the log, of an unexpected error only. */
  readonly stack?: string;
}

/**
 * The text of an error that a row stores for an admin. An error with `expected: true`, such as a partner's failure, has a
 * message that is a sentence already. An unavailable database is expected as well; a slow statement may be our fault.
 * Secrets are removed, and query strings of URLs, because a URL may be signed.
 */
export function failureSentence(error: unknown): FailureSentence {
  const message = error instanceof Error ? error.message : String(error);
  // PostgreSQL stores no U+0000: with one the error itself could not be stored.
  const text = redactText(storableText(message)).slice(0, MAX_LENGTH);
  if (hasFlag(error, 'expected')) {
    return { text, expected: true, ...(hasFlag(error, 'isLogged') ? { isLogged: true } : {}) };
  }
  if (isDatabaseUnavailable(error) && !isDatabaseSlow(error)) {
    return { text: `The database was unavailable (${outageOf(error)}): ${text}`, expected: true };
  }
  return {
    text: `An unexpected error happened: ${text}`,
    expected: false,
    ...(error instanceof Error && error.stack !== undefined ? { stack: redactText(error.stack) } : {}),
  };
}

/** Logs one line: a warning for an expected failure, an error with its stack for an unexpected one. */
export function logFailure(
  logger: Logger,
  subject: string,
  { text, expected, isLogged, stack }: FailureSentence,
): void {
  const line = `${subject}: ${text}`;
  if (isLogged === true) logger.debug(line);
  else if (expected) logger.warn(line);
  else logger.error(line, stack);
}

function hasFlag(error: unknown, name: 'expected' | 'isLogged'): boolean {
  return typeof error === 'object' && error !== null && (error as Partial<Record<string, unknown>>)[name] === true;
}

/** Processes one row, and writes how its run ended. */
export class RowRunner {
  private readonly kind: WorkKind;

  constructor(
    private readonly dueRows: DueRows,
    private readonly logger: Logger,
    private readonly statements: LoggedStatements,
  ) {
    this.kind = dueRows.kind;
  }

  /** Never rejects. Returns whether the end of the run was written. */
  async perform(run: Run): Promise<boolean> {
    if (run.attempt > (this.kind.attempts?.max ?? Infinity)) {
      return this.settle('give up', () => this.giveUp(run, ENDED_WITH_PROCESS));
    }
    try {
      const next = await this.kind.run(run);
      return run.isFinished || (await this.settle('finish', () => this.conclude(run, next)));
    } catch (error) {
      return this.settle('record', () => this.record(error, run));
    }
  }

  private async settle(what: string, write: () => Promise<void>): Promise<boolean> {
    const isSettled = await this.statements.attempt(what, async () => {
      await write();
      return true;
    });
    return isSettled === true;
  }

  /** Records the success of a run that did not call `finish`. Does nothing if the row was lost. */
  private async conclude(run: Run, next: Next): Promise<void> {
    await run.finish(next).catch((error: unknown) => {
      if (!(error instanceof RowLostError)) throw error;
    });
  }

  /**
   * Also for a finished run, because its transaction may have been rolled back. If it was not, the row is no longer as the
   * run has started it, and nothing is written.
   */
  private async record(error: unknown, run: Run): Promise<void> {
    const abortReason: unknown = run.signal.reason;
    if (abortReason instanceof StoppingError) return this.dueRows.release(run);
    if (error instanceof RowLostError || abortReason instanceof RowLostError) return;
    const sentence = failureSentence(error);
    logFailure(this.logger, describeKey(run, this.kind), sentence);
    const { attempts, backoff = DEFAULT_BACKOFF } = this.kind;
    const isAttempt = countsAsAttempt(error);
    if (isAttempt && run.attempt >= (attempts?.max ?? Infinity)) return this.giveUp(run, sentence.text);
    const delayMs = retryDelayMs(error, backoff, run.attempt, new Date(), Math.random());
    await this.dueRows.fail(run, { lastError: sentence.text, delayMs, isAttempt });
  }

  /** Ends the row for good. If this fails, the next start of the row gives it up. */
  private async giveUp(run: Run, lastError: string): Promise<void> {
    const { attempts } = this.kind;
    if (attempts === undefined) return;
    const reason = `${lastError} Gave up after ${attempts.max} ${attempts.max === 1 ? 'attempt' : 'attempts'}.`;
    this.logger.warn(`${describeKey(run, this.kind)}: ${reason}`);
    try {
      await attempts.giveUp(run, reason);
    } catch (error) {
      if (error instanceof RowLostError) return;
      throw error;
    }
    // A `giveUp` that did not finish the run must not cause another attempt.
    if (!run.isFinished) await this.dueRows.fail(run, { lastError: reason, delayMs: null, isAttempt: true });
  }
}

/** An error with `isAttempt: false` does not count, nor does an unavailable database, which is no fault of the row. */
function countsAsAttempt(error: unknown): boolean {
  if (isDatabaseUnavailable(error) && !isDatabaseSlow(error)) return false;
  return typeof error !== 'object' || error === null || !('isAttempt' in error) || error.isAttempt !== false;
}

const ENDED_WITH_PROCESS = 'The process ended during the last attempt.';

function describeKey({ row }: Run, kind: WorkKind): string {
  return Object.keys(kind.key)
    .map((column) => (row as Record<string, unknown>)[column])
    .join(' ');
}
