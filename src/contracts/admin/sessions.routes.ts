import { ListQuery } from './list.dto.js';
import { AdminSession } from './people.dto.js';
import { type AdminRoutes, ofOne, page } from './route-parts.js';

/** The sessions of people, tokens and partners in the console. */
export const SESSION_ROUTES = {
  listSessions: {
    ...page(AdminSession, 'sessions'),
    path: '/sessions',
    role: 'admin',
    summary: 'List the sessions of the console',
    description: 'Those that have not ended, newest first.',
    query: ListQuery,
  },
  endSession: {
    method: 'DELETE',
    path: '/sessions/{id}',
    role: 'admin',
    summary: 'End a session of the console',
    description:
      'On every instance with the next request. A person can sign in again as long as a group of the identity provider allows it.',
    ...ofOne('session'),
    status: 204,
    returns: 'The session has ended',
  },
} as const satisfies AdminRoutes;
