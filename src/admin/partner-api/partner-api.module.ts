import { Module } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { AdminModule } from '../admin.module.js';
import { ScaleModule } from '../../scale/scale.module.js';
import { SiteSyncModule } from '../../site-sync/site-sync.module.js';
import { ReferencePartnerModule } from '../../reference-partner/reference-partner.module.js';
import { VisionModule } from '../../vision/vision.module.js';
import {
  PartnerAttentionController,
  PartnerClockController,
  PartnerConnectionController,
  PartnerExchangesController,
  PartnerKeyController,
  PartnerRecordsController,
  PartnerScenariosController,
} from './partner-api.controller.js';
import { PartnerSandbox } from './partner-sandbox.service.js';

/** The partner API: calls of a partner with its own key, on both sides. */
@Module({
  imports: [AdminModule],
  controllers: [PartnerKeyController, PartnerScenariosController, PartnerExchangesController],
  providers: [PartnerSandbox],
  exports: [PartnerSandbox],
})
export class PartnerApiModule {}

/** What the platform has of a partner's hauler or connection; loaded with the platform side. */
@Module({
  imports: [AdminModule, ScaleModule, AccountsModule, SiteSyncModule, VisionModule],
  controllers: [PartnerRecordsController, PartnerConnectionController, PartnerAttentionController],
})
export class PartnerRecordsModule {}

/** The part that needs the reference partner; loaded with the partner side. */
@Module({ imports: [PartnerApiModule, ReferencePartnerModule], controllers: [PartnerClockController] })
export class PartnerClockModule {}
