import { Module } from '@nestjs/common';
import { WorkModule } from '../../core/work/work.service.js';
import { HealthController } from './health.controller.js';
import { InstanceMetrics, PartitionMetrics } from './instance-metrics.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [WorkModule],
  controllers: [HealthController],
  providers: [ReadinessService, InstanceMetrics, PartitionMetrics],
  exports: [ReadinessService],
})
export class HealthModule {}
