import { Module } from '@nestjs/common';
import { FaultyFiles } from './faulty-files.js';
import { PartnerClock } from './partner-clock.js';
import { VisionScenarios } from './vision-scenarios.service.js';

/** The clock of the reference partner, and the scenarios that change its data. */
@Module({
  providers: [FaultyFiles, PartnerClock, VisionScenarios],
  exports: [FaultyFiles, PartnerClock, VisionScenarios],
})
export class PartnerSandboxModule {}
