import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from '../observability/metrics.js';
import { JobsService } from '../jobs/jobs.service.js';

/** The other metrics are told without what the database is asked for where it takes longer. */
const PATIENCE_MS = 3_000;

/** What this instance has in work, by kind, as it stands when the metrics are read. */
@Injectable()
export class WorkMetrics {
  constructor(jobs: JobsService, metrics: Metrics) {
    new Gauge({
      name: 'work_running',
      help: 'Due rows in work in this instance, by kind of work',
      labelNames: ['kind'],
      registers: [metrics.registry],
      collect() {
        for (const [kind, rows] of jobs.running()) this.set({ kind }, rows);
      },
    });
    const oldest = new Gauge({
      name: 'work_oldest_due_seconds',
      help: 'For how long the oldest due row has waited for an instance, by kind of work; absent while the database is away',
      labelNames: ['kind'],
      registers: [metrics.registry],
      collect: async () => {
        const patience = delay(PATIENCE_MS, undefined, { ref: false });
        const ages = await Promise.race([jobs.oldestDue(), patience]).catch(() => undefined);
        oldest.reset();
        for (const [kind, seconds] of ages ?? []) oldest.set({ kind }, seconds);
      },
    });
  }
}
