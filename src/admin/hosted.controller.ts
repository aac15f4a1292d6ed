import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { DryRunQuery } from '../contracts/admin/fields.js';
import {
  HostedCamera,
  HostedHaulerParam,
  HostedRecordingQuery,
  HostedVideoRequestQuery,
} from '../contracts/admin/hosted.routes.js';
import { JsonBody } from '../core/http/json-body.js';
import { readVideo } from '../core/http/body-reader.js';
import { ReferenceSiteData } from '../reference-partner/site/site-data.service.js';
import { ReferenceCameras } from '../reference-partner/vision/cameras.repository.js';
import { ReferenceRecordings } from '../reference-partner/vision/recordings.service.js';
import { ReferenceVideoRequests } from '../reference-partner/vision/video-requests.service.js';

/** The data of the reference partner. */
@Controller()
export class HostedController {
  constructor(
    private readonly siteData: ReferenceSiteData,
    private readonly cameras: ReferenceCameras,
    private readonly recordings: ReferenceRecordings,
    private readonly requests: ReferenceVideoRequests,
  ) {}

  @Route(ADMIN_API, 'replaceHostedSiteData')
  replaceSiteData(
    @Param() { haulerId }: HostedHaulerParam,
    @Query() { dryRun }: DryRunQuery,
    @JsonBody() body: unknown,
  ) {
    return this.siteData.replace(haulerId, body, dryRun);
  }

  @Route(ADMIN_API, 'setHostedCamera')
  setCamera(@JsonBody() camera: HostedCamera) {
    return this.cameras.put(camera);
  }

  @Route(ADMIN_API, 'uploadHostedRecording')
  upload(@Query() query: HostedRecordingQuery, @Req() request: Request) {
    return this.recordings.add(query, readVideo(request));
  }

  @Route(ADMIN_API, 'listHostedVideoRequests')
  listRequests(@Query() query: HostedVideoRequestQuery) {
    return this.requests.list(query);
  }
}
