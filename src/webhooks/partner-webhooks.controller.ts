import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../auth/caller.js';
import { Route } from '../auth/route.js';
import { DryRunQuery } from '../contracts/admin/fields.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';
import { WebhookDeliveryQuery } from '../contracts/admin/webhook-delivery.dto.js';
import {
  ChangeOwnWebhookEndpoint,
  CreateOwnWebhookEndpoint,
  RotateWebhookSecret,
} from '../contracts/admin/webhook-endpoint.dto.js';
import { PARTNER_API } from '../contracts/partner/partner.api.js';
import type { Call } from '../core/http/call.js';
import { JsonBody } from '../core/http/json-body.js';
import { Deliveries } from './deliveries.service.js';
import { WebhookEndpoints } from './endpoints.service.js';

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
