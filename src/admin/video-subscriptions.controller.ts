import { Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  VideoSubscription,
  VideoSubscriptionQuery,
} from '../contracts/admin/video-subscription.dto.js';
import { JsonBody } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';
import { VideoSubscriptions } from '../vision/continuous/subscriptions.service.js';

const UNKNOWN = { notFound: 'There is no such subscription' };

@AdminApi('video-subscriptions')
export class VideoSubscriptionsController {
  constructor(private readonly subscriptions: VideoSubscriptions) {}

  @Post()
  @ApiOperation({
    summary: "Follow a truck's continuous recordings",
    description: 'From `startTime` on, of one camera or of all; first at once.',
  })
  @TakesJson(CreateVideoSubscription)
  @ApiCreatedResponse({ description: 'The subscription', type: VideoSubscription })
  create(@JsonBody() request: CreateVideoSubscription): Promise<VideoSubscription> {
    return this.subscriptions.create(request);
  }

  @Get()
  @ApiOperation({ summary: 'List video subscriptions', description: 'Newest first.' })
  @ApiOkResponse({ description: 'A page of subscriptions', type: listOf(VideoSubscription) })
  list(@Query() query: VideoSubscriptionQuery): Promise<List<VideoSubscription>> {
    return this.subscriptions.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a video subscription', description: 'With how far its recordings were read.' })
  @ApiOkResponse({ description: 'The subscription', type: VideoSubscription })
  @FailsWith(UNKNOWN)
  get(@Param() { id }: IdParam): Promise<VideoSubscription> {
    return this.subscriptions.get(id);
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Change a video subscription', description: 'Its interval, or whether it is followed.' })
  @TakesJson(ChangeVideoSubscription)
  @ApiOkResponse({ description: 'The subscription', type: VideoSubscription })
  @FailsWith(UNKNOWN)
  change(@Param() { id }: IdParam, @JsonBody() change: ChangeVideoSubscription): Promise<VideoSubscription> {
    return this.subscriptions.change(id, change);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'End a video subscription', description: 'What was found stays, and is fetched.' })
  @ApiNoContentResponse({ description: 'The subscription is gone' })
  @FailsWith(UNKNOWN)
  remove(@Param() { id }: IdParam): Promise<void> {
    return this.subscriptions.remove(id);
  }
}
