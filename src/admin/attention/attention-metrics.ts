import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from '../../core/observability/metrics.js';
import { AttentionService } from './attention.service.js';

/** Counts what needs attention, for one alert over all of it. */
@Injectable()
export class AttentionMetrics {
  constructor(attention: AttentionService, { registry }: Metrics) {
    const gauge = new Gauge({
      name: 'attention_items',
      help: 'What needs attention (GET /admin/v1/attention), by kind and severity; absent for a kind that could not be checked',
      labelNames: ['kind', 'severity'],
      registers: [registry],
      collect: async () => {
        const counts = await attention.count().catch(() => undefined);
        gauge.reset();
        for (const { kind, severity, items } of counts ?? []) gauge.set({ kind, severity }, items);
      },
    });
  }
}
