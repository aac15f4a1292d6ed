import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pendingMigrations } from '../database/migrate.js';
import { unavailable } from '../errors/app-error.js';
import { withinPatience } from '../errors/patience.js';

const PATIENCE_MS = 2000;

/** Whether this instance can serve: database there, no migration missing, not about to stop. */
@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private stopping = false;
  private migrated = false;
  private check: Promise<void> | undefined;

  constructor(private readonly database: DataSource) {}

  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** Rejects with `unavailable`, and why. However many ask at once, the database is asked once. */
  async assertReady(): Promise<void> {
    if (this.stopping) throw unavailable('this instance is stopping');
    this.check ??= withinPatience(this.askDatabase(), PATIENCE_MS, 'the database does not answer').finally(
      () => (this.check = undefined),
    );
    await this.check;
  }

  private async askDatabase(): Promise<void> {
    try {
      await this.database.query('SELECT 1');
      this.migrated ||= (await pendingMigrations(this.database)).length === 0;
    } catch (error) {
      throw unavailable('the database is away', { cause: error });
    }
    if (!this.migrated) throw unavailable('migrations are missing: run npm run migrate');
  }
}
