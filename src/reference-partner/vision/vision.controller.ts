import { Get, HttpCode, Post, Query, Req, Controller, Param, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiExcludeController } from '@nestjs/swagger';
import { ServedApi } from '../../auth/served-api.js';
import type { AuthenticatedRequest } from '../../auth/principal.js';
import { VISION_API, type VisionApi } from '../../contracts/vision/vision.api.js';
import {
  ContinuousQuery,
  ContinuousResponse,
  CreateVideoRequest,
  CreateVideoResponse,
  ListVideosQuery,
  ListVideosResponse,
} from '../../contracts/vision/vision.dto.js';
import { JsonBody } from '../../http/json-body.js';
import { FailsWithoutDetails, FailsWith, TakesJson } from '../../http/route-documentation.js';
import { ReferenceVisionApi } from './vision-api.service.js';
import type { Request, Response } from 'express';
import { FILES_PREFIX, VideoFiles } from './download-links.js';

const { requestVideo, listVideos, listContinuous } = VISION_API.routes;
const UNKNOWN = { notFound: 'The customer, the truck or the camera is unknown' };

@ServedApi(VISION_API)
export class ReferenceVisionController implements VisionApi<AuthenticatedRequest> {
  constructor(private readonly vision: ReferenceVisionApi) {}

  @Post(requestVideo.path)
  @HttpCode(202)
  @ApiOperation({
    summary: 'Request a clip',
    description:
      'Poll the video list with the `requestId` of the response until the clip is ready. The sandbox has the uploaded ' +
      'recordings; the demo has the ten minutes before its start. A request for any other time ends as `failed`.',
  })
  @TakesJson(CreateVideoRequest)
  @FailsWith(UNKNOWN)
  @ApiAcceptedResponse({ description: 'The request was accepted', type: CreateVideoResponse })
  requestVideo(
    @JsonBody({ reportsIgnored: CreateVideoRequest }) body: CreateVideoRequest,
    @Req() call: AuthenticatedRequest,
  ): Promise<CreateVideoResponse> {
    return this.vision.requestVideo(body, call);
  }

  @Get(listVideos.path)
  @ApiOperation({
    summary: 'List prepared clips',
    description: 'The clips that overlap the range, oldest first. With a `requestId`, `data.request` is its state.',
  })
  @ApiOkResponse({ description: 'A page of clips', type: ListVideosResponse })
  @FailsWith(UNKNOWN)
  listVideos(@Query() query: ListVideosQuery, @Req() call: AuthenticatedRequest): Promise<ListVideosResponse> {
    return this.vision.listVideos(query, call);
  }

  @Get(listContinuous.path)
  @ApiOperation({
    summary: "List a truck's continuous recordings",
    description: 'The chunks that overlap the range, oldest first, each with its download link.',
  })
  @ApiOkResponse({ description: 'A page of recording chunks', type: ContinuousResponse })
  @FailsWithoutDetails(UNKNOWN)
  listContinuous(@Query() query: ContinuousQuery, @Req() call: AuthenticatedRequest): Promise<ContinuousResponse> {
    return this.vision.listContinuous(query, call);
  }
}

/** Needs no API key: the signed link grants access until it expires. */
@ApiExcludeController()
@Controller(FILES_PREFIX)
export class VideoFilesController {
  constructor(private readonly files: VideoFiles) {}

  @Get('recordings/:id.mp4')
  recording(@Param('id') id: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.files.send('recordings', id, request, response);
  }

  @Get('clips/:id.mp4')
  clip(@Param('id') id: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.files.send('clips', id, request, response);
  }
}
