import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { PoolMetrics } from './pool-metrics.js';
import { ReadinessService } from './readiness.service.js';
import { WorkMetrics } from './work-metrics.js';

@Module({
  imports: [JobsModule],
  controllers: [HealthController, MetricsController],
  providers: [ReadinessService, PoolMetrics, WorkMetrics],
})
export class HealthModule {}
