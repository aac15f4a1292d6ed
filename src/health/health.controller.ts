import { Controller, Header } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { type Health, SERVICE_API } from '../contracts/admin/service.api.js';
import { Metrics } from '../observability/metrics.js';
import { ReadinessService } from './readiness.service.js';

const OK = { status: 'ok' } as const;

@Controller()
export class HealthController {
  constructor(
    private readonly readiness: ReadinessService,
    private readonly metrics: Metrics,
  ) {}

  @Route(SERVICE_API, 'getLiveness')
  live(): Health {
    return OK;
  }

  @Route(SERVICE_API, 'getReadiness')
  async ready(): Promise<Health> {
    await this.readiness.assertReady();
    return OK;
  }

  @Route(SERVICE_API, 'getMetrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  read(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
