import { Get, HttpCode, Post, Put, Query, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiCreatedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Request } from 'express';
import { AdminApi } from '../auth/admin-api.js';
import {
  HostedCamera,
  HostedRecording,
  HostedRecordingQuery,
  HostedVideoRequest,
  HostedVideoRequestQuery,
} from '../contracts/admin/hosted-vision.dto.js';
import { List, listOf } from '../contracts/admin/list.dto.js';
import { JsonBody } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';
import { requireVideo } from '../http/video-body.js';
import { HostedCameras } from '../vision/hosted/cameras.js';
import { HostedRecordings } from '../vision/hosted/recordings.service.js';
import { HostedVideoRequests } from '../vision/hosted/video-requests.store.js';

@AdminApi('hosted')
export class HostedVisionAdminController {
  constructor(
    private readonly cameras: HostedCameras,
    private readonly recordings: HostedRecordings,
    private readonly requests: HostedVideoRequests,
  ) {}

  @Put('cameras')
  @ApiOperation({
    summary: 'Tell the other names of a camera',
    description:
      'Replaces the aliases that it had. What was recorded under them before is of this camera from now on; 409, and nothing ' +
      'is changed, where two recordings would start at the same time.',
  })
  @TakesJson(HostedCamera)
  @ApiOkResponse({ description: 'The camera', type: HostedCamera })
  @FailsWith({ conflict: 'Two recordings would start at the same time; nothing is changed' })
  putCamera(@JsonBody() body: HostedCamera): Promise<HostedCamera> {
    return this.cameras.put(body);
  }

  @Post('recordings')
  @HttpCode(201)
  @ApiOperation({ summary: 'Upload a recording', description: 'An MP4 film of up to 2 GiB, streamed.' })
  @ApiConsumes('video/mp4')
  @ApiBody({ schema: { type: 'string', format: 'binary', maxLength: 2_147_483_648 } })
  @ApiCreatedResponse({ description: 'The stored chunk', type: HostedRecording })
  @FailsWith({
    requestTimeout: 'The upload paused for too long',
    conflict: 'The camera has a recording that starts at this time already',
    tooLarge: 'The film is larger than 2 GiB',
    unsupportedMediaType: 'The body is no `video/mp4`, or has a content coding',
  })
  addRecording(@Query() query: HostedRecordingQuery, @Req() request: Request): Promise<HostedRecording> {
    return this.recordings.add(query, requireVideo(request));
  }

  @Get('video-requests')
  @ApiOperation({ summary: 'What callers have asked of the partner side', description: 'Newest first.' })
  @ApiOkResponse({ description: 'A page of requests', type: listOf(HostedVideoRequest) })
  listRequests(@Query() query: HostedVideoRequestQuery): Promise<List<HostedVideoRequest>> {
    return this.requests.list(query);
  }
}
