import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { pendingMigrations } from '../database/migrate.js';
import { outageSentence } from '../database/outage.js';
import { schemaFault } from '../database/schema-faults.js';
import { AppError, unavailable, withTimeout } from '../errors/app-error.js';
import { commitNothing, isCommitWaiting, writePage } from './write-probe.repository.js';

const TIMEOUT_MS = 2_000;

/** How often a check writes a page. The others commit a few bytes. */
const PAGE_INTERVAL_MS = 5_000;

/**
 * Whether this instance can serve requests: the database takes the writes and commits of a push, this version can use its
 * tables, and the instance is not stopping.
 */
@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private isStopping = false;
  private isSchemaChecked = false;
  private pageWrittenAt = -Infinity;
  private check: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /** Load balancers send no further requests to an instance that is not ready. */
  beginStop(): void {
    this.isStopping = true;
  }

  beforeApplicationShutdown(): void {
    this.beginStop();
  }

  /** Rejects with `unavailable` and the reason. Concurrent callers share one check. */
  async assertReady(): Promise<void> {
    if (this.isStopping) throw unavailable('this instance is stopping');
    this.check ??= this.checkInTime().finally(() => (this.check = undefined));
    await this.check;
  }

  private async checkInTime(): Promise<void> {
    try {
      await withTimeout(this.checkReading(), TIMEOUT_MS, 'the database does not answer');
      await withTimeout(this.checkWriting(), TIMEOUT_MS, 'the database does not complete a commit');
    } catch (error) {
      throw error instanceof AppError ? error : unavailable(outageSentence(error), { cause: error });
    }
  }

  private async checkReading(): Promise<void> {
    const { hot, general } = this.database;
    // Admin lists that use all general connections do not make the instance unready.
    const lanes = [hot, general].map(async (lane) => lane.isBusy || (await lane.takesWrites()));
    if ((await Promise.all(lanes)).includes(false)) throw unavailable('the database is read-only: it may be a standby');
    if (this.isSchemaChecked) return;
    if ((await hot.use(pendingMigrations)).length > 0) throw unavailable('migrations are missing: run npm run migrate');
    const fault = await hot.use((session) => schemaFault(session));
    if (fault !== undefined) throw unavailable(fault);
    this.isSchemaChecked = true;
  }

  private async checkWriting(): Promise<void> {
    const { hot } = this.database;
    if (await hot.use((session) => isCommitWaiting(session)))
      throw unavailable('commits wait for a synchronous standby of the database');
    const isPageDue = performance.now() - this.pageWrittenAt > PAGE_INTERVAL_MS;
    await hot.use(isPageDue ? writePage : commitNothing);
    if (isPageDue) this.pageWrittenAt = performance.now();
  }
}
