import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Metrics } from '../observability/metrics.js';

/** The database pool, as it stands when the metrics are read. */
@Injectable()
export class PoolMetrics {
  constructor(database: DataSource, metrics: Metrics) {
    const pool = (database.driver as unknown as { readonly master: Pool }).master;
    new Gauge({
      name: 'database_pool_connections',
      help: 'Database connections of this instance by state; waiting are requests without one',
      labelNames: ['state'],
      registers: [metrics.registry],
      collect() {
        this.set({ state: 'open' }, pool.totalCount);
        this.set({ state: 'idle' }, pool.idleCount);
        this.set({ state: 'waiting' }, pool.waitingCount);
      },
    });
  }
}
