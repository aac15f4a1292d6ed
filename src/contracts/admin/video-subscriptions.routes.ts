import { type AdminRoutes, create, ofOne, page, read } from './route-parts.js';
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  ReadVideoSubscriptionAgain,
  VideoSubscription,
  VideoSubscriptionQuery,
} from './video-subscription.dto.js';

/** Subscriptions to the continuous recordings of trucks. */
export const VIDEO_SUBSCRIPTION_ROUTES = {
  createVideoSubscription: {
    ...create(VideoSubscription, 'subscription'),
    path: '/video-subscriptions',
    role: 'operator',
    isPerHauler: true,
    summary: 'Subscribe to the continuous recordings of a truck',
    description: 'From `startTime` on, of one camera or of all. The first read starts at once.',
    body: CreateVideoSubscription,
  },
  listVideoSubscriptions: {
    ...page(VideoSubscription, 'subscriptions'),
    path: '/video-subscriptions',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List video subscriptions',
    description: 'Newest first.',
    query: VideoSubscriptionQuery,
  },
  getVideoSubscription: {
    ...read(VideoSubscription, 'subscription'),
    path: '/video-subscriptions/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a video subscription',
    description: 'With the time up to which its recordings were listed.',
  },
  updateVideoSubscription: {
    ...read(VideoSubscription, 'subscription'),
    method: 'PATCH',
    path: '/video-subscriptions/{id}',
    role: 'operator',
    isPerHauler: true,
    summary: 'Change a video subscription',
    description: 'Changes its interval, or pauses and resumes it.',
    body: ChangeVideoSubscription,
  },
  readVideoSubscriptionAgain: {
    method: 'POST',
    path: '/video-subscriptions/{id}/read-again',
    role: 'operator',
    isPerHauler: true,
    summary: 'List the recordings of a time again',
    description:
      'Finds recordings that the partner listed late, in addition to the re-readings by age (`VISION_REREAD`). It starts at once; times that have not ended yet are left out. `lastAskedAt` of the coverage shows when it was done.',
    ...ofOne('subscription'),
    body: ReadVideoSubscriptionAgain,
    status: 202,
    response: VideoSubscription,
    returns: 'The subscription',
  },
  deleteVideoSubscription: {
    method: 'DELETE',
    path: '/video-subscriptions/{id}',
    role: 'operator',
    isPerHauler: true,
    summary: 'End a video subscription',
    description: 'Listed recordings stay, and the service still downloads them.',
    ...ofOne('subscription'),
    status: 204,
    returns: 'The subscription is deleted',
  },
} as const satisfies AdminRoutes;
