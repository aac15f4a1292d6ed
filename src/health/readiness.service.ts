import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HotPathPool } from '../database/pools.js';
import { pendingMigrations } from '../database/migrate.js';
import { unavailable, withTimeout } from '../errors/app-error.js';

const TIMEOUT_MS = 2_000;

/** Whether this instance can serve requests: the database is reachable and migrated, and the instance is not stopping. */
@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private isStopping = false;
  private isMigrated = false;
  private check: Promise<void> | undefined;

  constructor(private readonly hotPath: HotPathPool) {}

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
      // On the hot path: admin lists that use the whole pool do not make the instance unready.
      await this.hotPath.use(async (connection) => {
        await connection.query('SELECT 1', []);
        this.isMigrated ||= (await pendingMigrations(connection)).length === 0;
      });
    } catch (error) {
      throw unavailable('the database is unavailable', { cause: error });
    }
    if (!this.isMigrated) throw unavailable('migrations are missing: run npm run migrate');
  }
}
