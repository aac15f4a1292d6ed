import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from '../observability/metrics.js';
import { JobsService } from '../jobs/jobs.service.js';

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
  }
}
