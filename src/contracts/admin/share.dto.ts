import {
  EnumField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const REASON = { description: 'Why it is shared; the page does not show it', max: 1_000, example: 'Dispute 4711' };
const MAX_VIEWS = { description: 'How often its recording may be shown', min: 1, max: 100_000, example: 10 };
const TICKET = { description: 'Ticket that the page shows', example: ID };

export const SHARE_STATUSES = ['active', 'expired', 'revoked', 'usedUp'] as const;
export type ShareStatus = (typeof SHARE_STATUSES)[number];

export class CreateRecordingShare {
  @NameField(REASON)
  reason!: string;

  @InstantField({
    description: 'When the link stops working, at most 90 days ahead; without it in 14 days',
    optional: true,
    example: '2026-02-14T09:00:00Z',
  })
  expiresAt?: Instant;

  @IntegerField({
    ...MAX_VIEWS,
    description: `${MAX_VIEWS.description}; without it as often as wanted`,
    optional: true,
  })
  maxViews?: number;

  @UuidField({ ...TICKET, description: `${TICKET.description}; without it the ticket nearest in time`, optional: true })
  ticketId?: string;
}

export class RecordingShare {
  @UuidField({ description: 'Id of the link', example: ID })
  id!: string;

  @UuidField({ description: 'Hauler of the recording', example: ID })
  haulerId!: string;

  @UuidField({ description: 'The recording', example: ID })
  recordingId!: string;

  @UuidField({ ...TICKET, description: `${TICKET.description}; null if it shows none`, nullable: true })
  ticketId!: string | null;

  @NameField(REASON)
  reason!: string;

  @EnumField({ description: 'Only an active link works', values: SHARE_STATUSES, example: 'active' })
  status!: ShareStatus;

  @InstantField({ description: 'When it was created', example: '2026-01-31T09:00:00Z' })
  createdAt!: string;

  @InstantField({ description: 'When it stops working', example: '2026-02-14T09:00:00Z' })
  expiresAt!: string;

  @IntegerField({ ...MAX_VIEWS, description: `${MAX_VIEWS.description}; null without a limit`, nullable: true })
  maxViews!: number | null;

  @IntegerField({ description: 'How often its recording was shown', min: 0, max: 2_147_483_647, example: 2 })
  views!: number;

  @InstantField({ description: 'When it was last shown', nullable: true, example: '2026-02-01T10:00:00Z' })
  lastViewedAt!: string | null;

  @InstantField({ description: 'When it was revoked', nullable: true, example: null })
  revokedAt!: string | null;
}

export class CreatedRecordingShare extends RecordingShare {
  @TextField({
    description: 'The link. Only this response shows it',
    max: 2_048,
    example: 'https://platform.example/shared/hb_…',
  })
  url!: string;
}

export class ShareQuery extends ListQuery {
  @UuidField({ description: 'Links of this hauler only', optional: true })
  haulerId?: string;

  @EnumField({ description: 'Links in this state only', values: SHARE_STATUSES, optional: true })
  status?: ShareStatus;
}

/** A time that the documents name is past when they are read. */
export const SHARE_EXAMPLES = {
  dispute: { summary: 'For 14 days, ten times', value: { reason: REASON.example, maxViews: MAX_VIEWS.example } },
};
