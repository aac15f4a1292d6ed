import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Database } from '../../core/database/database.js';
import { pendingMigrations } from '../../core/database/migrate.js';
import { outageOf, outageSentence } from '../../core/database/reason.js';
import { schemaFault } from '../../core/database/schema-faults.js';
import type { Session } from '../../core/database/session.js';
import { AppError, unavailable, withTimeout } from '../../core/errors/app-error.js';
import { redactText } from '../../core/observability/redaction.js';
import { commitNothing, isCommitWaiting, writePage } from './write-probe.repository.js';

const TIMEOUT_MS = 2_000;

/** How often a check writes a page. The others commit a few bytes. */
const PAGE_INTERVAL_MS = 5_000;

/** Errors that are logged once each; a message may name a changing value. */
const MAX_REPORTED = 20;

/**
 * Whether this instance can serve requests: the database takes the writes and commits of a push, this version can use its
 * tables, and the instance is not stopping.
 */
@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Readiness');
  private readonly reported = new Set<string>();
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
      if (error instanceof AppError) throw error;
      const sentence = outageOf(error) === undefined ? this.reportUnknown(error) : outageSentence(error);
      throw unavailable(sentence, { cause: error });
    }
  }

  private async checkReading(): Promise<void> {
    const { hot, general } = this.database;
    // Admin lists that use all general connections do not make the instance unready.
    const writable = [hot, general].map(async (pool) => pool.isBusy || (await pool.takesWrites()));
    if ((await Promise.all(writable)).includes(false))
      throw unavailable('the database is read-only: it may be a standby');
    if (this.isSchemaChecked) return;
    if ((await pendingMigrations(hot)).length > 0) throw unavailable('migrations are missing: run npm run migrate');
    const fault = await schemaFault(hot);
    if (fault !== undefined) throw unavailable(fault);
    this.isSchemaChecked = true;
  }

  private async checkWriting(): Promise<void> {
    const { hot } = this.database;
    if (await isCommitWaiting(hot)) throw unavailable('commits wait for a synchronous standby of the database');
    const isPageDue = performance.now() - this.pageWrittenAt > PAGE_INTERVAL_MS;
    if (isPageDue) {
      await this.probe(writePage);
      this.pageWrittenAt = performance.now();
    }
    await this.probe(commitNothing);
  }

  /** What the database refuses to the probe alone, such as a privilege or by a trigger, it does not refuse to a push. */
  private async probe(write: (session: Session) => Promise<void>): Promise<void> {
    try {
      await this.database.hot.use(write);
    } catch (error) {
      if (error instanceof AppError || outageOf(error) !== undefined) throw error;
      this.reportUnknown(error);
    }
  }

  /** Logs an error that is no outage, each one once, and returns the sentence about it. */
  private reportUnknown(error: unknown): string {
    const sentence = `a check of the database failed: ${redactText(error instanceof Error ? error.message : String(error))}`;
    if (!this.reported.has(sentence) && this.reported.size < MAX_REPORTED) {
      this.reported.add(sentence);
      this.logger.warn({ err: error }, sentence);
    }
    return sentence;
  }
}
