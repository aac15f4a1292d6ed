import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DatabasePool } from '../database/database-pool.js';
import { JobsService } from '../jobs/jobs.service.js';
import { Metrics } from '../observability/metrics.js';

/** `/metrics` responds without the ages of due work if the database needs longer. */
const OLDEST_DUE_TIMEOUT_MS = 3_000;

/** Gauges of this instance that are read when `/metrics` is requested. */
@Injectable()
export class InstanceMetrics {
  constructor(pool: DatabasePool, jobs: JobsService, { registry }: Metrics) {
    const registers = [registry];
    new Gauge({
      name: 'database_pool_connections',
      help: 'Database connections of this instance by state; waiting are requests without one',
      labelNames: ['state'],
      registers,
      collect() {
        const { open, idle, waiting } = pool.counts();
        this.set({ state: 'open' }, open);
        this.set({ state: 'idle' }, idle);
        this.set({ state: 'waiting' }, waiting);
      },
    });
    new Gauge({
      name: 'work_running',
      help: 'Due rows that this instance is processing, by kind of work',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, rows] of jobs.running()) this.set({ kind }, rows);
      },
    });
    const oldest = new Gauge({
      name: 'work_oldest_due_seconds',
      help: 'Time that the oldest due row has waited for an instance, by kind of work; absent while the database is unavailable',
      labelNames: ['kind'],
      registers,
      collect: async () => {
        const timeout = delay(OLDEST_DUE_TIMEOUT_MS, undefined, { ref: false });
        const ages = await Promise.race([jobs.oldestDue(), timeout]).catch(() => undefined);
        oldest.reset();
        for (const [kind, seconds] of ages ?? []) oldest.set({ kind }, seconds);
      },
    });
  }
}
