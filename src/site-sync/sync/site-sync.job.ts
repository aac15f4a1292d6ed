import { type BeforeApplicationShutdown, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Database } from '../../core/database/database.js';
import { isDatabaseUnavailable, isTransient } from '../../core/database/postgres-errors.js';
import type { Sql } from '../../core/database/sql.js';
import { Sweep } from '../../core/database/sweep.js';
import { type Next, RowLostError, type Run } from '../../core/work/run.js';
import { failureSentence, logFailure } from '../../core/work/row-runner.js';
import { WorkService } from '../../core/work/work.service.js';
import type { WorkKind } from '../../core/work/work-kind.js';
import { Metrics } from '../../core/observability/metrics.js';
import { inCallContext } from '../../core/outbound/outbound-log.js';
import { lockInterval } from '../../partner-client/connections.repository.js';
import { nextRunAfterFailureMs, nextRunMs } from './schedule.rules.js';
import { SiteSync } from './site-sync.service.js';
import { type RunResult, SITE_SYNC_WORK, type StartedRun, SyncRunsRepository } from './sync-runs.repository.js';

/** A run that was interrupted so often ends as failed, because it may be the cause of the interruptions. */
const MAX_ATTEMPTS = 3;

const RETENTION_INTERVAL_MS = 60_000;

class InterruptedRunError extends Error {
  readonly expected = true;

  constructor() {
    super(
      `The run was interrupted ${MAX_ATTEMPTS} times: the service stopped during it, or the database was unavailable or too slow.`,
    );
    this.name = 'InterruptedRunError';
  }
}

interface DueConnection {
  readonly hauler_id: string;
  readonly id: string;
  readonly base_url: string;
  readonly run_requested_at: Date | null;
}

/** Synchronises the site connections that are due (decision 36). */
@Injectable()
export class SiteSyncJob implements OnModuleInit {
  private readonly logger = new Logger('SiteSync');
  private readonly kind: WorkKind<DueConnection> = {
    name: SITE_SYNC_WORK,
    table: 'connections',
    key: { hauler_id: 'uuid', id: 'uuid' },
    where: `interface = 'site' AND deleted_at IS NULL AND (enabled OR run_requested_at IS NOT NULL)`,
    callsPartners: true,
    lane: { by: 'id', concurrency: 1 },
    run: (due) => this.run(due),
  };

  constructor(
    private readonly database: Database,
    private readonly work: WorkService,
    private readonly runs: SyncRunsRepository,
    private readonly sync: SiteSync,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.work.register(this.kind);
  }

  private async run(due: Run<DueConnection>): Promise<Next> {
    const { row, signal } = due;
    const run = await this.fenced(due, (transaction) =>
      this.runs.start(transaction, { haulerId: row.hauler_id, connectionId: row.id }),
    );
    let status = '';
    try {
      if (run.attempts > MAX_ATTEMPTS) throw new InterruptedRunError();
      const references = [{ kind: 'syncRunId', value: run.id }] as const;
      await inCallContext({ references }, () =>
        this.sync.synchronise({
          run,
          connection: connectionOf(row),
          requested: row.run_requested_at !== null,
          signal,
          conclude: async (transaction, result) => {
            await this.conclude(due, run, transaction, result);
            status = result.status;
          },
        }),
      );
      this.metrics.syncRuns.inc({ status });
    } catch (error) {
      if (signal.aborted || error instanceof RowLostError || isDatabaseUnavailable(error) || isTransient(error))
        throw error;
      await this.fail(due, run, error);
    }
    return 'done';
  }

  /**
   * The last writes of the transaction. The connection is not locked before, so an admin can change it during the run;
   * the write of its next due time is the fence.
   */
  private async conclude(due: Run<DueConnection>, run: StartedRun, transaction: Sql, result: RunResult): Promise<void> {
    await this.runs.finish(transaction, run, result);
    const next = { afterMs: nextRunMs(await intervalOf(transaction, due.row), Math.random()) };
    await due.finish(next, { run_requested_at: null }, transaction);
  }

  /**
   * Ends the run and sets the next due time in one transaction: a request of an admin must find either the active run or
   * a connection that it can make due.
   */
  private async fail(due: Run<DueConnection>, run: StartedRun, error: unknown): Promise<void> {
    const sentence = failureSentence(error);
    logFailure(this.logger, due.row.id, sentence);
    const { retryAt } = error as { retryAt?: Date };
    const changes = { attempts: due.attempt, last_error: sentence.text, run_requested_at: null };
    await this.fenced(due, async (transaction) => {
      const intervalSeconds = await intervalOf(transaction, due.row);
      const failed = { intervalSeconds, failures: due.attempt, retryAt, now: new Date() };
      const next = { afterMs: nextRunAfterFailureMs(failed, Math.random()) };
      await this.runs.finish(transaction, run, { status: 'failed', error: sentence.text });
      await due.finish(next, changes, transaction);
    });
    this.metrics.syncRuns.inc({ status: 'failed' });
  }

  /** Runs `work` in a transaction, or throws `RowLostError`. */
  private fenced<T>(due: Run<DueConnection>, work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(async (transaction) => {
      await due.hold(transaction);
      return work(transaction);
    });
  }
}

/** Throws `RowLostError` if there is no such connection any more. */
async function intervalOf(transaction: Sql, row: DueConnection): Promise<number> {
  const seconds = await lockInterval(transaction, connectionOf(row));
  if (seconds === undefined) throw new RowLostError(SITE_SYNC_WORK);
  return seconds;
}

function connectionOf(row: DueConnection) {
  return { id: row.id, haulerId: row.hauler_id, baseUrl: row.base_url };
}

/** Ends abandoned runs and deletes old ones. Several instances may do it at the same time. */
@Injectable()
export class SyncRetention implements BeforeApplicationShutdown {
  /** Many runs with many changes take longer than an interval. */
  private readonly retention = new Sweep(async (stopping) => {
    await this.runs.endAbandoned();
    await this.runs.deleteOld(stopping);
  });

  constructor(private readonly runs: SyncRunsRepository) {}

  @Interval('synchronisation runs', RETENTION_INTERVAL_MS)
  sweep(): Promise<void> {
    return this.retention.run();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.retention.stop();
  }
}
