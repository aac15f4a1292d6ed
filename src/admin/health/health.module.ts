import { Module } from '@nestjs/common';
import { WorkModule } from '../../core/work/work.module.js';
import { HealthController } from './health.controller.js';
import { InstanceMetrics } from './instance-metrics.js';
import { PartitionMetrics } from './partition-metrics.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [WorkModule],
  controllers: [HealthController],
  providers: [ReadinessService, InstanceMetrics, PartitionMetrics],
  exports: [ReadinessService],
})
export class HealthModule {}
