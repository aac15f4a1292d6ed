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
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  ReadVideoSubscriptionAgain,
  VideoSubscription,
  VideoSubscriptionQuery,
  VideoSubscriptionRemoval,
} from './video-subscription.dto.js';

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
