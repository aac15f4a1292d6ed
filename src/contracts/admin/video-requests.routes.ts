import { IdParam } from './list.dto.js';
import { type AdminRoutes, history, page, read } from './route-parts.js';
import { OrderedVideoRequest, OrderVideoRequest, VideoRequest, VideoRequestQuery } from './video-request.dto.js';

/** Requests for on-demand clips. */
export const VIDEO_REQUEST_ROUTES = {
  createVideoRequest: {
    method: 'POST',
    path: '/video-requests',
    role: 'operator',
    isPerHauler: true,
    summary: 'Request on-demand video',
    description:
      'The service requests the clip from the partner and downloads it. It splits a long range into several parts.',
    body: OrderVideoRequest,
    status: 202,
    response: OrderedVideoRequest,
    returns: 'The request',
    fails: { conflict: 'Footage of this range was erased' },
  },
  listVideoRequests: {
    ...page(VideoRequest, 'requests'),
    path: '/video-requests',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List video requests',
    description: 'Newest first.',
    query: VideoRequestQuery,
  },
  getVideoRequest: {
    ...read(VideoRequest, 'request'),
    path: '/video-requests/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a video request',
    description: 'With its parts and the ids of its recordings.',
  },
  retryVideoRequest: {
    method: 'POST',
    path: '/video-requests/{id}/retry',
    role: 'operator',
    isPerHauler: true,
    summary: 'Try a video request again',
    description:
      'Its parts that failed or expired: the partner is asked again for those that it had not accepted, and for the clips of the others. They have a new deadline. Open parts are tried at once.',
    params: IdParam,
    status: 202,
    response: VideoRequest,
    returns: 'The request',
    fails: {
      notFound: 'No request has this id',
      conflict: 'It is stored, or retention has deleted its files',
    },
  },
  listVideoRequestHistory: history(
    '/video-requests',
    'a video request',
    'How it was submitted, each poll that changed something, download attempts and replaced links.',
  ),
} as const satisfies AdminRoutes;
