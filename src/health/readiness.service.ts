import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pendingMigrations } from '../database/migrate.js';
import { unavailable, withTimeout } from '../errors/app-error.js';

const TIMEOUT_MS = 2_000;

/** Whether this instance can serve requests: the database is reachable and migrated, and the instance is not stopping. */
@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private isStopping = false;
  private isMigrated = false;
  private check: Promise<void> | undefined;

  constructor(private readonly database: DataSource) {}

  beforeApplicationShutdown(): void {
    this.isStopping = true;
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
    try {
      await this.database.query('SELECT 1');
      this.isMigrated ||= (await pendingMigrations(this.database)).length === 0;
    } catch (error) {
      throw unavailable('the database is away', { cause: error });
    }
    if (!this.isMigrated) throw unavailable('migrations are missing: run npm run migrate');
  }
}
