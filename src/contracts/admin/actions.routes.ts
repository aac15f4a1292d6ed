import { Action, ActionQuery, Actors } from './action.dto.js';
import { type AdminRoutes, FOR_VIEWERS_OF_ALL, list, route } from './route-helpers.js';

export const ACTION_ROUTES = {
  listActions: list(FOR_VIEWERS_OF_ALL, '/actions', Action, ActionQuery, {
    summary: 'List the actions of admins and partners',
    description:
      'Every change by the admin API, the console or the partner API, and every view of a recording or an exchange, newest first, for 400 days. Refused calls (4xx) and dry runs are not listed; a call that failed (5xx) is, with its `error`. With `Accept: application/x-ndjson` all of them, which is an action too: `actions.exported`.',
    ndjson: true,
  }),
  listActors: route(FOR_VIEWERS_OF_ALL, 'GET', '/actions/actors', {
    summary: 'List who has done something',
    description: 'Every `actor` of the action log, by its name.',
    response: Actors,
  }),
} as const satisfies AdminRoutes;
