import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountQueries } from '../accounts/account-queries.js';
import { AuthModule } from '../auth/auth.module.js';
import { ConfigModule } from '../config/config.module.js';
import type { SettledEnv } from '../config/env.js';
import { DatabaseModule } from '../database/database.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { TicketQueries } from '../scale/ticket-queries.js';
import { CatalogLists } from '../site-sync/catalog/catalog-lists.service.js';
import { HostedSiteData } from '../site-sync/hosted/site-data.service.js';
import { SyncRunQueries } from '../site-sync/sync/sync-run-queries.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';
import { SyncRuns } from '../site-sync/sync/sync-runs.store.js';
import { SyncStates } from '../site-sync/sync/sync-states.store.js';
import { StorageModule } from '../storage/storage.module.js';
import { VideoSubscriptions } from '../vision/continuous/subscriptions.service.js';
import { FindingQueries } from '../vision/finding.queries.js';
import { HostedCameras } from '../vision/hosted/cameras.js';
import { HostedRecordings } from '../vision/hosted/recordings.service.js';
import { HostedVideoRequests } from '../vision/hosted/video-requests.store.js';
import { MendedConnections } from '../vision/mended-connections.js';
import { CoverageService } from '../vision/recordings/coverage.service.js';
import { RecordingQueries } from '../vision/recordings/recording.queries.js';
import { Retention } from '../vision/recordings/retention.js';
import { VideoRequestQueries } from '../vision/requests/video-request.queries.js';
import { VideoRequests } from '../vision/requests/video-requests.service.js';
import { VisionConnections } from '../vision/vision-connections.js';
import { Doctor } from './doctor.js';

/** What commands work with: the rooms' services, without controllers or a listener; no due rows are run. */
@Module({})
export class CliModule {
  static of(env: SettledEnv): DynamicModule {
    return {
      module: CliModule,
      imports: [
        ConfigModule.of(env),
        ObservabilityModule,
        DatabaseModule,
        AuthModule,
        PartnerClientModule,
        StorageModule,
        // For waking alone: no work is registered here.
        ScheduleModule.forRoot(),
        JobsModule,
      ],
      providers: [
        AccountQueries,
        CatalogLists,
        Doctor,
        HostedCameras,
        HostedRecordings,
        HostedSiteData,
        HostedVideoRequests,
        SyncRuns,
        SyncRunQueries,
        SyncRunsService,
        SyncStates,
        TicketQueries,
        VisionConnections,
        MendedConnections,
        VideoRequests,
        VideoRequestQueries,
        RecordingQueries,
        Retention,
        CoverageService,
        FindingQueries,
        VideoSubscriptions,
      ],
    };
  }
}
