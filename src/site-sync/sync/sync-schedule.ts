import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isDatabaseUnavailable } from '../../database/postgres-errors.js';
import { inTransaction } from '../../database/transaction.js';
import type { Next } from '../../jobs/due-rows.js';
import { failureSentence, logFailure } from '../../jobs/failure-sentence.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { LeaseLost } from '../../jobs/lease-lost.js';
import type { Run } from '../../jobs/run.js';
import type { WorkKind } from '../../jobs/work-kind.js';
import { Metrics } from '../../observability/metrics.js';
import { APPLY_TIMEOUT_MS } from './catalog-apply.js';
import { nextRunAfterFailureMs, nextRunMs } from './schedule-rules.js';
import { SiteSync } from './site-sync.service.js';
import { CutOff } from './cut-off.js';
import { type BegunRun, type RunResult, SyncRuns } from './sync-runs.store.js';

/** The name of this work in `jobs/`. */
export const SITE_SYNC_WORK = 'site synchronisation';

/** Runs at once in one instance, most of which wait: for a partner that has asked for it, or for one of the few places (`SiteSync`). */
const CONCURRENCY = 16;

/** A run that was cut off so often, by a kill, a stop or the database, ends as failed: it may be the cause. */
const MOST_ATTEMPTS = 3;

/** The columns of a site connection that a run needs. */
interface DueConnection {
  readonly hauler_id: string;
  readonly id: string;
  readonly base_url: string;
  readonly run_requested_at: Date | null;
}

/** Runs the synchronisation of every site connection that is due (decision 36). */
@Injectable()
export class SyncSchedule implements OnModuleInit {
  private readonly logger = new Logger('SiteSync');
  private readonly kind: WorkKind<DueConnection> = {
    name: SITE_SYNC_WORK,
    table: 'connections',
    key: { hauler_id: 'uuid', id: 'uuid' },
    columns: ['base_url', 'run_requested_at'],
    where: `interface = 'site' AND deleted_at IS NULL AND (enabled OR run_requested_at IS NOT NULL)`,
    concurrency: CONCURRENCY,
    run: (lease) => this.run(lease),
  };

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly runs: SyncRuns,
    private readonly sync: SiteSync,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.jobs.register(this.kind);
  }

  private async run(lease: Run<DueConnection>): Promise<Next> {
    const { row, signal } = lease;
    const run = await this.fenced(lease, (manager) =>
      this.runs.begin(manager, { haulerId: row.hauler_id, connectionId: row.id }),
    );
    try {
      if (run.attempts > MOST_ATTEMPTS) throw new CutOff(MOST_ATTEMPTS);
      await this.sync.synchronise({
        run,
        connection: connectionOf(row),
        requested: row.run_requested_at !== null,
        signal,
        conclude: (write) => this.conclude(lease, run, write),
      });
    } catch (error) {
      if (signal.aborted || error instanceof LeaseLost || isDatabaseUnavailable(error)) throw error;
      await this.fail(lease, run, error);
    }
    return 'done';
  }

  /** The connection is not locked while much is written, for admins may change it meanwhile: its own last write is the fence. */
  private async conclude(
    lease: Run<DueConnection>,
    run: BegunRun,
    write: (manager: EntityManager) => Promise<RunResult>,
  ): Promise<void> {
    const options = { statementTimeoutMs: APPLY_TIMEOUT_MS };
    const conclusion = async (manager: EntityManager) => {
      const result = await write(manager);
      await this.runs.finish(manager, run, result);
      const next = { afterMs: nextRunMs(await intervalNow(manager, lease.row), Math.random()) };
      await lease.finish(next, { run_requested_at: null }, manager);
      return result;
    };
    const { status } = await inTransaction(this.dataSource, conclusion, options);
    this.metrics.syncRuns.inc({ status });
  }

  /**
   * Ends the run as failed and says when the connection is due again, in one transaction: a run that an admin asks for
   * meanwhile must find either the active run or a connection that it can make due.
   */
  private async fail(lease: Run<DueConnection>, run: BegunRun, error: unknown): Promise<void> {
    const sentence = failureSentence(error);
    logFailure(this.logger, lease.row.id, sentence);
    const { retryAt } = error as { retryAt?: Date };
    const noted = { attempts: lease.attempt, last_error: sentence.text, run_requested_at: null };
    await this.fenced(lease, async (manager) => {
      const intervalSeconds = await intervalNow(manager, lease.row);
      const failed = { intervalSeconds, failures: lease.attempt, retryAt, now: new Date() };
      const next = { afterMs: nextRunAfterFailureMs(failed, Math.random()) };
      await this.runs.finish(manager, run, { status: 'failed', error: sentence.text });
      await lease.finish(next, noted, manager);
    });
    this.metrics.syncRuns.inc({ status: 'failed' });
  }

  /** In a transaction that fails where the connection is no longer leased to this run. */
  private fenced<T>(lease: Run<DueConnection>, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return inTransaction(this.dataSource, async (manager) => {
      await lease.hold(manager);
      return work(manager);
    });
  }
}

/** An admin may have changed it since the run began; locked, so that nobody does until the next run is set. */
async function intervalNow(manager: EntityManager, { hauler_id, id }: DueConnection): Promise<number> {
  const [row] = await manager.query<{ interval_seconds: number }[]>(
    'SELECT interval_seconds FROM connections WHERE hauler_id = $1 AND id = $2 FOR UPDATE',
    [hauler_id, id],
  );
  if (row === undefined) throw new LeaseLost(SITE_SYNC_WORK);
  return row.interval_seconds;
}

function connectionOf(row: DueConnection) {
  return {
    id: row.id,
    haulerId: row.hauler_id,
    baseUrl: row.base_url,
  };
}
