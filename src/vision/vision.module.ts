import { Module } from '@nestjs/common';
import { WorkModule } from '../core/work/work.service.js';
import { outboundPolicy } from '../core/outbound/address-guard.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { OUTBOUND_LOG, type OutboundLog } from '../core/outbound/outbound-log.js';
import { STORAGE, type Storage } from '../core/storage/storage.js';
import { StorageModule } from '../core/storage/storage.module.js';
import { VisionFindings } from './client/findings.repository.js';
import { VisionConnections } from './client/vision-connections.repository.js';
import { VisionClient } from './client/vision.client.js';
import { ClipPollClient } from './clips/clip-poll.client.js';
import { ClipPollJob } from './clips/clip-poll.job.js';
import { ClipSubmitJob } from './clips/clip-submit.job.js';
import { ClipsRepository } from './clips/clips.repository.js';
import { VideoRequestsRepository } from './clips/video-requests.repository.js';
import { VideoRequests } from './clips/video-requests.service.js';
import { SubscriptionsRepository } from './continuous/subscriptions.repository.js';
import { VideoSubscriptions } from './continuous/subscriptions.service.js';
import { WindowReader } from './continuous/window-reader.service.js';
import { WindowReadingJob } from './continuous/window-reading.job.js';
import { CoverageRepository } from './coverage/coverage.repository.js';
import { CoveragePieces } from './coverage/coverage-pieces.service.js';
import { CoverageService } from './coverage/coverage.service.js';
import { CoverageSummaries, FleetCoverage } from './coverage/fleet-coverage.service.js';
import { CoverageSums, FootageSums } from './coverage/coverage-sums.service.js';
import { SettledDays } from './coverage/settled-days.job.js';
import { DownloadMetrics } from './downloads/download-metrics.js';
import { DownloadJob } from './downloads/download.job.js';
import { DownloadRepository } from './downloads/download.repository.js';
import { Downloader } from './downloads/downloader.js';
import { DownloadCheck } from './downloads/download-check.service.js';
import { RelinkRepository } from './downloads/relink.repository.js';
import { RelinkService } from './downloads/relink.service.js';
import { RecordingContent } from './downloads/recording-content.service.js';
import { DownloadRetryRepository } from './downloads/download-retry.repository.js';
import { DownloadRetry } from './downloads/download-retry.service.js';
import { FootageRepository } from './footage/footage.repository.js';
import { TruckFootage } from './footage/truck-footage.service.js';
import { Pokes } from './pokes/pokes.service.js';
import { OldRows } from './retention/old-rows.js';
import { RecordingsRepository } from './recordings/recordings.repository.js';
import { RetentionSettings } from './retention/retention-settings.service.js';
import { HoldsRepository } from './holds/holds.repository.js';
import { Holds } from './holds/holds.service.js';
import { Recordings, StoredHours } from './recordings/recordings.service.js';
import { Retention } from './retention/retention.job.js';

/** What other modules use. */
const SERVICES = [
  DownloadCheck,
  VisionConnections,
  VisionFindings,
  VideoRequests,
  VideoSubscriptions,
  Recordings,
  StoredHours,
  CoverageService,
  CoverageSummaries,
  FleetCoverage,
  FootageSums,
  TruckFootage,
  Retention,
  RetentionSettings,
  ClipsRepository,
  Holds,
  DownloadRetry,
  RecordingContent,
  Pokes,
];

/**
 * The platform side of Vision. Its folders, in the order in which footage passes them: `client/` calls a partner's API, reads its
 * lists leniently, and finds the connections. `continuous/` reads the lists of subscribed trucks, window by window; `clips/`
 * requests videos and polls for them; `pokes/` makes both due when the partner says so. `downloads/` fetches the files, asks for
 * new links, and tries again what was lost. `recordings/` stores and shows recordings; `retention/` deletes files and rows by age, from
 * which `holds/` keeps them. `coverage/` says what there is of each camera and time, and `footage/` what there is around a ticket, and requests
 * what is missing. Their common words are in `range.ts` and `truck.ts`. A row is its own job (`src/core/work/`, `docs/diagrams.md`).
 *
 * The doors to the table `recordings`, by what they do: `RecordingsRepository` adds what partners list; `DownloadRepository`
 * writes how a download goes and ends; `RelinkRepository` replaces links; `DownloadRetryRepository` revives what was lost;
 * `retention.repository` expires files by age. Everything that is shown is read by `recording-list.repository`.
 */
@Module({
  imports: [WorkModule, PartnerClientModule, StorageModule],
  providers: [
    ...SERVICES,
    VisionClient,
    VideoRequestsRepository,
    ClipSubmitJob,
    ClipPollClient,
    ClipPollJob,
    SubscriptionsRepository,
    WindowReader,
    WindowReadingJob,
    RecordingsRepository,
    DownloadRetryRepository,
    OldRows,
    HoldsRepository,
    CoverageRepository,
    CoverageSums,
    CoveragePieces,
    SettledDays,
    FootageRepository,
    DownloadRepository,
    RelinkRepository,
    RelinkService,
    {
      provide: Downloader,
      inject: [STORAGE, ENV, OUTBOUND_LOG],
      useFactory: (storage: Storage, env: ResolvedEnv, log: OutboundLog) =>
        new Downloader(storage, outboundPolicy(env), log, env.DOWNLOAD_CONCURRENCY),
    },
    DownloadJob,
    DownloadMetrics,
  ],
  exports: SERVICES,
})
export class VisionModule {}
