import { Integer, Json, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, nullable, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import {
  DELIVERY_REASON_CODES,
  DELIVERY_STATUSES,
  type DeliveryReason,
  type DeliveryStatus,
} from '../webhooks/delivery.values.js';
import { SENT_TOPICS, type SentTopic } from '../webhooks/topics.values.js';
import { ListQuery } from './list.dto.js';
import { DryRun, HAULER, HaulerId } from './fields.js';

const BODY = `{"type":"ticket.created","timestamp":"2026-11-20T14:03:27.512Z","data":{"haulerId":"${HAULER}","ticketId":"0197a1ce-7081-7d92-8ea3-2b3c4d5e6f70"}}`;

/** The answer of a receiver. */
interface WebhookResponse {
  readonly status: number;
  readonly body: string;
}

/** Written out, because a schema that is referred to by its name cannot be null. */
const RESPONSE_SCHEMA = {
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
  @Uuid('Id of the delivery, the `webhook-id` of every try') id!: string;
  @Uuid('Its endpoint') endpointId!: string;
  @HaulerId(nullable) haulerId!: string | null;
  @OneOf('What happened', SENT_TOPICS, example('ticket.created')) topic!: SentTopic;
  @OneOf('State', DELIVERY_STATUSES, example('delivered')) status!: DeliveryStatus;
  @OneOf(
    'Why the last try did not succeed; null where it did, or before the first one',
    DELIVERY_REASON_CODES,
    nullable,
  )
  reason!: DeliveryReason | null;
  @Integer('Tries so far', example(1)) attempts!: number;
  @Time('When it is tried next; null for one that ended', nullable) nextAt!: string | null;
  @Json('The last answer of the receiver', RESPONSE_SCHEMA, nullable, example({ status: 204, body: '' }))
  lastResponse!: WebhookResponse | null;
  @Text('The body, as it is signed: `type`, `timestamp`, `data` with ids', example(BODY)) body!: string;
  @Time('When it happened') createdAt!: string;
  @Time('When it was delivered or given up', nullable) endedAt!: string | null;
}

export class WebhookDeliveryQuery extends ListQuery {
  @Uuid('Deliveries of this endpoint only', optional) endpointId?: string;
  @OneOf('State', DELIVERY_STATUSES, optional) status?: DeliveryStatus;
  @OneOf('What happened', SENT_TOPICS, optional) topic?: SentTopic;
  @Time('Created at or after', inQuery, optional) from?: Instant;
  @Time('Created before', inQuery, optional) to?: Instant;
}

export class RetryWebhookDeliveries {
  @Uuid('The endpoint') endpointId!: string;
  @Time('Deliveries created at or after', example('2026-11-20T00:00:00Z')) from!: Instant;
  @Time('Deliveries created before', example('2026-11-21T00:00:00Z')) to!: Instant;
  @DryRun() dryRun?: boolean;
}

export class RetriedWebhookDeliveries {
  @Integer('Deliveries that failed within the time, and are tried again; in a dry run that would be', example(12))
  matched!: number;
}
