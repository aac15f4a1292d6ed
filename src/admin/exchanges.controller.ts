import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { whoOf } from '../auth/action-log.interceptor.js';
import { ActionLog } from '../auth/action-log.repository.js';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  ExchangeQuery,
  ExchangeReasonsQuery,
  ExchangeSpansQuery,
  ReplayExchangeRequest,
  ReplayExchangesRequest,
} from '../contracts/admin/exchanges.routes.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { ExchangeQueries } from '../exchanges/exchange-queries.service.js';
import { ExchangeReasonCounts } from '../exchanges/exchange-reasons.service.js';
import { filterNames, listAnswer } from '../core/http/list-answer.js';
import { JsonBody } from '../core/http/json-body.js';
import { longWork } from '../core/http/answer.js';
import { ExchangeReplay } from './exchange-replay.service.js';

/** HTTP exchanges in both directions. */
@Controller()
export class ExchangesController {
  constructor(
    private readonly exchanges: ExchangeQueries,
    private readonly reasons: ExchangeReasonCounts,
    private readonly replays: ExchangeReplay,
    private readonly actions: ActionLog,
  ) {}

  @Route(ADMIN_API, 'listExchanges')
  list(@Query() query: ExchangeQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.exchanges.list(part, filterNames(request)));
  }

  @Route(ADMIN_API, 'countExchangeReasons')
  countReasons(@Query() query: ExchangeReasonsQuery, @Req() request: Request) {
    return this.reasons.count(query, Object.keys(request.query));
  }

  @Route(ADMIN_API, 'countExchanges')
  count(@Query() query: ExchangeSpansQuery, @Req() request: Request) {
    return this.reasons.spans(query, Object.keys(request.query));
  }

  @Route(ADMIN_API, 'getExchange')
  async get(@Param() { id }: IdParam, @Req() request: Request) {
    const exchange = await this.exchanges.get(id);
    const resource = `exchange:${exchange.id}`;
    await this.actions.requireView({ ...whoOf(request), action: 'exchange.viewed', resource });
    return exchange;
  }

  @Route(ADMIN_API, 'replayExchange')
  replay(@Param() { id }: IdParam, @JsonBody() request: ReplayExchangeRequest, @Req() { res }: Request) {
    return longWork(res!, () => this.replays.replay(id, request));
  }

  @Route(ADMIN_API, 'replayExchanges')
  replayMany(@JsonBody() filter: ReplayExchangesRequest, @Req() { call: { parsedBody }, res }: Request) {
    return longWork(res!, () => this.replays.replayMany(filter, Object.keys(parsedBody as object)));
  }
}
