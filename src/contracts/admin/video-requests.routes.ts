import { type AdminRoutes, change, FOR_OPERATORS, FOR_VIEWERS, history, list, one, route } from './route-helpers.js';
import { OrderedVideoRequest, OrderVideoRequest, VideoRequest, VideoRequestQuery } from './video-request.dto.js';

/** Requests for on-demand clips. */
export const VIDEO_REQUEST_ROUTES = {
  createVideoRequest: route(FOR_OPERATORS, 'POST', '/video-requests', {
    summary: 'Request on-demand video',
    description:
      'The service requests the clip from the partner and downloads it. It splits a long range into several parts.',
    body: OrderVideoRequest,
    response: OrderedVideoRequest,
    status: 202,
    fails: { conflict: 'Footage of this range was erased' },
  }),
  listVideoRequests: list(FOR_VIEWERS, '/video-requests', VideoRequest, VideoRequestQuery, {
    summary: 'List video requests',
    description: 'Newest first.',
  }),
  getVideoRequest: one(FOR_VIEWERS, '/video-requests/{id}', 'request', VideoRequest, {
    summary: 'Read a video request',
    description: 'With its parts and the ids of its recordings.',
  }),
  retryVideoRequest: change(FOR_OPERATORS, 'POST', '/video-requests/{id}/retry', 'request', {
    summary: 'Try a video request again',
    description:
      'Its parts that failed or expired: the partner is asked again for those that it had not accepted, and for the clips of the others. They have a new deadline. Open parts are tried at once.',
    response: VideoRequest,
    status: 202,
    fails: { conflict: 'It is stored, or retention has deleted its files' },
  }),
  listVideoRequestHistory: history(
    '/video-requests/{id}/history',
    'a video request',
    'How it was submitted, each poll that changed something, download attempts and replaced links.',
  ),
} as const satisfies AdminRoutes;
