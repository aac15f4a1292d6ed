import { Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import {
  OrderedVideoRequest,
  OrderVideoRequest,
  VideoRequest,
  VideoRequestQuery,
} from '../contracts/admin/video-request.dto.js';
import { JsonBody } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';
import { VideoRequestQueries } from '../vision/requests/video-request.queries.js';
import { VideoRequests } from '../vision/requests/video-requests.service.js';

@AdminApi('video-requests')
export class VideoRequestsController {
  constructor(
    private readonly requests: VideoRequests,
    private readonly queries: VideoRequestQueries,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Request on-demand video',
    description: 'The partner is asked, and what it prepares is fetched. A long range is asked for in parts.',
  })
  @TakesJson(OrderVideoRequest)
  @ApiAcceptedResponse({ description: 'The request', type: OrderedVideoRequest })
  order(@JsonBody() request: OrderVideoRequest): Promise<OrderedVideoRequest> {
    return this.requests.order(request);
  }

  @Get()
  @ApiOperation({ summary: 'List video requests', description: 'Newest first.' })
  @ApiOkResponse({ description: 'A page of requests', type: listOf(VideoRequest) })
  list(@Query() query: VideoRequestQuery): Promise<List<VideoRequest>> {
    return this.queries.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a video request', description: 'With its parts and the ids of its recordings.' })
  @ApiOkResponse({ description: 'The request', type: VideoRequest })
  @FailsWith({ notFound: 'There is no such request' })
  get(@Param() { id }: IdParam): Promise<VideoRequest> {
    return this.queries.get(id);
  }
}
