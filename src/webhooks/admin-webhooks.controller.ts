import { Controller, Param, Query } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { DryRunQuery } from '../contracts/admin/fields.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { RetryWebhookDeliveries, WebhookDeliveryQuery } from '../contracts/admin/webhook-delivery.dto.js';
import {
  ChangeWebhookEndpoint,
  CreateWebhookEndpoint,
  RotateWebhookSecret,
  WebhookEndpointQuery,
} from '../contracts/admin/webhook-endpoint.dto.js';
import { JsonBody } from '../core/http/json-body.js';
import { Deliveries } from './deliveries.service.js';
import { WebhookEndpoints } from './endpoints.service.js';

/** Webhook endpoints of the operator and of all partners. */
@Controller()
export class AdminWebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly deliveries: Deliveries,
  ) {}

  @Route(ADMIN_API, 'createWebhookEndpoint')
  create(@JsonBody() request: CreateWebhookEndpoint) {
    return this.endpoints.create(request);
  }

  @Route(ADMIN_API, 'listWebhookEndpoints')
  list(@Query() query: WebhookEndpointQuery) {
    return this.endpoints.list(query);
  }

  @Route(ADMIN_API, 'getWebhookEndpoint')
  get(@Param() { id }: IdParam) {
    return this.endpoints.get(id);
  }

  @Route(ADMIN_API, 'updateWebhookEndpoint')
  update(@Param() { id }: IdParam, @JsonBody() request: ChangeWebhookEndpoint) {
    return this.endpoints.update(id, request);
  }

  @Route(ADMIN_API, 'deleteWebhookEndpoint')
  remove(@Param() { id }: IdParam, @Query() { dryRun }: DryRunQuery) {
    return this.endpoints.remove(id, dryRun);
  }

  @Route(ADMIN_API, 'testWebhookEndpoint')
  test(@Param() { id }: IdParam) {
    return this.endpoints.test(id);
  }

  @Route(ADMIN_API, 'rotateWebhookSecret')
  rotate(@Param() { id }: IdParam, @JsonBody() request: RotateWebhookSecret) {
    return this.endpoints.rotate(id, request);
  }

  @Route(ADMIN_API, 'listWebhookDeliveries')
  listDeliveries(@Query() query: WebhookDeliveryQuery) {
    return this.deliveries.list(query);
  }

  @Route(ADMIN_API, 'getWebhookDelivery')
  getDelivery(@Param() { id }: IdParam) {
    return this.deliveries.get(id);
  }

  @Route(ADMIN_API, 'retryWebhookDelivery')
  retry(@Param() { id }: IdParam) {
    return this.deliveries.retry(id);
  }

  @Route(ADMIN_API, 'retryWebhookDeliveries')
  retryFailed(@JsonBody() request: RetryWebhookDeliveries) {
    return this.deliveries.retryFailed(request);
  }
}
