import { INTERFACES, type InterfaceName } from '../common/interfaces.values.js';
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
import { example, nullable, optional } from '../common/fields/options.js';
import { REFERENCE_KINDS, type Reference } from '../common/references.js';
import { HaulerId, KeyPrefix, NextCursor, RequestId, ResponseStatus } from './fields.js';

/** A value by which the exchange is found. */
export class ExchangeReference implements Reference {
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
export class ExplainedExchange extends Exchange {
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
