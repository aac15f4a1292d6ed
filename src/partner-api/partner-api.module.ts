import { Module } from '@nestjs/common';
import { ReferencePartnerModule } from '../reference-partner/reference-partner.module.js';
import { PartnerExchangesController } from './partner-exchanges.controller.js';
import { PartnerClockController, PartnerScenariosController } from './partner-sandbox.controller.js';
import { PartnerSandbox } from './partner-sandbox.service.js';

/** The partner API: calls of a partner with its own key, on both sides. */
@Module({
  controllers: [PartnerScenariosController, PartnerExchangesController],
  providers: [PartnerSandbox],
  exports: [PartnerSandbox],
})
export class PartnerApiModule {}

/** The part that needs the reference partner; loaded with the partner side. */
@Module({ imports: [PartnerApiModule, ReferencePartnerModule], controllers: [PartnerClockController] })
export class PartnerClockModule {}
