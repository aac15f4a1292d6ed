import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { PartnerClientModule } from '../partner-client/partner-client.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { CrawlWork } from './continuous/crawl.work.js';
import { VideoSubscriptions } from './continuous/subscriptions.service.js';
import { WindowReader } from './continuous/window-reader.js';
import { WindowWork } from './continuous/window.work.js';
import { DownloadMetrics } from './downloads/download-metrics.js';
import { DownloadWork } from './downloads/download.work.js';
import { FetchSteps } from './downloads/fetch-steps.js';
import { RecordingMoves } from './downloads/recording-moves.js';
import { RecordingStore } from './downloads/recording.store.js';
import { Relink } from './downloads/relink.js';
import { StoragePause } from './downloads/storage-pause.js';
import { FindingQueries } from './finding.queries.js';
import { FindingsRetention } from './findings-retention.js';
import { VisionFindings } from './findings.js';
import { CoverageService } from './recordings/coverage.service.js';
import { MendedConnections } from './mended-connections.js';
import { RecordingContent } from './recordings/recording-content.js';
import { Retention } from './recordings/retention.js';
import { RecordingQueries } from './recordings/recording.queries.js';
import { PartsStore } from './requests/parts.store.js';
import { PollAlone } from './requests/poll-alone.js';
import { PollAsking } from './requests/poll-asking.js';
import { PollList } from './requests/poll-list.js';
import { PollOutcome } from './requests/poll-outcome.js';
import { PollWork } from './requests/poll.work.js';
import { SubmitOutcome } from './requests/submit-outcome.js';
import { SubmitWork } from './requests/submit.work.js';
import { VideoRequestQueries } from './requests/video-request.queries.js';
import { VideoRequests } from './requests/video-requests.service.js';
import { VisionConnections } from './vision-connections.js';
import { VisionClient } from './vision.client.js';

/** The platform side of Vision: requests, subscriptions, downloads, and what came of them. */
@Module({
  imports: [JobsModule, PartnerClientModule, StorageModule],
  providers: [
    VisionClient,
    VisionConnections,
    MendedConnections,
    VisionFindings,
    FindingsRetention,
    FindingQueries,
    PartsStore,
    VideoRequests,
    VideoRequestQueries,
    SubmitOutcome,
    SubmitWork,
    PollAlone,
    PollAsking,
    PollList,
    PollOutcome,
    PollWork,
    VideoSubscriptions,
    WindowReader,
    CrawlWork,
    WindowWork,
    RecordingStore,
    RecordingMoves,
    Relink,
    StoragePause,
    FetchSteps,
    DownloadWork,
    DownloadMetrics,
    RecordingQueries,
    RecordingContent,
    CoverageService,
    Retention,
  ],
  exports: [
    FindingQueries,
    VideoRequests,
    VideoRequestQueries,
    VideoSubscriptions,
    RecordingQueries,
    RecordingContent,
    CoverageService,
    Retention,
  ],
})
export class VisionModule {}
