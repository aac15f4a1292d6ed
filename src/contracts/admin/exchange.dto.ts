import { INTERFACES, type InterfaceName } from '../common/api-contract.js';
import { Documented } from '../common/fields/documented.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { MAX_PAGE_SIZE } from '../common/pagination.dto.js';
import { NEXT_CURSOR } from './list.dto.js';
import { REFERENCE_KINDS, type Reference } from '../common/references.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const MAX_BYTES = Number.MAX_SAFE_INTEGER;

/** A value by which the exchange is found. */
export class ExchangeReference implements Reference {
  @EnumField({ description: 'Kind of the value', values: REFERENCE_KINDS, example: 'ticketNumber' })
  kind!: Reference['kind'];

  @TextField({ description: 'The value; of a long one its beginning and its SHA-256', max: 512, example: 'IN-204817' })
  value!: string;
}

/** One HTTP exchange in a list. */
export class Exchange {
  @UuidField({ description: 'Id of the exchange', example: ID })
  id!: string;

  @InstantField({ description: 'When it began', example: '2026-11-20T14:03:27.512Z' })
  at!: string;

  @EnumField({
    description: '`inbound`: a call to this service. `outbound`: a call of this service.',
    values: ['inbound', 'outbound'],
    example: 'inbound',
  })
  direction!: 'inbound' | 'outbound';

  @EnumField({ description: 'The interface', values: INTERFACES, example: 'scale' })
  interface!: InterfaceName;

  @TextField({
    description: 'The operation; null for an unknown path',
    max: 64,
    nullable: true,
    example: 'createTicket',
  })
  route!: string | null;

  @TextField({ description: 'Method of the request', max: 32, example: 'POST' })
  method!: string;

  @TextField({ description: 'Path with query, without secrets', max: 16_384, example: '/platform-api/v1/tickets' })
  path!: string;

  @UuidField({ description: 'The hauler', nullable: true, example: HAULER_ID })
  haulerId!: string | null;

  @UuidField({ description: 'The connection of an outbound call', nullable: true, example: null })
  connectionId!: string | null;

  @UuidField({
    description: 'The API key of an inbound call',
    nullable: true,
    example: '0197a1c8-02d1-7c55-8a3e-5b7d9e1f2a34',
  })
  apiKeyId!: string | null;

  @TextField({ description: 'First characters of that key', max: 24, nullable: true, example: 'hb_7Kq2mZ9x' })
  keyPrefix!: string | null;

  @TextField({
    description: '`X-Request-Id` of the response',
    max: 128,
    nullable: true,
    example: 'a6a7c6f2-5a0b-4d0e-8d36-f6f0f1a1b2c3',
  })
  requestId!: string | null;

  @IntegerField({
    description: 'Status of the response; null without a response',
    min: 100,
    max: 999,
    nullable: true,
    example: 422,
  })
  status!: number | null;

  @TextField({
    description: 'Why there is no usable response, such as `timed-out` or `cut-off`',
    max: 64,
    optional: true,
  })
  failure?: string;

  @TextField({ description: '`error.code` of the response', max: 100, optional: true, example: 'VALIDATION_ERROR' })
  errorCode?: string;

  @TextField({
    description:
      'Why it failed: the codes of what the service decided, else the code of the response, the failure, or `http-` with the status. Absent for a call that succeeded',
    max: 300,
    optional: true,
    example: 'materialExists',
  })
  reason?: string;

  @TextField({
    description: 'The reason as a sentence',
    max: 1_000,
    optional: true,
    example: 'The platform has no material with this id for your hauler.',
  })
  reasonText?: string;

  @TextField({
    description: 'What the service decided: the ticket result, or status and reason',
    max: 300,
    optional: true,
    example: '422 materialExists',
  })
  result?: string;

  @TextField({ description: 'Unknown fields of the request, which were ignored', max: 4_096, optional: true })
  ignoredFields?: string;

