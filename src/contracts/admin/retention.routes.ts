import { HaulerRetention, SetRetention } from './retention.dto.js';
import { type AdminRoutes, change, FOR_ADMINS_OF_ALL, FOR_VIEWERS, one, route } from './route-helpers.js';
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
      'It counts at once: the next hourly run deletes what is older. Send `dryRun` first: its `preview` has the recordings that would be deleted.',
    body: SetRetention,
    response: HaulerRetention,
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
