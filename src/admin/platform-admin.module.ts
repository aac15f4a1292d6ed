import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { ScaleModule } from '../scale/scale.module.js';
import { SiteSyncModule } from '../site-sync/site-sync.module.js';
import { AccountsController } from './accounts.controller.js';
import { KiosksController, MaterialsController, SitesController } from './catalog.controller.js';
import { ConnectionSyncController } from './connection-sync.controller.js';
import { ConnectionsController } from './connections.controller.js';
import { SyncRunsController } from './sync-runs.controller.js';
import { TicketsController } from './tickets.controller.js';

/** Administration of what the platform side keeps; loaded with that side. */
@Module({
  imports: [AccountsModule, PartnerClientModule, ScaleModule, SiteSyncModule],
  controllers: [
    AccountsController,
    ConnectionSyncController,
    ConnectionsController,
    KiosksController,
    MaterialsController,
    SitesController,
    SyncRunsController,
    TicketsController,
  ],
})
export class PlatformAdminModule {}
