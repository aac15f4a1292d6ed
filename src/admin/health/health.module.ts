import { Module } from '@nestjs/common';
import { WorkModule } from '../../core/work/work.service.js';
import { HealthController } from './health.controller.js';
import { InstanceMetrics, PartitionMetrics } from './instance-metrics.js';
import { ReadinessService } from './readiness.service.js';

/** Whether this instance may take requests, and what its metrics say. It reads the database, and changes nothing but its probe. */
@Module({
  imports: [WorkModule],
  controllers: [HealthController],
  providers: [ReadinessService, InstanceMetrics, PartitionMetrics],
  exports: [ReadinessService],
})
export class HealthModule {}
