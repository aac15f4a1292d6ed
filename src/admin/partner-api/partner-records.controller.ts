import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { principalOf } from '../../auth/caller.js';
import { Route } from '../../auth/route.js';
import { PartnerExchangeQuery } from '../../contracts/admin/exchanges.routes.js';
import { IdParam, ListQuery } from '../../contracts/admin/list.dto.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { ExchangeQueries, type ExchangeScope } from '../../exchanges/exchange-queries.service.js';
import type { Call } from '../../core/http/call.js';
import { AccountQueries } from '../../accounts/account-queries.js';
import { AccountFilters } from '../../contracts/admin/accounts.routes.js';
import { CatalogFilters } from '../../contracts/admin/catalog.routes.js';
import { TicketFilters } from '../../contracts/admin/tickets.routes.js';
import type { InterfaceName } from '../../contracts/common/interfaces.values.js';
import { apiError } from '../../core/errors/app-error.js';
import { jsonText, streamedList } from '../../core/http/answer.js';
import { TicketQueries } from '../../scale/ticket-queries.js';
import { CatalogLists } from '../../site-sync/catalog/catalog-lists.service.js';

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

/** The handler sets headers only; Nest still sends what it returns. */
const PASSTHROUGH = { passthrough: true };

/** What the platform has of the hauler of a key (decision 1). */
@Controller()
export class PartnerRecordsController {
  constructor(
    private readonly tickets: TicketQueries,
    private readonly accounts: AccountQueries,
    private readonly catalog: CatalogLists,
  ) {}

  @Route(PARTNER_API, 'listOwnTickets')
  async list(@Query() query: TicketFilters, @Req() { call }: Request, @Res(PASSTHROUGH) response: Response) {
    return streamedList(response, await this.tickets.list({ ...query, haulerId: haulerOf(call, 'scale') }));
  }

  @Route(PARTNER_API, 'getOwnTicket')
  async get(@Param() { id }: IdParam, @Req() { call }: Request, @Res(PASSTHROUGH) response: Response) {
    return jsonText(response, await this.tickets.ofHauler(haulerOf(call, 'scale'), id));
  }

  @Route(PARTNER_API, 'listOwnTicketRevisions')
  async revisions(
    @Param() { id }: IdParam,
    @Query() query: ListQuery,
    @Req() { call }: Request,
    @Res(PASSTHROUGH) response: Response,
  ) {
    return streamedList(response, await this.tickets.revisions(id, query, haulerOf(call, 'scale')));
  }

  @Route(PARTNER_API, 'listOwnAccounts')
  listAccounts(@Query() query: AccountFilters, @Req() { call }: Request) {
    return this.accounts.list({ ...query, haulerId: haulerOf(call, 'account') });
  }

  @Route(PARTNER_API, 'listOwnSites')
  listSites(@Query() query: CatalogFilters, @Req() { call }: Request) {
    return this.catalog.sites({ ...query, ...catalogOf(call) });
  }

  @Route(PARTNER_API, 'listOwnMaterials')
  listMaterials(@Query() query: CatalogFilters, @Req() { call }: Request) {
    return this.catalog.materials({ ...query, ...catalogOf(call) });
  }
}

/** The whole catalog of a hauler, or what came through the connection of the key. */
function catalogOf(call: Call) {
  const { haulerId, connectionId } = principalOf(call);
  return haulerId !== null && connectionId !== null
    ? { haulerId, connectionId }
    : { haulerId: haulerOf(call, 'scale', 'site') };
}

/** The hauler of a key that opens one of the interfaces. */
function haulerOf(call: Call, ...names: readonly InterfaceName[]): string {
  const { haulerId, interfaces } = principalOf(call);
  if (haulerId !== null && names.some((name) => interfaces.has(name))) return haulerId;
  throw apiError(PARTNER_API, 'notFound', `this key does not open ${names.join(' or ')} for a hauler`);
}
