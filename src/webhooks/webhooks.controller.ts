import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../auth/caller.js';
import { Route } from '../auth/route.js';
import { DryRunQuery } from '../contracts/admin/fields.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';
import {
  ChangeOwnWebhookEndpoint,
  ChangeWebhookEndpoint,
  CreateOwnWebhookEndpoint,
  CreateWebhookEndpoint,
  RetryWebhookDeliveries,
  RotateWebhookSecret,
  WebhookDeliveryQuery,
  WebhookEndpointQuery,
} from '../contracts/admin/webhooks.routes.js';
import { PARTNER_API } from '../contracts/partner/partner.api.js';
import type { Call } from '../core/http/call.js';
import { JsonBody } from '../core/http/json-body.js';
import { Deliveries } from './deliveries.service.js';
import { WebhookEndpoints } from './endpoints.service.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';

/** The webhook endpoints of a partner's key. */
@Controller()
export class PartnerWebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly deliveries: Deliveries,
  ) {}

  @Route(PARTNER_API, 'createOwnWebhookEndpoint')
  async create(@JsonBody() request: CreateOwnWebhookEndpoint, @Req() { call }: Request) {
    return this.endpoints.create(request, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'listOwnWebhookEndpoints')
  async list(@Query() query: ListQuery, @Req() { call }: Request) {
    return this.endpoints.list(query, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'getOwnWebhookEndpoint')
  async get(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.endpoints.get(id, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'updateOwnWebhookEndpoint')
  async update(@Param() { id }: IdParam, @JsonBody() request: ChangeOwnWebhookEndpoint, @Req() { call }: Request) {
    return this.endpoints.update(id, request, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'deleteOwnWebhookEndpoint')
  async remove(@Param() { id }: IdParam, @Query() { dryRun }: DryRunQuery, @Req() { call }: Request) {
    return this.endpoints.remove(id, dryRun, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'testOwnWebhookEndpoint')
  async test(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.endpoints.test(id, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'rotateOwnWebhookSecret')
  async rotate(@Param() { id }: IdParam, @JsonBody() request: RotateWebhookSecret, @Req() { call }: Request) {
    return this.endpoints.rotate(id, request, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'listOwnWebhookDeliveries')
  async listDeliveries(@Query() query: WebhookDeliveryQuery, @Req() { call }: Request) {
    return this.deliveries.list(query, await this.scopeOf(call));
  }

  @Route(PARTNER_API, 'retryOwnWebhookDelivery')
  async retry(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.deliveries.retry(id, await this.scopeOf(call));
  }

  private scopeOf(call: Call) {
    return this.endpoints.scopeOf(principalOf(call));
  }
}

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
