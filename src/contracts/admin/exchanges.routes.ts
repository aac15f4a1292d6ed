import { ExchangeQuery, ReplayExchangesRequest } from './exchange-query.dto.js';
import { ExchangeReasons, ExchangeReasonsQuery } from './exchange-reason.dto.js';
import { Exchange, ExchangeDetail, ExchangeList } from './exchange.dto.js';
import { IdParam } from './list.dto.js';
import { REPLAY_EXAMPLES, ReplayedExchange, ReplayedExchanges, ReplayExchangeRequest } from './replay.dto.js';
import { type AdminRoutes, read } from './route-parts.js';

/** HTTP exchanges in both directions. */
export const EXCHANGE_ROUTES = {
  listExchanges: {
    method: 'GET',
    path: '/exchanges',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List HTTP exchanges',
    description:
      'Calls of the four interfaces in both directions, newest first, also those that were refused, timed out or never reached the partner. There are no totals; an unknown filter is 400.',
    query: ExchangeQuery,
    status: 200,
    response: ExchangeList,
    csv: { elements: [Exchange] },
    returns: 'A page of exchanges',
  },
  countExchangeReasons: {
    method: 'GET',
    path: '/exchanges/reasons',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Count failed HTTP exchanges by reason',
    description: 'Those of a filter that were refused, failed or have no response. The newest 20,000 are read.',
    query: ExchangeReasonsQuery,
    status: 200,
    response: ExchangeReasons,
    returns: 'The reasons',
  },
  getExchange: {
    ...read(ExchangeDetail, 'exchange'),
    path: '/exchanges/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read an HTTP exchange',
    description:
      'With headers and bodies without secrets, and an explanation. Of the admin API it is an action: `exchange.viewed`. 503 while that cannot be stored.',
    fails: {
      notFound: 'No exchange has this id, or its day is no longer kept',
    },
  },
  replayExchange: {
    method: 'POST',
    path: '/exchanges/{id}/replay',
    role: 'operator',
    isPerHauler: true,
    summary: 'Send the request of an exchange again',
    description:
      "An inbound push as it was, under a new request id and without a key, for the same hauler or another one; an `Idempotency-Key` of a push that was not refused applies again. An outbound `GET` to the connection's current address. An outbound `POST` is never sent again.",
    params: IdParam,
    body: ReplayExchangeRequest,
    isBodyOptional: true,
    status: 201,
    response: ReplayedExchange,
    returns: 'The new exchange',
    fails: {
      notFound: 'No exchange has this id, or its day is no longer kept',
      conflict: 'The exchange cannot be replayed: the message says why',
    },
  },
  replayExchanges: {
    method: 'POST',
    path: '/exchanges/replay',
    role: 'operator',
    isPerHauler: true,
    summary: 'Send the requests of many exchanges again',
    description:
      'Of all exchanges that match the filter, the oldest first, at most 1,000. An exchange that is itself a replay, or cannot be replayed, is skipped with the reason. One that cannot be sent is listed in `failed`, and the others are sent. At least one filter is needed, except in a dry run.',
    body: ReplayExchangesRequest,
    examples: REPLAY_EXAMPLES,
    status: 200,
    response: ReplayedExchanges,
    returns: 'What was sent',
    fails: { conflict: 'The exchange log is off' },
  },
} as const satisfies AdminRoutes;
