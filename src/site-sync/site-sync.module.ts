import { Module } from '@nestjs/common';
import { WorkModule } from '../core/work/work.service.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { CatalogLists } from './catalog/catalog-lists.service.js';
import { SiteSyncJob, SyncRetention } from './sync/site-sync.job.js';
import { SiteSync } from './sync/site-sync.service.js';
import { SyncRunHistory } from './sync/sync-run-history.service.js';
import { SyncRunsRepository } from './sync/sync-runs.repository.js';
import { SyncRunsService } from './sync/sync-runs.service.js';

/**
 * The platform side of the Site API: synchronises haulers' sites, kiosks and materials from their partners, and holds what would
 * remove too much. It does not know who uses the catalog.
 */
@Module({
  imports: [WorkModule, PartnerClientModule],
  providers: [CatalogLists, SiteSync, SiteSyncJob, SyncRetention, SyncRunsRepository, SyncRunsService, SyncRunHistory],
  exports: [CatalogLists, SyncRunsService, SyncRunHistory],
})
export class SiteSyncModule {}
