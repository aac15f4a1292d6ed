import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { ScaleModule } from '../scale/scale.module.js';
import { SiteSyncModule } from '../site-sync/site-sync.module.js';
import { VisionModule } from '../vision/vision.module.js';
import { AccountsController } from './accounts.controller.js';
import { KiosksController, MaterialsController, SitesController } from './catalog.controller.js';
import { ConnectionsController } from './connections.controller.js';
import { CoverageController } from './coverage.controller.js';
import { RecordingsController } from './recordings.controller.js';
import { SyncRunsController } from './sync-runs.controller.js';
import { TicketsController } from './tickets.controller.js';
import { VideoRequestsController } from './video-requests.controller.js';
import { VideoSubscriptionsController } from './video-subscriptions.controller.js';
import { VisionFindingsController } from './vision-findings.controller.js';

/** Administration of what the platform side keeps; loaded with that side. */
@Module({
  imports: [AccountsModule, PartnerClientModule, ScaleModule, SiteSyncModule, VisionModule],
  controllers: [
    AccountsController,
    ConnectionsController,
    CoverageController,
    KiosksController,
    MaterialsController,
    RecordingsController,
    SitesController,
    SyncRunsController,
    TicketsController,
    VideoRequestsController,
    VideoSubscriptionsController,
    VisionFindingsController,
  ],
})
export class PlatformAdminModule {}
