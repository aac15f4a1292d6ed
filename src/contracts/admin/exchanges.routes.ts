import { type InterfaceName, INTERFACES } from '../common/interfaces.values.js';
import {
  Decimal,
  Flag,
  Integer,
  Json,
  Nested,
  NestedList,
  OneOf,
  Text,
  Time,
  Uuid,
} from '../common/fields/decorators.js';
import { between, example, inQuery, max, min, nullable, optional } from '../common/fields/options.js';
import { parseReference, type Reference, REFERENCE_KINDS } from '../common/references.js';
import { Cursor, DryRun, HAULER, HaulerId, KeyPrefix, NextCursor, RequestId, ResponseStatus } from './fields.js';
import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import type { Instant } from '../common/instant.js';
import { PageSize } from '../common/pagination.dto.js';
import { ExchangeCounts } from './overview.dto.js';
import { type AdminRoutes, change, FOR_OPERATORS, FOR_VIEWERS, one, route } from './route-helpers.js';

/** A value by which the exchange is found. */
class ExchangeReference implements Reference {
  @OneOf('Kind of the value', REFERENCE_KINDS, example('ticketNumber')) kind!: Reference['kind'];
  @Text('The value; of a long one its beginning and its SHA-256', example('IN-204817')) value!: string;
}

/** One HTTP exchange in a list. */
export class Exchange {
  @Uuid('Id of the exchange') id!: string;
  @Time('When it began') at!: string;
  @OneOf('`inbound`: a call to this service. `outbound`: a call of this service.', ['inbound', 'outbound'])
  direction!: 'inbound' | 'outbound';
  @OneOf('The interface', INTERFACES) interface!: InterfaceName;
  @Text('The operation; null for an unknown path', nullable, example('createTicket')) route!: string | null;
  @Text('Method of the request', example('POST')) method!: string;
  @Text('Path with query, without secrets', example('/platform-api/v1/tickets')) path!: string;
  @HaulerId(nullable) haulerId!: string | null;
  @Uuid('The connection of an outbound call', nullable) connectionId!: string | null;
  @Uuid('The API key of an inbound call', nullable) apiKeyId!: string | null;
  @KeyPrefix(nullable) keyPrefix!: string | null;
  @RequestId(nullable) requestId!: string | null;
  @ResponseStatus(nullable) status!: number | null;
  @Text('Why there is no usable response, such as `timed-out` or `cut-off`', optional) failure?: string;
  @Text('`error.code` of the response', optional, example('VALIDATION_ERROR')) errorCode?: string;
  @Text(
    'Why it failed: the codes of what the service decided, else the code of the response, the failure, or `http-` with the status. Absent for a call that succeeded',
    optional,
    example('materialExists'),
  )
  reason?: string;
  @Text('The reason as a sentence', optional, example('The platform has no material with this id for your hauler.'))
  reasonText?: string;
  @Text('What the service decided: the ticket result, or status and reason', optional, example('422 materialExists'))
  result?: string;
  @Text('Unknown fields of the request, which were ignored', optional) ignoredFields?: string;
  @Decimal('Milliseconds until the end of the response', example(4.2)) durationMs!: number;
  @Integer('Size of the request body', example(412)) requestBytes!: number;
  @Integer('Size of the response body', example(230)) responseBytes!: number;
  @Uuid('The exchange that this one repeats', optional) replayOf?: string;
  @Text('The scenario that the sandbox injected', optional) scenario?: string;
  @NestedList('Values by which it is found', ExchangeReference) references!: ExchangeReference[];
}

export class ExchangeList {
  @NestedList('Newest first', Exchange) data!: Exchange[];
  @NextCursor() next!: string | null;
}

/** One HTTP exchange in the list of its partner, who reads why without a second call. */
class ExplainedExchange extends Exchange {
  @Text(
    'What happened, why, what is stored now, and what to do',
    example(
      'The call POST /platform-api/v1/tickets received 422. A business rule refused the request. Nothing was stored.',
    ),
  )
  explanation!: string;
}

export class ExplainedExchangeList {
  @NestedList('Newest first', ExplainedExchange) data!: ExplainedExchange[];
  @NextCursor() next!: string | null;
}

