import { Controller, Header } from '@nestjs/common';
import { Route } from '../../auth/route.js';
import { SERVICE_API } from '../../contracts/admin/service.api.js';
import { Metrics } from '../../core/observability/metrics.js';
import { ReadinessService } from './readiness.service.js';

const OK = { status: 'ok' } as const;

@Controller()
export class HealthController {
  constructor(
    private readonly readiness: ReadinessService,
    private readonly metrics: Metrics,
  ) {}

  @Route(SERVICE_API, 'getLiveness')
  live() {
    return OK;
  }

  @Route(SERVICE_API, 'getReadiness')
  async ready() {
    await this.readiness.assertReady();
    return OK;
  }

  @Route(SERVICE_API, 'getMetrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  read() {
    return this.metrics.registry.metrics();
  }
}
