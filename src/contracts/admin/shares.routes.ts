import { Integer, Name, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, nullable, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { HaulerId } from './fields.js';
import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import {
  type AdminRoutes,
  change,
  FOR_OPERATORS,
  FOR_VIEWERS,
  list,
  listOfOne,
  removeWithPreview,
} from './route-helpers.js';

const REASON = 'Dispute 4711';

const SHARE_STATUSES = ['active', 'expired', 'revoked'] as const;
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
const SHARE_EXAMPLES = { dispute: { summary: 'For 14 days', value: { reason: REASON } } };

/** Links by which people without an account see a recording, for a dispute. */
export const SHARE_ROUTES = {
  createRecordingShare: change(FOR_OPERATORS, 'POST', '/recordings/{id}/shares', 'recording', {
    summary: 'Share a recording by a link',
    description:
      'Anyone who has the link sees the recording and its ticket, without an account, until the link expires or is revoked. Only this response shows the link. Its page asks first. Each playback is in the action log.',
    body: CreateRecordingShare,
    response: CreatedRecordingShare,
    examples: SHARE_EXAMPLES,
    status: 201,
    isSecret: true,
    fails: { conflict: 'The recording is not stored' },
  }),
  listRecordingShares: listOfOne(FOR_VIEWERS, '/recordings/{id}/shares', 'recording', RecordingShare, ListQuery, {
    summary: 'List the links of a recording',
    description: 'Newest first, without the links themselves.',
  }),
  listShares: list(FOR_VIEWERS, '/shares', RecordingShare, ShareQuery, {
    summary: 'List the links to recordings',
    description: 'Newest first, without the links themselves.',
  }),
  revokeShare: removeWithPreview(FOR_OPERATORS, '/shares/{id}', 'link', ShareRemoval, {
    summary: 'Revoke a link to a recording',
    description: 'At once, also for those who have its page open.',
    returns: 'The link is revoked',
  }),
} as const satisfies AdminRoutes;

const OPEN = {
  status: 200,
  role: 'anyone',
  resource: 'share',
  fails: { notFound: 'The link does not work', tooManyRequests: 'Too many links that do not work' },
} as const;

/** The pages of links, which no document describes. */
export const SHARED_API = defineApi({
  name: 'service',
  title: 'Shared recordings',
  version: '1.0.0',
  prefix: '/shared',
  keyHeader: 'Authorization',
  isHidden: true,
  routes: {
    openShare: {
      ...OPEN,
      method: 'GET',
      path: '/{token}',
      summary: 'Open the page of a link',
      description: 'It shows nothing of the recording, because programs that preview links open it too.',
      returns: 'The page, with a button',
    },
    viewShare: {
      ...OPEN,
      method: 'POST',
      path: '/{token}',
      summary: 'Show the recording of a link',
      description: 'The button of the page sends it.',
      returns: 'The page with the player',
    },
    playShare: {
      ...OPEN,
      method: 'GET',
      path: '/{token}/content',
      summary: 'Play the recording of a link',
      description: 'Until the link ends. It is in the action log.',
      file: 'video/mp4',
      returns: 'The file',
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'NOT_FOUND', 'INTERNAL_ERROR'],
  errors: { ...COMMON_ERRORS, notFound: 'NOT_FOUND', rangeNotSatisfiable: 'INVALID_PAYLOAD' },
});