  @Documented({ description: 'Milliseconds until the end of the response', type: 'number', example: 4.2 })
  durationMs!: number;

  @IntegerField({ description: 'Size of the request body', min: 0, max: MAX_BYTES, example: 412 })
  requestBytes!: number;

  @IntegerField({ description: 'Size of the response body', min: 0, max: MAX_BYTES, example: 230 })
  responseBytes!: number;

  @UuidField({ description: 'The exchange that this one repeats', optional: true })
  replayOf?: string;

  @TextField({ description: 'The scenario that the sandbox injected', max: 64, optional: true })
  scenario?: string;

  @Documented({ description: 'Values by which it is found', type: ExchangeReference, isArray: true, maxItems: 200 })
  references!: ExchangeReference[];
}

export class ExchangeList {
  @Documented({ description: 'Newest first', type: Exchange, isArray: true, maxItems: MAX_PAGE_SIZE })
  data!: Exchange[];

  @TextField(NEXT_CURSOR)
  next!: string | null;
}

/** One HTTP exchange in the list of its partner, who reads why without a second call. */
export class ExplainedExchange extends Exchange {
  @TextField({
    description: 'What happened, why, what is stored now, and what to do',
    max: 8_192,
    example:
      'The call POST /platform-api/v1/tickets received 422. A business rule refused the request. Nothing was stored.',
  })
  explanation!: string;
}

export class ExplainedExchangeList {
  @Documented({ description: 'Newest first', type: ExplainedExchange, isArray: true, maxItems: MAX_PAGE_SIZE })
  data!: ExplainedExchange[];

  @TextField(NEXT_CURSOR)
  next!: string | null;
}

/** The stored part of a body, without secrets. */
export class ExchangeBody {
  @TextField({
    description: 'The body as text',
    optional: true,
    example: '{"siteId":"0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10","materials":[]}',
  })
  text?: string;

  @TextField({ description: 'The body in base64, if it is not text', optional: true })
  base64?: string;

  @IntegerField({ description: 'Size of the whole body as it was sent', min: 0, max: MAX_BYTES, example: 412 })
  sizeBytes!: number;

  @TextField({
    description: 'SHA-256 of the whole body as it was sent, in hex',
    max: 64,
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  sha256!: string;

  @Documented({ description: 'Whether only the beginning is shown', type: 'boolean', example: false })
  truncated!: boolean;

  @Documented({ description: 'Present if secrets were replaced by `[redacted]`', type: 'boolean', required: false })
  redacted?: boolean;
}

const HEADERS = {
  description: 'Headers by name; secrets are `[redacted]`',
  type: 'object',
  maxProperties: 1_000,
  additionalProperties: { type: 'string', maxLength: 16_384 },
  example: { 'content-type': 'application/json' },
} as const;

export class ExchangeMessage {
  @Documented(HEADERS)
  headers!: Record<string, string>;

  @Documented({ description: 'Absent if there was none, or it was not read', type: ExchangeBody, required: false })
  body?: ExchangeBody;
}

/** One HTTP exchange in full. */
export class ExchangeDetail extends ExplainedExchange {
  @TextField({
    description: 'Id of its trace: that of `traceparent` of the request, or one of its own',
    max: 32,
    example: '4bf92f3577b34da6a3ce929d0e0e4736',
  })
  traceId!: string;

  @TextField({ description: 'Id of the exchange in its trace', max: 16, example: '9a538d6f1f2b3c4d' })
  spanId!: string;

  @TextField({
    description: "The caller's part of the trace: the parent id of `traceparent` of an inbound call",
    max: 16,
    optional: true,
    example: '00f067aa0ba902b7',
  })
  parentSpanId?: string;

  @Documented({ description: 'The request', type: ExchangeMessage })
  request!: ExchangeMessage;

  @Documented({
    description: 'The response without the security headers that all responses have; null without a response',
    type: ExchangeMessage,
    nullable: true,
  })
  response!: ExchangeMessage | null;
}
