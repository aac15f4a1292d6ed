import { Controller, Inject, Param, Query, Req } from '@nestjs/common';
import { principalOf } from '../auth/caller.js';
import { Route } from '../auth/route.js';
import type { AuthenticatedRequest } from '../auth/principal.js';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { PartnerExchangeQuery } from '../contracts/admin/exchange.dto.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import { PARTNER_API } from '../contracts/partner/partner.api.js';
import { lastSynchronisation } from '../site-sync/catalog/catalog.repository.js';
import { ExchangeQueries, type ExchangeScope } from '../exchanges/exchange-queries.service.js';

/** Describes the key of a call, and lists the calls that were made with it. */
@Controller()
export class PartnerExchangesController {
  constructor(
    private readonly exchanges: ExchangeQueries,
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  @Route(PARTNER_API, 'getMe')
  async me(@Req() call: AuthenticatedRequest) {
    const { interfaces, haulerId, customerId, keyPrefix, endsAt } = principalOf(call);
    const last = haulerId === null ? undefined : await lastSynchronisation(this.dataSource, haulerId);
    return {
      interfaces: [...interfaces],
      ...(haulerId === null ? {} : { haulerId }),
      ...(customerId === null ? {} : { customerId }),
      ...(customerId === null && interfaces.has('vision') ? { allCustomers: true } : {}),
      keyPrefix,
      expiresAt: endsAt === Infinity ? null : formatInstant(new Date(endsAt)),
      ...(last === undefined ? {} : { lastSynchronisation: last === null ? null : formatInstant(last) }),
      sandbox: this.env.SANDBOX,
    };
  }

  @Route(PARTNER_API, 'listOwnExchanges')
  list(@Query() query: PartnerExchangeQuery, @Req() call: AuthenticatedRequest) {
    return this.exchanges.list(query, Object.keys(call.query), scopeOf(call));
  }

  @Route(PARTNER_API, 'getOwnExchange')
  get(@Param() { id }: IdParam, @Req() call: AuthenticatedRequest) {
    return this.exchanges.get(id, scopeOf(call));
  }
}

function scopeOf(call: AuthenticatedRequest): ExchangeScope {
  const { keyId, haulerId } = principalOf(call);
  if (keyId === null) throw new Error('the partner API needs a key');
  return { apiKeyId: keyId, ...(haulerId === null ? {} : { haulerId }) };
}