/** The stored part of a body, without secrets. */
export class ExchangeBody {
  @Text('The body as text', optional, example('{"siteId":"0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10","materials":[]}'))
  text?: string;
  @Text('The body in base64, if it is not text', optional) base64?: string;
  @Integer('Size of the whole body as it was sent', example(412)) sizeBytes!: number;
  @Text('SHA-256 of the whole body as it was sent, in hex') sha256!: string;
  @Flag('Whether only the beginning is shown', example(false)) truncated!: boolean;
  @Flag('Present if secrets were replaced by `[redacted]`', optional) redacted?: boolean;
}

export class ExchangeMessage {
  @Json(
    'Headers by name; secrets are `[redacted]`',
    { type: 'object', additionalProperties: { type: 'string' } },
    example({ 'content-type': 'application/json' }),
  )
  headers!: Record<string, string>;
  @Nested('Absent if there was none, or it was not read', ExchangeBody, optional) body?: ExchangeBody;
}

/** One HTTP exchange in full. */
export class ExchangeDetail extends ExplainedExchange {
  @Text('Id of its trace: that of `traceparent` of the request, or one of its own') traceId!: string;
  @Text('Id of the exchange in its trace') spanId!: string;
  @Text("The caller's part of the trace: the parent id of `traceparent` of an inbound call", optional)
  parentSpanId?: string;
  @Nested('The request', ExchangeMessage) request!: ExchangeMessage;
  @Nested(
    'The response without the security headers that all responses have; null without a response',
    ExchangeMessage,
    nullable,
  )
  response!: ExchangeMessage | null;
}

const REFERENCE_FORM = `kind:value with one of the kinds ${REFERENCE_KINDS.join(', ')}`;

/** Filters that hours are counted by, too. All given filters apply. */
class CountedFilters {
  @OneOf('Calls to this service, or calls of this service', ['inbound', 'outbound'], optional)
  direction?: 'inbound' | 'outbound';
  @OneOf('Exchanges of this interface only', INTERFACES, optional) interface?: InterfaceName;
  @Text(
    'A status, a class of statuses, or `none` for exchanges without a response',
    max(4),
    { pattern: /^([1-5]\d\d|[1-5]xx|none)$/, form: 'a status such as 422, 4xx or none' },
    optional,
  )
  status?: string;
  @Text('`error.code` of the response', between(1, 100), optional) errorCode?: string;
  @Text('Why it failed: `reason` of an exchange', between(1, 300), optional) reason?: string;
  @Flag('Exchanges that a scenario of the sandbox touched; or only the others', inQuery, optional) rehearsed?: boolean;
}

class ExchangeFilters extends CountedFilters {
  @Text('`X-Request-Id` of the response', between(1, 128), optional) requestId?: string;
  @Flag(
    'Exchanges that were refused, failed or have no response, which have a `reason`; or only the others',
    inQuery,
    optional,
  )
  failed?: boolean;
  @Text(
    `A value that the exchange names, as \`ticketNumber:IN-204817\`. It is compared exactly. Kinds: ${REFERENCE_KINDS.join(', ')}`,
    between(3, MAX_PARTNER_ID + 20),
    { form: REFERENCE_FORM, rule: 'isReference', check: (value) => parseReference(value) !== undefined },
    optional,
  )
  reference?: string;
  @Time('Exchanges that began at this time or later', inQuery, optional) from?: Instant;
  @Time('Exchanges that began before this time', inQuery, optional) to?: Instant;
}

/** Filters of the exchanges of one API key. */
export class PartnerExchangeQuery extends ExchangeFilters {
  @Cursor() cursor?: string;
  @PageSize() pageSize?: number;
}

/** Filters of exchanges without pages, for an admin. */
class AllExchangeFilters extends ExchangeFilters {
  @Uuid('Exchanges of this hauler only', optional) haulerId?: string;
  @Uuid('Outbound calls of this connection only', optional) connectionId?: string;
  @Uuid('Inbound calls with this API key only', optional) apiKeyId?: string;
}

export class ExchangeQuery extends AllExchangeFilters {
  @Cursor() cursor?: string;
  @PageSize() pageSize?: number;
}

export class ReplayExchangesRequest extends AllExchangeFilters {
  @DryRun() dryRun?: boolean;
}

