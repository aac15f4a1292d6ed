import { Flag, Integer, OneOf, OneOfList, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, nullable, optional, type Options, between } from '../common/fields/options.js';
import { TOPIC_NAMES, type TopicName } from '../webhooks/topics.values.js';
import { ListQuery } from './list.dto.js';
import { HAULER } from './fields.js';

export const WEBHOOK_FORMATS = ['standard', 'slack', 'email'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export const DISABLED_REASONS = ['gone', 'failing', 'key-ended'] as const;
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
