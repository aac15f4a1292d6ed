import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Route } from '../../auth/route.js';
import {
  ContinuousQuery,
  CreateVideoRequest,
  ListVideosQuery,
  VIDEO_FILES_API,
  VISION_API,
} from '../../contracts/vision/vision.api.js';
import { JsonBody } from '../../core/http/json-body.js';
import { VideoFiles } from './download-links.js';
import { ReferenceVisionApi } from './vision-api.service.js';

@Controller()
export class ReferenceVisionController {
  constructor(
    private readonly vision: ReferenceVisionApi,
    private readonly files: VideoFiles,
  ) {}

  @Route(VISION_API, 'requestVideo')
  requestVideo(@JsonBody() body: CreateVideoRequest, @Req() request: Request) {
    return this.vision.requestVideo(body, request);
  }

  @Route(VISION_API, 'listVideos')
  listVideos(@Query() query: ListVideosQuery, @Req() request: Request) {
    return this.vision.listVideos(query, request);
  }

  @Route(VISION_API, 'listContinuous')
  listContinuous(@Query() query: ContinuousQuery, @Req() request: Request) {
    return this.vision.listContinuous(query, request);
  }

  @Route(VIDEO_FILES_API, 'downloadRecording')
  recording(@Param('id') id: string, @Req() request: Request, @Res() response: Response) {
    return this.files.send('recordings', id, request, response);
  }

  @Route(VIDEO_FILES_API, 'downloadClip')
  clip(@Param('id') id: string, @Req() request: Request, @Res() response: Response) {
    return this.files.send('clips', id, request, response);
  }
}
