import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Database } from '../database/database.js';
import { Metrics } from '../observability/metrics.js';
import { lastVerification } from './verification.repository.js';

/** `/metrics` responds without this time if the database needs longer. */
const TIMEOUT_MS = 3_000;

@Injectable()
class BackupMetrics {
  constructor(database: Database, { registry }: Metrics) {
    const gauge = new Gauge({
      name: 'backup_last_verified_timestamp',
      help: 'When `backup verify` last restored a backup, in seconds since 1970; absent before the first time and while the database is unavailable',
      registers: [registry],
      collect: async () => {
        const timeout = delay(TIMEOUT_MS, undefined, { ref: false });
        const last = await Promise.race([lastVerification(database), timeout]).catch(() => undefined);
        gauge.remove();
        if (last !== undefined) gauge.set(last.verifiedAt);
      },
    });
    // A gauge without labels begins with 0, which would be the year 1970.
    gauge.remove();
  }
}

/** The commands that open the database themselves are no part of the service; it shows when a backup was last verified. */
@Module({ providers: [BackupMetrics] })
export class BackupModule {}