/** The filters of the counted exchanges: hours are counted, and not by what each exchange names. */
export class ExchangeReasonsQuery extends CountedFilters {
  @Time('Exchanges from the hour of this time on', inQuery, optional) from?: Instant;
  @Time('Exchanges of the hours that began before this time', inQuery, optional) to?: Instant;
  @Uuid('Exchanges of this hauler only', optional) haulerId?: string;
  @Uuid('Outbound calls of this connection only', optional) connectionId?: string;
  @Uuid('Inbound calls with this API key only', optional) apiKeyId?: string;
}

export class ExchangeSpansQuery extends ExchangeReasonsQuery {
  @Flag('Exchanges that were refused, failed or have no response; or only the others', inQuery, optional)
  failed?: boolean;
}

/** Exchanges of some whole hours. */
class ExchangeSpan extends ExchangeCounts {
  @Time('Start of the first hour') startTime!: string;
}

export class ExchangeSpans {
  @Time('Start of the first span') from!: string;
  @Integer('Hours of each span', min(1), example(1)) hours!: number;
  @Flag(
    'Only those that failed are counted: of the others it is not counted which hauler, connection or key they have',
    example(false),
  )
  failedOnly!: boolean;
  @NestedList('All spans until the end of the filter, or until now, at most 48, the oldest first', ExchangeSpan)
  data!: ExchangeSpan[];
}

/** Exchanges that failed for the same reason. */
class ExchangeReason {
  @OneOf('Direction of the calls', ['inbound', 'outbound']) direction!: 'inbound' | 'outbound';
  @Text('`reason` of these exchanges', example('materialExists')) reason!: string;
  @Text('Why they failed', example('The platform has no material with this id for your hauler.')) sentence!: string;
  @Integer('How many', min(1), example(43)) count!: number;
  @Uuid('The newest of them') lastExchangeId!: string;
  @Time('When that one began') lastAt!: string;
}

export class ExchangeReasons {
  @NestedList('The most frequent first', ExchangeReason) data!: ExchangeReason[];
}

/** A filter that matches more exchanges is refused. */
export const MAX_REPLAYS = 1_000;

const REPLAY_EXAMPLES = {
  'what would be sent': {
    summary: 'Refused pushes of a hauler, as a dry run',
    value: { haulerId: HAULER, status: '422', dryRun: true },
  },
} as const;

export class ReplayExchangeRequest {
  @Uuid('Push for this hauler, such as one of the sandbox; by default for the hauler of the exchange', optional)
  haulerId?: string;
  @DryRun() dryRun?: boolean;
}

/** The response to a request. */
export class ReplayAnswer {
  @ResponseStatus(nullable) status!: number | null;
  @Text('Why there is no usable response, such as `timed-out`', optional) failure?: string;
  @Nested('The stored response; null without one', ExchangeMessage, nullable) response!: ExchangeMessage | null;
}

/** The new exchange, and its response beside the earlier one. */
export class ReplayedExchange {
  @Uuid('The new exchange; absent for a dry run', optional) exchangeId?: string;
  @ResponseStatus(nullable) status!: number | null;
  @Nested('What the earlier request received', ReplayAnswer) earlier!: ReplayAnswer;
  @Nested(
    'What the new request received; absent if it is not stored yet: read the new exchange later',
    ReplayAnswer,
    optional,
  )
  now?: ReplayAnswer;
}

/** An exchange that a replay by filter left out. */
class SkippedExchange {
  @Uuid('The exchange') exchangeId!: string;
  @Text('Why it cannot be replayed', example('the body was cut at EXCHANGE_BODY_LIMIT')) reason!: string;
}

export const MAX_FAILURE_LENGTH = 2_000;

/** An exchange that a replay by filter tried to send, and could not. */
class FailedReplay {
  @Uuid('The exchange') exchangeId!: string;
  @Text('Error code', example('CONFLICT')) code!: string;
  @Text(
    'Why it was not sent',
    example('The stored API key cannot be decrypted with this SECRETS_KEY; save the key of the connection again.'),
  )
  message!: string;
}

export class ReplayedExchanges {
  @Integer('Exchanges that match the filter', example(12)) matched!: number;
  @Integer('Requests that were sent again, the oldest first; 0 in a dry run', example(12)) replayed!: number;
  @NestedList('Matching exchanges that cannot be replayed', SkippedExchange, example([])) skipped!: SkippedExchange[];
  @NestedList('Matching exchanges whose request could not be sent; the others were tried all the same', FailedReplay)
  failed!: FailedReplay[];
}

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
