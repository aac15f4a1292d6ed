import { Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AdminController, AdminRoute } from '../auth/admin-api.js';
import { ExchangeDetail, ExchangeList, ExchangeQuery } from '../contracts/admin/exchange.dto.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { ExchangeQueries } from '../exchanges/exchange-queries.service.js';

/** HTTP exchanges in both directions. */
@AdminController()
export class ExchangesController {
  constructor(private readonly exchanges: ExchangeQueries) {}

  @AdminRoute('listExchanges')
  list(@Query() query: ExchangeQuery, @Req() request: Request): Promise<ExchangeList> {
    return this.exchanges.list(query, Object.keys(request.query));
  }

  @AdminRoute('getExchange')
  get(@Param() { id }: IdParam): Promise<ExchangeDetail> {
    return this.exchanges.get(id);
  }
}
