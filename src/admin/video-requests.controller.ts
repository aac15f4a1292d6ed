import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { actorOf } from '../auth/action-log.interceptor.js';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { DryRunQuery } from '../contracts/admin/fields.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';
import { OrderVideoRequest, VideoRequestQuery } from '../contracts/admin/video-requests.routes.js';
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  ReadVideoSubscriptionAgain,
  VideoSubscriptionQuery,
} from '../contracts/admin/video-subscriptions.routes.js';
import { JsonBody } from '../core/http/json-body.js';
import { VideoRequests } from '../vision/clips/video-requests.service.js';
import { DownloadRetry } from '../vision/downloads/download-retry.service.js';
import { VideoSubscriptions } from '../vision/continuous/subscriptions.service.js';

/** Requests for clips, and subscriptions to continuous recordings. */
@Controller()
export class VideoRequestsController {
  constructor(
    private readonly requests: VideoRequests,
    private readonly subscriptions: VideoSubscriptions,
    private readonly retries: DownloadRetry,
  ) {}

  @Route(ADMIN_API, 'createVideoRequest')
  create(@JsonBody() order: OrderVideoRequest, @Req() request: Request) {
    return this.requests.order(order, actorOf(request));
  }

  @Route(ADMIN_API, 'listVideoRequests')
  list(@Query() query: VideoRequestQuery) {
    return this.requests.list(query);
  }

  @Route(ADMIN_API, 'getVideoRequest')
  get(@Param() { id }: IdParam) {
    return this.requests.get(id);
  }

  @Route(ADMIN_API, 'retryVideoRequest')
  retry(@Param() { id }: IdParam) {
    return this.retries.retryRequest(id);
  }

  @Route(ADMIN_API, 'listVideoRequestHistory')
  listHistory(@Param() { id }: IdParam, @Query() query: ListQuery) {
    return this.requests.history(id, query);
  }

  @Route(ADMIN_API, 'createVideoSubscription')
  subscribe(@JsonBody() request: CreateVideoSubscription) {
    return this.subscriptions.create(request);
  }

  @Route(ADMIN_API, 'listVideoSubscriptions')
  listSubscriptions(@Query() query: VideoSubscriptionQuery) {
    return this.subscriptions.list(query);
  }

  @Route(ADMIN_API, 'getVideoSubscription')
  getSubscription(@Param() { id }: IdParam) {
    return this.subscriptions.get(id);
  }

  @Route(ADMIN_API, 'updateVideoSubscription')
  updateSubscription(@Param() { id }: IdParam, @JsonBody() change: ChangeVideoSubscription) {
    return this.subscriptions.change(id, change);
  }

  @Route(ADMIN_API, 'readVideoSubscriptionAgain')
  readSubscriptionAgain(@Param() { id }: IdParam, @JsonBody() range: ReadVideoSubscriptionAgain) {
    return this.subscriptions.readAgain(id, range);
  }

  @Route(ADMIN_API, 'deleteVideoSubscription')
  removeSubscription(@Param() { id }: IdParam, @Query() { dryRun }: DryRunQuery) {
    return this.subscriptions.remove(id, dryRun);
  }
}
