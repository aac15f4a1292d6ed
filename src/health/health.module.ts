import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { HealthController, MetricsController } from './health.controller.js';
import { InstanceMetrics } from './instance-metrics.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [JobsModule],
  controllers: [HealthController, MetricsController],
  providers: [ReadinessService, InstanceMetrics],
})
export class HealthModule {}
