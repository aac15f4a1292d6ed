import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { CatalogLists } from './catalog/catalog-lists.service.js';
import { SiteClient } from './site-client.js';
import { AnswerReader } from './sync/answer-reader.js';
import { SiteSync } from './sync/site-sync.service.js';
import { SyncRetention } from './sync/sync-retention.js';
import { SyncRunQueries } from './sync/sync-run-queries.js';
import { SyncRunsService } from './sync/sync-runs.service.js';
import { SyncRuns } from './sync/sync-runs.store.js';
import { SyncSchedule } from './sync/sync-schedule.js';
import { SyncStates } from './sync/sync-states.store.js';

/** The platform side of the Site API: keeps every hauler's sites, kiosks and materials as its partner tells them. */
@Module({
  imports: [JobsModule, PartnerClientModule],
  providers: [
    AnswerReader,
    CatalogLists,
    SiteClient,
    SiteSync,
    SyncRetention,
    SyncRunQueries,
    SyncRuns,
    SyncRunsService,
    SyncSchedule,
    SyncStates,
  ],
  exports: [CatalogLists, SyncRunQueries, SyncRunsService],
})
export class SiteSyncModule {}
