import { Param, Query } from '@nestjs/common';
import { AdminController, AdminRoute } from '../auth/admin-api.js';
import { HistoryEntry } from '../contracts/admin/history.dto.js';
import { IdParam, List, ListQuery } from '../contracts/admin/list.dto.js';
import {
  OrderedVideoRequest,
  OrderVideoRequest,
  VideoRequest,
  VideoRequestQuery,
} from '../contracts/admin/video-request.dto.js';
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  ReadVideoSubscriptionAgain,
  VideoSubscription,
  VideoSubscriptionQuery,
} from '../contracts/admin/video-subscription.dto.js';
import { JsonBody } from '../http/json-body.js';
import { VideoRequests } from '../vision/clips/video-requests.service.js';
import { VideoSubscriptions } from '../vision/continuous/subscriptions.service.js';

/** Requests for clips, and subscriptions to continuous recordings. */
@AdminController()
export class VideoRequestsController {
  constructor(
    private readonly requests: VideoRequests,
    private readonly subscriptions: VideoSubscriptions,
  ) {}

  @AdminRoute('createVideoRequest')
  create(@JsonBody() request: OrderVideoRequest): Promise<OrderedVideoRequest> {
    return this.requests.order(request);
  }

  @AdminRoute('listVideoRequests')
  list(@Query() query: VideoRequestQuery): Promise<List<VideoRequest>> {
    return this.requests.list(query);
  }

  @AdminRoute('getVideoRequest')
  get(@Param() { id }: IdParam): Promise<VideoRequest> {
    return this.requests.get(id);
  }

  @AdminRoute('listVideoRequestHistory')
  listHistory(@Param() { id }: IdParam, @Query() query: ListQuery): Promise<List<HistoryEntry>> {
    return this.requests.history(id, query);
  }

  @AdminRoute('createVideoSubscription')
  subscribe(@JsonBody() request: CreateVideoSubscription): Promise<VideoSubscription> {
    return this.subscriptions.create(request);
  }

  @AdminRoute('listVideoSubscriptions')
  listSubscriptions(@Query() query: VideoSubscriptionQuery): Promise<List<VideoSubscription>> {
    return this.subscriptions.list(query);
  }

  @AdminRoute('getVideoSubscription')
  getSubscription(@Param() { id }: IdParam): Promise<VideoSubscription> {
    return this.subscriptions.get(id);
  }

  @AdminRoute('updateVideoSubscription')
  updateSubscription(
    @Param() { id }: IdParam,
    @JsonBody() change: ChangeVideoSubscription,
  ): Promise<VideoSubscription> {
    return this.subscriptions.change(id, change);
  }

  @AdminRoute('readVideoSubscriptionAgain')
  readSubscriptionAgain(
    @Param() { id }: IdParam,
    @JsonBody() range: ReadVideoSubscriptionAgain,
  ): Promise<VideoSubscription> {
    return this.subscriptions.readAgain(id, range);
  }

  @AdminRoute('deleteVideoSubscription')
  removeSubscription(@Param() { id }: IdParam): Promise<void> {
    return this.subscriptions.remove(id);
  }
}
