import { SetTicketFootage, TicketFootageSetting } from './footage.dto.js';
import { CreateHaulerRequest, Hauler, HAULER_EXAMPLES } from './hauler.dto.js';
import { ListQuery } from './list.dto.js';
import { type AdminRoutes, create, ofOne, page, read } from './route-parts.js';

const SETTING = { path: '/haulers/{id}/ticket-footage' } as const;

/** Tenants, and where the footage of their tickets is. */
export const HAULER_ROUTES = {
  createHauler: {
    ...create(Hauler, 'hauler'),
    path: '/haulers',
    role: 'admin',
    summary: 'Create a hauler',
    description: 'A hauler is a tenant of the platform.',
    body: CreateHaulerRequest,
    examples: HAULER_EXAMPLES,
    fails: { conflict: 'A hauler with this id exists' },
  },
  listHaulers: {
    ...page(Hauler, 'haulers'),
    path: '/haulers',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List haulers',
    description: 'Newest first.',
    query: ListQuery,
  },
  getHauler: {
    ...read(Hauler, 'hauler'),
    path: '/haulers/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a hauler',
    description: 'By its id.',
  },
  setTicketFootage: {
    ...read(TicketFootageSetting, 'hauler'),
    ...SETTING,
    method: 'PUT',
    role: 'admin',
    isPerHauler: true,
    summary: 'Set where the footage of tickets is',
    description:
      'For the tickets of a hauler: the custom field that names the truck, the vision connection, and the cameras.',
    body: SetTicketFootage,
    returns: 'The setting',
  },
  getTicketFootageSetting: {
    ...read(TicketFootageSetting, 'hauler'),
    ...SETTING,
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read where the footage of tickets is',
    description: 'The setting of a hauler.',
    returns: 'The setting',
    fails: { notFound: 'No hauler has this id, or it has no setting' },
  },
  deleteTicketFootageSetting: {
    method: 'DELETE',
    ...SETTING,
    role: 'admin',
    isPerHauler: true,
    summary: 'Delete where the footage of tickets is',
    description: 'Recordings and clips stay. Also without a setting.',
    ...ofOne('hauler'),
    status: 204,
    returns: 'The setting is deleted',
  },
} as const satisfies AdminRoutes;
