import { Module } from '@nestjs/common';
import { JobsModule } from '../../jobs/jobs.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { PartnerSandboxModule } from '../sandbox/partner-sandbox.module.js';
import { HostedCameras } from './cameras.js';
import { ClipCutter } from './clip-cutter.js';
import { ClipFolders } from './clip-folders.js';
import { ClipPreparation } from './clip-preparation.js';
import { ClockEvents } from './clock-events.service.js';
import { HostedFilesController } from './files.controller.js';
import { HostedFiles } from './files.service.js';
import { HostedVisionController } from './hosted-vision.controller.js';
import { DownloadLinks } from './links.js';
import { HostedRecordings } from './recordings.service.js';
import { HostedVideoRequests } from './video-requests.store.js';
import { HostedVisionApi } from './vision-api.service.js';

/** The partner side of Vision: the reference partner, and the sandbox. */
@Module({
  imports: [JobsModule, PartnerSandboxModule, StorageModule],
  controllers: [HostedVisionController, HostedFilesController],
  providers: [
    ClipCutter,
    ClipFolders,
    ClipPreparation,
    ClockEvents,
    DownloadLinks,
    HostedCameras,
    HostedFiles,
    HostedRecordings,
    HostedVideoRequests,
    HostedVisionApi,
  ],
  exports: [ClockEvents, HostedCameras, HostedRecordings, HostedVideoRequests],
})
export class HostedVisionModule {}
