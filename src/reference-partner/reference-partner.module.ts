import { type DynamicModule, Module } from '@nestjs/common';
import { WorkModule } from '../core/work/work.service.js';
import { StorageModule } from '../core/storage/storage.module.js';
import { FaultyFiles } from './sandbox/faulty-files.js';
import { PartnerClock } from './sandbox/partner-clock.js';
import { VisionScenarios } from './sandbox/vision-scenarios.service.js';
import { ReferenceSiteApi } from './site/site-api.service.js';
import { ReferenceSiteData } from './site/site-data.service.js';
import { ReferenceSiteController } from './site/site.controller.js';
import { ReferenceCameras } from './vision/cameras.repository.js';
import { ClipPreparationJob } from './vision/clip-preparation.job.js';
import { ClockEvents } from './vision/clock-events.service.js';
import { DownloadLinks, VideoFiles } from './vision/download-links.js';
import { ReferenceRecordings } from './vision/recordings.service.js';
import { ReferenceVideoRequests } from './vision/video-requests.service.js';
import { ReferenceVisionApi } from './vision/vision-api.service.js';
import { ReferenceVisionController } from './vision/vision.controller.js';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { SandboxService } from './sandbox/sandbox.service.js';
import { ScenarioSelection } from './sandbox/scenario-selection.js';
import { ScenarioInterceptor } from './sandbox/scenario.interceptor.js';
import { ScenariosRepository } from './sandbox/scenarios.repository.js';

/**
 * The partner side of Site and Vision, with the sandbox. It knows nothing of the platform side. To remove it, delete this folder and
 * its uses in `app.module` and in `admin/`.
 */
@Module({
  imports: [WorkModule, StorageModule],
  controllers: [ReferenceSiteController, ReferenceVisionController],
  providers: [
    FaultyFiles,
    PartnerClock,
    VisionScenarios,
    ReferenceSiteApi,
    ReferenceSiteData,
    ClipPreparationJob,
    ClockEvents,
    DownloadLinks,
    ReferenceCameras,
    ReferenceRecordings,
    ReferenceVideoRequests,
    ReferenceVisionApi,
    VideoFiles,
  ],
  exports: [ReferenceSiteData, ClockEvents, ReferenceCameras, ReferenceRecordings, ReferenceVideoRequests],
})
export class ReferencePartnerModule {}

const INTERCEPTOR = { provide: APP_INTERCEPTOR, useClass: ScenarioInterceptor };

/**
 * Scenarios for the interfaces of both sides, which know nothing of them. Without SANDBOX no request passes an interceptor.
 */
@Module({})
export class SandboxModule {
  static of({ SANDBOX }: { readonly SANDBOX: boolean }): DynamicModule {
    return {
      module: SandboxModule,
      global: true,
      providers: [ScenariosRepository, ScenarioSelection, SandboxService, ...(SANDBOX ? [INTERCEPTOR] : [])],
      exports: [SandboxService],
    };
  }
}
