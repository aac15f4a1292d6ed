import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AdminGuard } from '../auth/admin-api.js';
import { Metrics } from '../observability/metrics.js';
import { ReadinessService } from './readiness.service.js';

@ApiExcludeController()
@Controller('/health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /** 200 while the event loop runs. */
  @Get('/live')
  live() {
    return { status: 'ok' };
  }

  /** 503 while the database is unavailable, migrations are missing, or the instance is stopping. */
  @Get('/ready')
  async ready() {
    await this.readiness.assertReady();
    return { status: 'ok' };
  }
}

@ApiExcludeController()
@UseGuards(AdminGuard)
@Controller('/metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  /** Prometheus text format. Requires the admin token. */
  @Get()
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  read(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
