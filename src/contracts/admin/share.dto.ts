import { Integer, Name, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, nullable, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { HaulerId } from './fields.js';

const REASON = 'Dispute 4711';

export const SHARE_STATUSES = ['active', 'expired', 'revoked'] as const;
export type ShareStatus = (typeof SHARE_STATUSES)[number];

export class CreateRecordingShare {
  @Name('Why it is shared; the page does not show it', max(1_000), example(REASON)) reason!: string;
  @Time('When the link stops working, at most 90 days ahead; without it in 14 days', optional) expiresAt?: Instant;
  @Uuid('Ticket that the page shows; without it the ticket nearest in time', optional) ticketId?: string;
}

export class RecordingShare {
  @Uuid('Id of the link') id!: string;
  @HaulerId() haulerId!: string;
  @Uuid('The recording') recordingId!: string;
  @Uuid('Ticket that the page shows; null if it shows none', nullable) ticketId!: string | null;
  @Text('Why it is shared; the page does not show it', example(REASON)) reason!: string;
  @OneOf('Only an active link works', SHARE_STATUSES) status!: ShareStatus;
  @Time('When it was created') createdAt!: string;
  @Time('When it stops working') expiresAt!: string;
  @Integer('How often it was played, as the action log has it', example(2)) views!: number;
  @Time('When it was last played', nullable) lastViewedAt!: string | null;
  @Time('When it was revoked', nullable) revokedAt!: string | null;
}

export class CreatedRecordingShare extends RecordingShare {
  @Text('The link. Only this response shows it', example('https://platform.example/shared/hb_…')) url!: string;
}

/** What ends with a link. */
export class ShareRemoval {
  @OneOf('Only an active link works', SHARE_STATUSES) status!: ShareStatus;
  @Time('Until when it would work') expiresAt!: string;
  @Integer('How often it was played, as the action log has it', example(2)) views!: number;
  @Time('When it was last played', nullable) lastViewedAt!: string | null;
}

export class ShareQuery extends ListQuery {
  @Uuid('Links of this hauler only', optional) haulerId?: string;
  @OneOf('Links in this state only', SHARE_STATUSES, optional) status?: ShareStatus;
}

/** A time that the documents name is past when they are read. */
export const SHARE_EXAMPLES = { dispute: { summary: 'For 14 days', value: { reason: REASON } } };
