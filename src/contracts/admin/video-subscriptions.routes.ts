import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { Flag, Integer, Name, Text, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, max, min, nullable, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { ConnectionId, HaulerId, RequestedTruckId, TruckId } from './fields.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_OPERATORS,
  FOR_VIEWERS,
  list,
  one,
  removeWithPreview,
} from './route-helpers.js';

export class CreateVideoSubscription {
  @ConnectionId() connectionId!: string;
  @RequestedTruckId() truckId!: string;
  @Name('Camera; all cameras of the truck if absent', max(MAX_PARTNER_ID), optional, example('front'))
  cameraId?: string;
  @Time('Recordings from this time on', example('2026-01-31T00:00:00Z')) startTime!: Instant;
  @Integer(
    'Seconds between two reads; default: the interval of the connection',
    between(30, 86_400),
    optional,
    example(300),
  )
  intervalSeconds?: number;
}

export class ChangeVideoSubscription {
  @Integer('Seconds between two reads', between(30, 86_400), optional, example(300)) intervalSeconds?: number;
  @Flag('Whether the service reads it on schedule', optional) enabled?: boolean;
}

export class ReadVideoSubscriptionAgain {
  @Time('Start of the time to list again', example('2026-01-31T00:00:00Z')) from!: Instant;
  @Time('End of the time to list again, at most 366 days later', example('2026-02-01T00:00:00Z')) to!: Instant;
}

/** The filters that the partner of a connection has too. */
export class TruckFilters extends ListQuery {
  @RequestedTruckId(optional) truckId?: string;
}

export class VideoSubscriptionQuery extends TruckFilters {
  @Uuid('Subscriptions of this hauler only', optional) haulerId?: string;
  @ConnectionId(optional) connectionId?: string;
}

/** A time of a subscription of which no list could be read. The service reads it again until it succeeds or gives up. */
export class UnreadWindow {
  @Uuid('Its subscription') subscriptionId!: string;
  @TruckId() truckId!: string;
  @Text('Camera; all cameras of the truck if absent', optional, example('front')) cameraId?: string;
  @Time('Start of the time') startTime!: string;
  @Time('End of the time') endTime!: string;
  @Text('Why the last list could not be read', optional, example('partner.example.com did not respond in time.'))
  reason?: string;
  @Integer('Readings that failed since it was set aside', example(3)) attempts!: number;
  @Time('When it is read again; null after the last attempt: an admin may read it again', nullable)
  nextAttemptAt!: string | null;
}

/** What ends with a subscription. What it has listed stays. */
export class VideoSubscriptionRemoval {
  @Integer('Times of which no list could be read, and that would not be read again', example(0)) unreadWindows!: number;
  @Time('Everything before this time was read') watermark!: string;
}

export class VideoSubscription {
  @Uuid('Id of the subscription') id!: string;
  @HaulerId() haulerId!: string;
  @ConnectionId() connectionId!: string;
  @TruckId() truckId!: string;
  @Text('Camera; all cameras of the truck if absent', optional, example('front')) cameraId?: string;
  @Time('Recordings from this time on') startTime!: string;
  @Integer('Seconds between two reads', min(30), example(300)) intervalSeconds!: number;
  @Flag('Whether the service reads it on schedule') enabled!: boolean;
  @Time('Everything before this time was read') watermark!: string;
  @Time('Start of the last read that the partner answered', optional) lastReadAt?: string;
  @Text('Error of the last read', optional) lastError?: string;
  @Time('When it was created') createdAt!: string;
  @Time('When it last changed') updatedAt!: string;
}

/** Subscriptions to the continuous recordings of trucks. */
export const VIDEO_SUBSCRIPTION_ROUTES = {
  createVideoSubscription: create(FOR_OPERATORS, '/video-subscriptions', CreateVideoSubscription, VideoSubscription, {
    summary: 'Subscribe to the continuous recordings of a truck',
    description: 'From `startTime` on, of one camera or of all. The first read starts at once.',
  }),
  listVideoSubscriptions: list(FOR_VIEWERS, '/video-subscriptions', VideoSubscription, VideoSubscriptionQuery, {
    summary: 'List video subscriptions',
    description: 'Newest first.',
  }),
  getVideoSubscription: one(FOR_VIEWERS, '/video-subscriptions/{id}', 'subscription', VideoSubscription, {
    summary: 'Read a video subscription',
    description: 'With the time up to which its recordings were listed.',
  }),
  updateVideoSubscription: change(FOR_OPERATORS, 'PATCH', '/video-subscriptions/{id}', 'subscription', {
    summary: 'Change a video subscription',
    description: 'Changes its interval, or pauses and resumes it.',
    body: ChangeVideoSubscription,
    response: VideoSubscription,
  }),
  readVideoSubscriptionAgain: change(FOR_OPERATORS, 'POST', '/video-subscriptions/{id}/read-again', 'subscription', {
    summary: 'List the recordings of a time again',
    description:
      'Finds recordings that the partner listed late, in addition to the re-readings by age (`VISION_REREAD`). It starts at once; times that have not ended yet are left out. `lastAskedAt` of the coverage shows when it was done.',
    body: ReadVideoSubscriptionAgain,
    response: VideoSubscription,
    status: 202,
  }),
  deleteVideoSubscription: removeWithPreview(
    FOR_OPERATORS,
    '/video-subscriptions/{id}',
    'subscription',
    VideoSubscriptionRemoval,
    {
      summary: 'End a video subscription',
      description: 'Listed recordings stay, and the service still downloads them.',
    },
  ),
} as const satisfies AdminRoutes;
