import { EnumListField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { TOPIC_NAMES, type TopicName } from '../webhooks/topics.js';
import { ListQuery } from './list.dto.js';

const ID = '0197a1ce-7081-7d92-8ea3-2b3c4d5e6f70';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const AT = '2026-11-20T14:03:27.512Z';

export const WEBHOOK_FORMATS = ['standard', 'slack', 'email'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export const DISABLED_REASONS = ['gone', 'failing', 'key-ended'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Overlap of two secrets after a rotation. */
export const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400;
const MAX_SECRET_OVERLAP_SECONDS = 7 * 86_400;

const URL_FIELD = {
  description: 'Where it is delivered: an `https` address, or `mailto:` and one address for `email`',
  min: 1,
  max: 2_000,
  example: 'https://hooks.example.com/haulbridge',
};
const TOPICS_FIELD = {
  description: 'What is delivered',
  values: TOPIC_NAMES,
  min: 1,
  max: 100,
  example: ['ticket.created', 'sync.held'],
};
const FORMAT_FIELD = {
  description:
    '`standard`: Standard Webhooks 1.0, signed; `slack`: `{ "text" }` for an incoming webhook; `email`: one message at most every 15 minutes',
  values: WEBHOOK_FORMATS,
  example: 'standard',
};
const ENABLED_FIELD = { description: 'Whether events are stored and delivered', example: true };
const HAULER_FIELD = { description: 'Events of this hauler only; of all if absent', example: HAULER_ID };

/** A partner's endpoint gets the events of its key alone. */
export class CreateOwnWebhookEndpoint {
  @TextField(URL_FIELD)
  url!: string;

  @EnumListField(TOPICS_FIELD)
  topics!: TopicName[];

  @EnumField({ ...FORMAT_FIELD, optional: true })
  format?: WebhookFormat;

  @BooleanField({ ...ENABLED_FIELD, optional: true })
  enabled?: boolean;
}

export class CreateWebhookEndpoint extends CreateOwnWebhookEndpoint {
  @UuidField({ ...HAULER_FIELD, optional: true })
  haulerId?: string;
}

export class ChangeOwnWebhookEndpoint {
  @TextField({ ...URL_FIELD, optional: true })
  url?: string;

  @EnumListField({ ...TOPICS_FIELD, optional: true })
  topics?: TopicName[];

  @EnumField({ ...FORMAT_FIELD, optional: true })
  format?: WebhookFormat;

  @BooleanField({ ...ENABLED_FIELD, optional: true })
  enabled?: boolean;
}

export class ChangeWebhookEndpoint extends ChangeOwnWebhookEndpoint {
  @UuidField({ ...HAULER_FIELD, optional: true })
  haulerId?: string;
}

/** Bodies that the service accepts. */
export const NEW_WEBHOOK_ENDPOINTS = {
  standard: {
    summary: 'A signed webhook',
    value: { url: URL_FIELD.example, topics: ['ticket.created', 'ticket.updated'], format: 'standard' },
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
  @UuidField({ description: 'Id of the endpoint', example: ID })
  id!: string;

  @TextField({
    ...URL_FIELD,
    description: `${URL_FIELD.description}. That of \`slack\` is cut after its host, except for the role \`admin\``,
  })
  url!: string;

  @EnumListField(TOPICS_FIELD)
  topics!: TopicName[];

  @UuidField({ ...HAULER_FIELD, optional: true })
  haulerId?: string;

  @UuidField({ description: 'Connection of the key of a partner that created it', optional: true, example: ID })
  connectionId?: string;

  @TextField({ description: 'First characters of the key of a partner that created it', max: 11, optional: true })
  keyPrefix?: string;

  @EnumField(FORMAT_FIELD)
  format!: WebhookFormat;

  @BooleanField(ENABLED_FIELD)
  enabled!: boolean;

  @EnumField({
    description:
      'Why the service disabled it: the receiver answered 410, or failed for five days, or the key of the partner ended',
    values: DISABLED_REASONS,
    nullable: true,
    example: null,
  })
  disabledReason!: DisabledReason | null;

  @InstantField({ description: 'Since when every try has failed', nullable: true, example: null })
  failingSince!: string | null;

  @IntegerField({
    description: 'Deliveries that were deleted because the endpoint had too many',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    example: 0,
  })
  dropped!: number;

  @InstantField({
    description: 'Until when the former secret signs as well; null outside of a rotation',
    nullable: true,
    example: null,
  })
  formerSecretUntil!: string | null;

  @InstantField({ description: 'When it was created', example: AT })
  createdAt!: string;

  @InstantField({ description: 'When it was last changed', example: AT })
  updatedAt!: string;
}

export class IssuedWebhookEndpoint extends WebhookEndpoint {
  @TextField({
    description: 'The secret that signs: `whsec_` and base64. Only this response shows it',
    max: 100,
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  })
  secret!: string;
}

export class RotateWebhookSecret {
  @IntegerField({
    description: 'Seconds for which the former secret signs as well',
    min: 0,
    max: MAX_SECRET_OVERLAP_SECONDS,
    default: DEFAULT_SECRET_OVERLAP_SECONDS,
    optional: true,
    example: 3600,
  })
  overlapSeconds?: number;
}

export class WebhookEndpointQuery extends ListQuery {
  @UuidField({ description: 'Endpoints of this hauler only', optional: true })
  haulerId?: string;
}
