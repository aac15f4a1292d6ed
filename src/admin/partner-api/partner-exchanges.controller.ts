import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/caller.js';
import { Route } from '../../auth/route.js';
import { PartnerExchangeQuery } from '../../contracts/admin/exchange-query.dto.js';
import { IdParam } from '../../contracts/admin/list.dto.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { ExchangeQueries, type ExchangeScope } from '../../exchanges/exchange-queries.service.js';
import type { Call } from '../../core/http/call.js';

/** The calls that were made with a key; for the key of a connection, those that we made to its partner. */
@Controller()
export class PartnerExchangesController {
  constructor(private readonly exchanges: ExchangeQueries) {}

  @Route(PARTNER_API, 'listOwnExchanges')
  list(@Query() query: PartnerExchangeQuery, @Req() { call, query: sent }: Request) {
    return this.exchanges.listOwn(query, Object.keys(sent), scopeOf(call));
  }

  @Route(PARTNER_API, 'getOwnExchange')
  get(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.exchanges.get(id, scopeOf(call));
  }
}

function scopeOf(call: Call): ExchangeScope {
  const { keyId, haulerId, connectionId } = principalOf(call);
  if (keyId === null) throw new Error('the partner API needs a key');
  const owner = haulerId === null ? {} : { haulerId };
  return connectionId === null ? { ...owner, apiKeyId: keyId } : { ...owner, connectionId };
}
