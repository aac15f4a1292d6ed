import { ExchangeQuery, ReplayExchangesRequest } from './exchange-query.dto.js';
import { ExchangeReasons, ExchangeReasonsQuery, ExchangeSpans, ExchangeSpansQuery } from './exchange-reason.dto.js';
import { ExchangeDetail, ExchangeList } from './exchange.dto.js';
import { REPLAY_EXAMPLES, ReplayedExchange, ReplayedExchanges, ReplayExchangeRequest } from './replay.dto.js';
import { type AdminRoutes, change, FOR_OPERATORS, FOR_VIEWERS, one, route } from './route-helpers.js';

/** HTTP exchanges in both directions. */
export const EXCHANGE_ROUTES = {
  listExchanges: route(FOR_VIEWERS, 'GET', '/exchanges', {
    summary: 'List HTTP exchanges',
    description:
      'Calls of the four interfaces in both directions, newest first, also those that were refused, timed out or never reached the partner. There are no totals; an unknown filter is 400.',
    query: ExchangeQuery,
    response: ExchangeList,
    csv: true,
    returns: 'A page of exchanges',
  }),
  countExchangeReasons: route(FOR_VIEWERS, 'GET', '/exchanges/reasons', {
    summary: 'Count failed HTTP exchanges by reason',
    description: 'Those of a filter that were refused, failed or have no response. Hours are counted whole.',
    query: ExchangeReasonsQuery,
    response: ExchangeReasons,
  }),
  countExchanges: route(FOR_VIEWERS, 'GET', '/exchanges/counts', {
    summary: 'Count HTTP exchanges over time',
    description: 'Those of a filter by their outcome, in spans of whole hours.',
    query: ExchangeSpansQuery,
    response: ExchangeSpans,
  }),
  getExchange: one(FOR_VIEWERS, '/exchanges/{id}', 'exchange', ExchangeDetail, {
    summary: 'Read an HTTP exchange',
    description:
      'With headers and bodies without secrets, and an explanation. Of the admin API it is an action: `exchange.viewed`. 503 while that cannot be stored.',
    fails: { notFound: 'No exchange has this id, or its day is no longer kept' },
  }),
  replayExchange: change(FOR_OPERATORS, 'POST', '/exchanges/{id}/replay', 'exchange', {
    summary: 'Send the request of an exchange again',
    description:
      "An inbound push as it was, under a new request id and without a key, for the same hauler or another one; an `Idempotency-Key` of a push that was not refused applies again. An outbound `GET` to the connection's current address. An outbound `POST` is never sent again.",
    body: ReplayExchangeRequest,
    response: ReplayedExchange,
    isBodyOptional: true,
    status: 201,
    returns: 'The new exchange',
    fails: {
      notFound: 'No exchange has this id, or its day is no longer kept',
      conflict: 'The exchange cannot be replayed: the message says why',
    },
  }),
  replayExchanges: route(FOR_OPERATORS, 'POST', '/exchanges/replay', {
    summary: 'Send the requests of many exchanges again',
    description:
      'Of all exchanges that match the filter, the oldest first, at most 1,000. An exchange that is itself a replay, or cannot be replayed, is skipped with the reason. One that cannot be sent is listed in `failed`, and the others are sent. At least one filter is needed, except in a dry run.',
    body: ReplayExchangesRequest,
    response: ReplayedExchanges,
    examples: REPLAY_EXAMPLES,
    returns: 'What was sent',
    fails: { conflict: 'The exchange log is off' },
  }),
} as const satisfies AdminRoutes;
