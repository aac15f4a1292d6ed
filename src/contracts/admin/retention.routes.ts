import { HaulerRetention, RetentionPreview, RetentionPreviewQuery, SetRetention } from './retention.dto.js';
import { type AdminRoutes, read } from './route-parts.js';
import { RetentionRequest, RetentionResult } from './storage.dto.js';

/** For how long video is kept. */
export const RETENTION_ROUTES = {
  getHaulerRetention: {
    ...read(HaulerRetention, 'hauler'),
    path: '/haulers/{id}/retention',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read for how long the video of a hauler is kept',
    description: 'By source. Without a setting of its own it is the longest default since the hauler was created.',
  },
  setHaulerRetention: {
    ...read(HaulerRetention, 'hauler'),
    method: 'PUT',
    path: '/haulers/{id}/retention',
    role: 'admin',
    summary: 'Set for how long the video of a hauler is kept',
    description:
      'To shorten it, send `confirm` and the number of recordings of the preview. It counts at once: the next hourly run deletes.',
    body: SetRetention,
    fails: {
      notFound: 'No hauler has this id',
      conflict: 'It would delete recordings, and is not confirmed, or would delete more than were confirmed',
    },
  },
  previewRetention: {
    method: 'GET',
    path: '/retention/preview',
    role: 'viewer',
    summary: 'Count what a retention would delete',
    description: 'At this moment. Changes nothing.',
    query: RetentionPreviewQuery,
    status: 200,
    response: RetentionPreview,
    returns: 'The recordings that would be deleted',
  },
  runRetention: {
    method: 'POST',
    path: '/retention',
    role: 'admin',
    summary: 'Delete stored video by age now',
    description:
      'Deletes what is older than the retention of its hauler, unless a hold keeps it, as the service does every hour.',
    body: RetentionRequest,
    isBodyOptional: true,
    status: 200,
    response: RetentionResult,
    returns: 'The number of deleted recordings',
  },
} as const satisfies AdminRoutes;
