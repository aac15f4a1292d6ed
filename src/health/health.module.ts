import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { PoolMetrics } from './pool-metrics.js';
import { ReadinessService } from './readiness.service.js';

@Module({ controllers: [HealthController, MetricsController], providers: [ReadinessService, PoolMetrics] })
export class HealthModule {}
