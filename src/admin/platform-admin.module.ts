import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ScaleModule } from '../scale/scale.module.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { AccountsController } from './accounts.controller.js';
import { ConnectionsController } from './connections.controller.js';
import { TicketsController } from './tickets.controller.js';

/** Administration of what the platform side keeps; loaded with that side. */
@Module({
  imports: [AccountsModule, PartnerClientModule, ScaleModule],
  controllers: [AccountsController, ConnectionsController, TicketsController],
})
export class PlatformAdminModule {}
