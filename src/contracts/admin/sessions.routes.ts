import { ListQuery } from './list.dto.js';
import { AdminSession } from './people.dto.js';
import { type AdminRoutes, FOR_ADMINS_OF_ALL, list, remove } from './route-helpers.js';

/** The sessions of people, tokens and partners in the console. */
export const SESSION_ROUTES = {
  listSessions: list(FOR_ADMINS_OF_ALL, '/sessions', AdminSession, ListQuery, {
    summary: 'List the sessions of the console',
    description: 'Those that have not ended, newest first.',
  }),
  endSession: remove(FOR_ADMINS_OF_ALL, '/sessions/{id}', 'session', {
    summary: 'End a session of the console',
    description:
      'On every instance with the next request. A person can sign in again as long as a group of the identity provider allows it.',
    returns: 'The session has ended',
  }),
} as const satisfies AdminRoutes;
