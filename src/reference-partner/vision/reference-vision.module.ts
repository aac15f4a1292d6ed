import { Module } from '@nestjs/common';
import { JobsModule } from '../../jobs/jobs.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { PartnerSandboxModule } from '../sandbox/partner-sandbox.module.js';
import { ReferenceCameras } from './cameras.service.js';
import { ClipCutter } from './clip-cutter.js';
import { ClipFolders } from './clip-folders.js';
import { ClipPreparationJob } from './clip-preparation.job.js';
import { ClockEvents } from './clock-events.service.js';
import { VideoFilesController, ReferenceVisionController } from './vision.controller.js';
import { VideoFiles } from './video-files.service.js';
import { DownloadLinks } from './download-links.js';
import { ReferenceRecordings } from './recordings.service.js';
import { ReferenceVideoRequests } from './video-requests.service.js';
import { ReferenceVisionApi } from './vision-api.service.js';

/** The partner side of Vision: the reference partner, and the sandbox. */
@Module({
  imports: [JobsModule, PartnerSandboxModule, StorageModule],
  controllers: [ReferenceVisionController, VideoFilesController],
  providers: [
    ClipCutter,
    ClipFolders,
    ClipPreparationJob,
    ClockEvents,
    DownloadLinks,
    ReferenceCameras,
    VideoFiles,
    ReferenceRecordings,
    ReferenceVideoRequests,
    ReferenceVisionApi,
  ],
  exports: [ClockEvents, ReferenceCameras, ReferenceRecordings, ReferenceVideoRequests],
})
export class ReferenceVisionModule {}
