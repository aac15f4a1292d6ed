import { Controller, Req } from '@nestjs/common';
import type { Request } from 'express';
import { DataSource } from 'typeorm';
import { AttentionService } from '../attention/attention.service.js';
import { Route } from '../../auth/route.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { apiError } from '../../core/errors/app-error.js';
import { findConnection } from '../../partner-client/connections.service.js';
import { connectionOf } from './partner-connection.controller.js';

/** What needs attention of the connection of a key. */
@Controller()
export class PartnerAttentionController {
  constructor(
    private readonly attention: AttentionService,
    private readonly dataSource: DataSource,
  ) {}

  @Route(PARTNER_API, 'getOwnAttention')
  async get(@Req() { call }: Request) {
    const { haulerId, connectionId } = connectionOf(call);
    const connection = await findConnection(this.dataSource, haulerId, connectionId);
    if (connection === undefined) throw apiError(PARTNER_API, 'notFound', 'the connection was deleted');
    return this.attention.ofConnection(connection);
  }
}
