import { HaulerRetention, RetentionPreview, RetentionPreviewQuery, SetRetention } from './retention.dto.js';
import {
  type AdminRoutes,
  change,
  FOR_ADMINS_OF_ALL,
  FOR_VIEWERS,
  FOR_VIEWERS_OF_ALL,
  one,
  route,
} from './route-helpers.js';
import { RetentionRequest, RetentionResult } from './storage.dto.js';

/** For how long video is kept. */
export const RETENTION_ROUTES = {
  getHaulerRetention: one(FOR_VIEWERS, '/haulers/{id}/retention', 'hauler', HaulerRetention, {
    summary: 'Read for how long the video of a hauler is kept',
    description: 'By source. Without a setting of its own it is the longest default since the hauler was created.',
    returns: 'The retention',
  }),
  setHaulerRetention: change(FOR_ADMINS_OF_ALL, 'PUT', '/haulers/{id}/retention', 'hauler', {
    summary: 'Set for how long the video of a hauler is kept',
    description:
      'To shorten it, send `confirm` and the number of recordings of the preview. It counts at once: the next hourly run deletes.',
    body: SetRetention,
    response: HaulerRetention,
    fails: { conflict: 'It would delete recordings, and is not confirmed, or would delete more than were confirmed' },
  }),
  previewRetention: route(FOR_VIEWERS_OF_ALL, 'GET', '/retention/preview', {
    summary: 'Count what a retention would delete',
    description: 'At this moment. Changes nothing.',
    query: RetentionPreviewQuery,
    response: RetentionPreview,
    returns: 'The recordings that would be deleted',
  }),
  runRetention: route(FOR_ADMINS_OF_ALL, 'POST', '/retention', {
    summary: 'Delete stored video by age now',
    description:
      'Deletes what is older than the retention of its hauler, unless a hold keeps it, as the service does every hour.',
    body: RetentionRequest,
    response: RetentionResult,
    isBodyOptional: true,
    returns: 'The number of deleted recordings',
  }),
} as const satisfies AdminRoutes;
