import type { FieldSchema } from '../common/fields/documented.js';
import { field } from '../common/fields/field.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { isJsonObject } from '../common/json.js';
import { DELIVERY_REASON_CODES, type DeliveryReason } from '../webhooks/delivery-reasons.js';
import { SENT_TOPICS, type SentTopic } from '../webhooks/topics.js';
import { ListQuery } from './list.dto.js';

const ID = '0197a1ce-7081-7d92-8ea3-2b3c4d5e6f70';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const AT = '2026-11-20T14:03:27.512Z';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const STATUS_FIELD = { description: 'State', values: DELIVERY_STATUSES, example: 'delivered' };
const TOPIC_FIELD = { description: 'What happened', values: SENT_TOPICS, example: 'ticket.created' };

/** The answer of a receiver. */
interface WebhookResponse {
  readonly status: number;
  readonly body: string;
}

/** Written out, because a schema that is referred to by its name cannot be null. */
const RESPONSE_SCHEMA: FieldSchema = {
  type: 'object',
  required: ['status', 'body'],
  properties: {
    status: {
      type: 'integer',
      format: 'int32',
      minimum: 0,
      maximum: 999,
      description: 'Status; of a mail server its reply code',
    },
    body: { type: 'string', maxLength: 4_000, description: 'The beginning of its body, without secrets' },
  },
};

export class WebhookDelivery {
  @UuidField({ description: 'Id of the delivery, the `webhook-id` of every try', example: ID })
  id!: string;

  @UuidField({ description: 'Its endpoint', example: ID })
  endpointId!: string;

  @UuidField({ description: 'Hauler of the event', nullable: true, example: HAULER_ID })
  haulerId!: string | null;

  @EnumField(TOPIC_FIELD)
  topic!: SentTopic;

  @EnumField(STATUS_FIELD)
  status!: DeliveryStatus;

  @EnumField({
    description: 'Why the last try did not succeed; null where it did, or before the first one',
    values: DELIVERY_REASON_CODES,
    nullable: true,
    example: null,
  })
  reason!: DeliveryReason | null;

  @IntegerField({ description: 'Tries so far', min: 0, max: 1_000, example: 1 })
  attempts!: number;

  @InstantField({ description: 'When it is tried next; null for one that ended', nullable: true, example: null })
  nextAt!: string | null;

  @field(
    { description: 'The last answer of the receiver', nullable: true, example: { status: 204, body: '' } },
    RESPONSE_SCHEMA,
    { rule: { name: 'isObject', validate: isJsonObject, must: 'must be an object' } },
  )
  lastResponse!: WebhookResponse | null;

  @TextField({
    description: 'The body, as it is signed: `type`, `timestamp`, `data` with ids',
    max: 4_000,
    example: `{"type":"ticket.created","timestamp":"${AT}","data":{"haulerId":"${HAULER_ID}","ticketId":"${ID}"}}`,
  })
  body!: string;

  @InstantField({ description: 'When it happened', example: AT })
  createdAt!: string;

  @InstantField({ description: 'When it was delivered or given up', nullable: true, example: AT })
  endedAt!: string | null;
}

export class WebhookDeliveryQuery extends ListQuery {
  @UuidField({ description: 'Deliveries of this endpoint only', optional: true })
  endpointId?: string;

  @EnumField({ ...STATUS_FIELD, optional: true })
  status?: DeliveryStatus;

  @EnumField({ ...TOPIC_FIELD, optional: true })
  topic?: SentTopic;

  @InstantField({ description: 'Created at or after', optional: true, inQuery: true })
  from?: Instant;

  @InstantField({ description: 'Created before', optional: true, inQuery: true })
  to?: Instant;
}

export class RetryWebhookDeliveries {
  @UuidField({ description: 'The endpoint', example: ID })
  endpointId!: string;

  @InstantField({ description: 'Deliveries created at or after', example: '2026-11-20T00:00:00Z' })
  from!: Instant;

  @InstantField({ description: 'Deliveries created before', example: '2026-11-21T00:00:00Z' })
  to!: Instant;
}

export class RetriedWebhookDeliveries {
  @IntegerField({
    description: 'Deliveries that failed within the time, and are tried again',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    example: 12,
  })
  matched!: number;
}
