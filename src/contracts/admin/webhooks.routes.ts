import { Flag, Integer, Json, OneOf, OneOfList, Text, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, inQuery, max, nullable, optional, type Options } from '../common/fields/options.js';
import { SENT_TOPICS, type SentTopic, TOPIC_NAMES, type TopicName } from '../webhooks/topics.values.js';
import { ListQuery } from './list.dto.js';
import { DryRun, HAULER, HaulerId } from './fields.js';
import type { Instant } from '../common/instant.js';
import {
  DELIVERY_REASON_CODES,
  DELIVERY_STATUSES,
  type DeliveryReason,
  type DeliveryStatus,
} from '../webhooks/delivery.values.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_ADMINS_OF_ALL,
  FOR_OPERATORS_OF_ALL,
  FOR_VIEWERS_OF_ALL,
  list,
  one,
  removeWithPreview,
  route,
} from './route-helpers.js';

const WEBHOOK_FORMATS = ['standard', 'slack', 'email'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

const DISABLED_REASONS = ['gone', 'failing', 'key-ended'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Overlap of two secrets after a rotation. */
export const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400;
const MAX_SECRET_OVERLAP_SECONDS = 7 * 86_400;

const HOOK = 'https://hooks.example.com/haulbridge';
const URL_FORMS = 'Where it is delivered: an `https` address, or `mailto:` and one address for `email`';

const Url = (...options: readonly Options[]) => Text(URL_FORMS, between(1, 2_000), example(HOOK), ...options);
const Topics = (...options: readonly Options[]) =>
  OneOfList(
    'What is delivered; to `slack` and `email` only what is sent once for each change',
    TOPIC_NAMES,
    between(1, 100),
    example(['ticket.created', 'sync.held']),
    ...options,
  );
const Format = (...options: readonly Options[]) =>
  OneOf(
    '`standard`: Standard Webhooks 1.0, signed; `slack`: `{ "text" }` for an incoming webhook; `email`: plain text',
    WEBHOOK_FORMATS,
    ...options,
  );
const Enabled = (...options: readonly Options[]) => Flag('Whether events are stored and delivered', ...options);
const HaulerOfEvents = () => Uuid('Events of this hauler only; of all if absent', optional, example(HAULER));

/** A partner's endpoint gets the events of its key alone. */
export class CreateOwnWebhookEndpoint {
  @Url() url!: string;
  @Topics() topics!: TopicName[];
  @Format(optional) format?: WebhookFormat;
  @Enabled(optional) enabled?: boolean;
}

export class CreateWebhookEndpoint extends CreateOwnWebhookEndpoint {
  @HaulerOfEvents() haulerId?: string;
}

export class ChangeOwnWebhookEndpoint {
  @Url(optional) url?: string;
  @Topics(optional) topics?: TopicName[];
  @Format(optional) format?: WebhookFormat;
  @Enabled(optional) enabled?: boolean;
}

export class ChangeWebhookEndpoint extends ChangeOwnWebhookEndpoint {
  @HaulerOfEvents() haulerId?: string;
}

/** Bodies that the service accepts. */
export const NEW_WEBHOOK_ENDPOINTS = {
  standard: {
    summary: 'A signed webhook',
    value: { url: HOOK, topics: ['ticket.created', 'ticket.updated'], format: 'standard' },
  },
  slack: {
    summary: 'A channel of Slack',
    value: { url: 'https://hooks.slack.com/services/T0/B0/X0', topics: ['sync.held', 'sync.failed'], format: 'slack' },
  },
};

export const WEBHOOK_ENDPOINT_CHANGES = {
  pause: { summary: 'Pause it', value: { enabled: false } },
  topics: { summary: 'Other topics', value: { topics: ['account.created'] } },
};

export class WebhookEndpoint {
  @Uuid('Id of the endpoint') id!: string;
  @Text(`${URL_FORMS}. That of \`slack\` is shown up to its host`, example(HOOK)) url!: string;
  @Topics() topics!: TopicName[];
  @HaulerOfEvents() haulerId?: string;
  @Uuid('Connection of the key of a partner that created it', optional) connectionId?: string;
  @Text('First characters of the key of a partner that created it', optional) keyPrefix?: string;
  @Format() format!: WebhookFormat;
  @Enabled() enabled!: boolean;
  @OneOf(
    'Why the service disabled it: the receiver answered 410, or failed for five days, or the key of the partner ended',
    DISABLED_REASONS,
    nullable,
  )
  disabledReason!: DisabledReason | null;
  @Time('Since when every try has failed', nullable) failingSince!: string | null;
  @Integer('Deliveries that were deleted because the endpoint had too many', example(0)) dropped!: number;
  @Time('Until when the former secret signs as well; null outside of a rotation', nullable)
  formerSecretUntil!: string | null;
  @Time('When it was created') createdAt!: string;
  @Time('When it was last changed') updatedAt!: string;
}

export class WebhookEndpointRemoval {
  @Integer('Deliveries, whatever became of them', example(120)) deliveries!: number;
  @Integer('Those that still wait, and would never arrive', example(3)) pending!: number;
}

export class IssuedWebhookEndpoint extends WebhookEndpoint {
  @Text(
    'The secret that signs: `whsec_` and base64. Only this response shows it',
    example('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
  )
  secret!: string;
}

export class RotateWebhookSecret {
  @Integer(
    'Seconds for which the former secret signs as well',
    max(MAX_SECRET_OVERLAP_SECONDS),
    { default: DEFAULT_SECRET_OVERLAP_SECONDS },
    optional,
    example(3600),
  )
  overlapSeconds?: number;
}

export class WebhookEndpointQuery extends ListQuery {
  @Uuid('Endpoints of this hauler only', optional) haulerId?: string;
}

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

/** Endpoints that get what happens, and what was delivered to them. */
export const WEBHOOK_ROUTES = {
  createWebhookEndpoint: create(FOR_ADMINS_OF_ALL, '/webhook-endpoints', CreateWebhookEndpoint, IssuedWebhookEndpoint, {
    summary: 'Create a webhook endpoint',
    description:
      'Only this response shows the secret. Other instances know the endpoint within 4 s: events until then may be missing.',
    examples: NEW_WEBHOOK_ENDPOINTS,
    isSecret: true,
    fails: { conflict: 'There are as many endpoints as there may be' },
  }),
  listWebhookEndpoints: list(FOR_VIEWERS_OF_ALL, '/webhook-endpoints', WebhookEndpoint, WebhookEndpointQuery, {
    summary: 'List webhook endpoints',
    description: 'Newest first, those of partners too, without their secrets.',
  }),
  getWebhookEndpoint: one(FOR_VIEWERS_OF_ALL, '/webhook-endpoints/{id}', 'endpoint', WebhookEndpoint, {
    summary: 'Read a webhook endpoint',
    description: 'Without its secret.',
  }),
  updateWebhookEndpoint: change(FOR_ADMINS_OF_ALL, 'PATCH', '/webhook-endpoints/{id}', 'endpoint', {
    summary: 'Change a webhook endpoint',
    description:
      'Fields that are absent stay the same. `enabled: true` tries waiting deliveries again at once; while it is false nothing is stored for the endpoint, and nothing is delivered.',
    body: ChangeWebhookEndpoint,
    response: WebhookEndpoint,
    examples: WEBHOOK_ENDPOINT_CHANGES,
  }),
  deleteWebhookEndpoint: removeWithPreview(
    FOR_ADMINS_OF_ALL,
    '/webhook-endpoints/{id}',
    'endpoint',
    WebhookEndpointRemoval,
    { summary: 'Delete a webhook endpoint', description: 'With its secret and its deliveries.' },
  ),
  testWebhookEndpoint: change(FOR_OPERATORS_OF_ALL, 'POST', '/webhook-endpoints/{id}/test', 'endpoint', {
    summary: 'Test a webhook endpoint',
    description:
      'Sends `webhook.test` once, at once, and returns the delivery with the answer. Also while it is disabled.',
    response: WebhookDelivery,
  }),
  rotateWebhookSecret: change(FOR_ADMINS_OF_ALL, 'POST', '/webhook-endpoints/{id}/rotate-secret', 'endpoint', {
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'The new secret signs at once. The former one signs as well for the overlap: each delivery then has two signatures. A rotation within the overlap ends the oldest secret.',
    body: RotateWebhookSecret,
    response: IssuedWebhookEndpoint,
    isBodyOptional: true,
    status: 201,
    returns: 'The endpoint with its new secret',
    isSecret: true,
  }),
  listWebhookDeliveries: list(FOR_VIEWERS_OF_ALL, '/webhook-deliveries', WebhookDelivery, WebhookDeliveryQuery, {
    summary: 'List webhook deliveries',
    description: 'Newest first, with the last answer of the receiver.',
  }),
  getWebhookDelivery: one(FOR_VIEWERS_OF_ALL, '/webhook-deliveries/{id}', 'delivery', WebhookDelivery, {
    summary: 'Read a webhook delivery',
    description: 'With the last answer of the receiver.',
  }),
  retryWebhookDelivery: change(FOR_OPERATORS_OF_ALL, 'POST', '/webhook-deliveries/{id}/retry', 'delivery', {
    summary: 'Deliver again',
    description:
      'At once, with the same `webhook-id`, whatever its state is. Its tries are counted from 0 again. Of a disabled endpoint it waits until that is enabled.',
    response: WebhookDelivery,
    status: 202,
    fails: { conflict: 'It is being delivered at this moment' },
  }),
  retryWebhookDeliveries: route(FOR_OPERATORS_OF_ALL, 'POST', '/webhook-deliveries/retry', {
    summary: 'Deliver again what failed within a time',
    description: 'Each with the same `webhook-id`.',
    body: RetryWebhookDeliveries,
    response: RetriedWebhookDeliveries,
    status: 202,
    returns: 'The number of deliveries',
  }),
} as const satisfies AdminRoutes;
