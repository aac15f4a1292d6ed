import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { pendingMigrations } from '../database/migrate.js';
import { unavailable, withTimeout } from '../errors/app-error.js';

const TIMEOUT_MS = 2_000;

/** Whether this instance can serve requests: the database is reachable and migrated, and the instance is not stopping. */
@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private isStopping = false;
  private isMigrated = false;
  private check: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /** Load balancers send no further requests to an instance that is not ready. */
  beginStop(): void {
    this.isStopping = true;
  }

  beforeApplicationShutdown(): void {
    this.beginStop();
  }

  /** Rejects with `unavailable` and the reason. Concurrent callers share one query. */
  async assertReady(): Promise<void> {
    if (this.isStopping) throw unavailable('this instance is stopping');
    this.check ??= withTimeout(this.checkDatabase(), TIMEOUT_MS, 'the database does not answer').finally(
      () => (this.check = undefined),
    );
    await this.check;
  }

  private async checkDatabase(): Promise<void> {
    const { hot, general } = this.database;
    let takesWrites: boolean[];
    try {
      // Admin lists that use all general connections do not make the instance unready.
      takesWrites = await Promise.all([hot, general].map(async (lane) => lane.isBusy || (await lane.takesWrites())));
      this.isMigrated ||= (await hot.use(pendingMigrations)).length === 0;
    } catch (error) {
      throw unavailable('the database is unavailable', { cause: error });
    }
    if (takesWrites.includes(false)) throw unavailable('the database is read-only: it may be a standby');
    if (!this.isMigrated) throw unavailable('migrations are missing: run npm run migrate');
  }
}
