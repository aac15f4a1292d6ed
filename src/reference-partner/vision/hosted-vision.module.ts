import { Module } from '@nestjs/common';
import { JobsModule } from '../../jobs/jobs.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { HostedCameras } from './cameras.js';
import { ClipFolders } from './clip-folders.js';
import { ClipPreparation } from './clip-preparation.js';
import { HostedFilesController } from './files.controller.js';
import { HostedFiles } from './files.service.js';
import { HostedVisionController } from './hosted-vision.controller.js';
import { DownloadLinks } from './links.js';
import { HostedRecordings } from './recordings.service.js';
import { HostedVideoRequests } from './video-requests.store.js';
import { HostedVisionApi } from './vision-api.service.js';

/** The partner side of Vision: the reference partner, and the sandbox. */
@Module({
  imports: [JobsModule, StorageModule],
  controllers: [HostedVisionController, HostedFilesController],
  providers: [
    ClipFolders,
    ClipPreparation,
    DownloadLinks,
    HostedCameras,
    HostedFiles,
    HostedRecordings,
    HostedVideoRequests,
    HostedVisionApi,
  ],
  exports: [HostedCameras, HostedRecordings, HostedVideoRequests],
})
export class HostedVisionModule {}
