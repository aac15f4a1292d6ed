import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { OutboundModule } from '../core/outbound/outbound-switch.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { ReferencePartnerModule } from '../reference-partner/reference-partner.module.js';
import { ScaleModule } from '../scale/scale.module.js';
import { SiteSyncModule } from '../site-sync/site-sync.module.js';
import { StorageModule } from '../core/storage/storage.module.js';
import { VisionModule } from '../vision/vision.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { WorkModule } from '../core/work/work.service.js';
import { ActionExports, NamedActions } from './actions/actions.service.js';
import { ActionNames } from './actions/action-names.repository.js';
import { ActionsController } from './actions/actions.controller.js';
import { AttentionController } from './attention/attention.controller.js';
import { AttentionMetrics, AttentionService } from './attention/attention.service.js';
import { PlatformSources } from './attention/platform-checks.js';
import { StatesJob } from './attention/states.job.js';
import { HoldBundles } from './bundles/hold-bundles.service.js';
import { ConnectionCheckService } from './connection-check.service.js';
import { ConnectionHealths } from './connection-health.repository.js';
import { ConnectionHealthService } from './connection-health.service.js';
import { ConsoleSessionController, PeopleController } from './sessions.controller.js';
import { ConnectionsController } from './connections.controller.js';
import { ErasureJob } from './erasures/erasure.job.js';
import { ErasuresController } from './erasures/erasures.controller.js';
import { ErasuresRepository } from './erasures/erasures.repository.js';
import { Erasures } from './erasures/erasures.service.js';
import { FootageErasure } from './erasures/footage-erasure.js';
import { ExchangeReplay, OutboundReplay } from './exchange-replay.service.js';
import { ExchangesController } from './exchanges.controller.js';
import { FootageController } from './footage/footage.controller.js';
import { TicketFootageRepository } from './footage/footage-settings.repository.js';
import { TicketFootageSettings } from './footage/footage-settings.service.js';
import { TicketFootageService } from './footage/ticket-footage.service.js';
import { HaulersController } from './haulers.controller.js';
import { HoldsController } from './holds.controller.js';
import { HostedController } from './hosted.controller.js';
import { OutboundController } from './outbound.controller.js';
import { OverviewController } from './overview/overview.controller.js';
import { OverviewDaysService } from './overview/overview-days.service.js';
import { QuietSources } from './overview/quiet.service.js';
import { CoverageController } from './coverage.controller.js';
import { RecordingsController } from './recordings.controller.js';
import { ShareContents, SharedRecordings } from './shares/shared-recordings.service.js';
import { SharesController } from './shares/shares.controller.js';
import { SharesRepository } from './shares/shares.repository.js';
import { RecordingShares } from './shares/shares.service.js';
import { ShownRecordings } from './shown-recordings.service.js';
import { SandboxClockController, SandboxController } from './sandbox.controller.js';
import { SearchController } from './search/search.controller.js';
import { SearchRepository } from './search/search.repository.js';
import { Search } from './search/search.service.js';
import { StorageChecks, StorageRepairs } from './storage-check/storage-check.service.js';
import { StorageCheckController, StorageRepairController } from './storage-check/storage.controller.js';
import { RunTreeRepository } from './sync-runs/run-tree.repository.js';
import { RunTree } from './sync-runs/run-tree.service.js';
import { SyncRunsController } from './sync-runs.controller.js';
import { TicketsController } from './tickets.controller.js';
import { VideoRequestsController } from './video-requests.controller.js';
import { HealthController } from './health/health.controller.js';
import { InstanceMetrics, PartitionMetrics } from './health/instance-metrics.js';
import { ReadinessService } from './health/readiness.service.js';

/** Whether this instance may take requests, and what its metrics say. It reads the database, and changes nothing but its probe. */
@Module({
  imports: [WorkModule],
  controllers: [HealthController],
  providers: [ReadinessService, InstanceMetrics, PartitionMetrics],
  exports: [ReadinessService],
})
export class HealthModule {}

/**
 * The admin API: what both sides need. It reads and changes what the modules below have, and nothing below knows of it; a rule of a
 * ticket, a clip or a synchronisation does not belong here. Folders: one for each thing that admins do with more than one module.
 */
@Module({
  imports: [HealthModule, StorageModule, WorkModule],
  controllers: [
    ActionsController,
    AttentionController,
    ConsoleSessionController,
    HaulersController,
    ExchangesController,
    PeopleController,
    SandboxController,
    SearchController,
    StorageCheckController,
  ],
  providers: [
    ActionExports,
    ActionNames,
    NamedActions,
    AttentionMetrics,
    AttentionService,
    ConnectionHealths,
    ConnectionHealthService,
    ExchangeReplay,
    Search,
    SearchRepository,
    StorageChecks,
  ],
  exports: [AttentionService, ConnectionHealthService, ExchangeReplay, StorageChecks],
})
export class AdminModule {}

/** Administration of the platform side; loaded with that side. */
@Module({
  imports: [
    AdminModule,
    AccountsModule,
    OutboundModule,
    StorageModule,
    PartnerClientModule,
    ScaleModule,
    SiteSyncModule,
    StorageModule,
    VisionModule,
    WebhooksModule,
    WorkModule,
  ],
  controllers: [
    OverviewController,
    TicketsController,
    ConnectionsController,
    SyncRunsController,
    VideoRequestsController,
    CoverageController,
    RecordingsController,
    FootageController,
    HoldsController,
    SharesController,
    ErasuresController,
    StorageRepairController,
    OutboundController,
  ],
  providers: [
    ConnectionCheckService,
    ErasureJob,
    Erasures,
    ErasuresRepository,
    FootageErasure,
    HoldBundles,
    OutboundReplay,
    OverviewDaysService,
    PlatformSources,
    QuietSources,
    RunTree,
    RunTreeRepository,
    StatesJob,
    StorageRepairs,
    TicketFootageRepository,
    TicketFootageService,
    TicketFootageSettings,
    RecordingShares,
    ShareContents,
    SharedRecordings,
    SharesRepository,
    ShownRecordings,
  ],
})
export class PlatformAdminModule {}

/** Administration of the partner side; loaded with that side. */
@Module({
  imports: [ReferencePartnerModule],
  controllers: [HostedController, SandboxClockController],
})
export class PartnerAdminModule {}
