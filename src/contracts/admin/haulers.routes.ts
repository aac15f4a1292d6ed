import { SetTicketFootage, TicketFootageSetting } from './footage.dto.js';
import { CreateHaulerRequest, Hauler, HAULER_EXAMPLES } from './hauler.dto.js';
import { ListQuery } from './list.dto.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_ADMINS,
  FOR_ADMINS_OF_ALL,
  FOR_VIEWERS,
  list,
  one,
  remove,
} from './route-helpers.js';

/** Tenants, and where the footage of their tickets is. */
export const HAULER_ROUTES = {
  createHauler: create(FOR_ADMINS_OF_ALL, '/haulers', CreateHaulerRequest, Hauler, {
    summary: 'Create a hauler',
    description: 'A hauler is a tenant of the platform.',
    examples: HAULER_EXAMPLES,
    fails: { conflict: 'A hauler with this id exists' },
  }),
  listHaulers: list(FOR_VIEWERS, '/haulers', Hauler, ListQuery, {
    summary: 'List haulers',
    description: 'Newest first.',
  }),
  getHauler: one(FOR_VIEWERS, '/haulers/{id}', 'hauler', Hauler, {
    summary: 'Read a hauler',
    description: 'By its id.',
  }),
  setTicketFootage: change(FOR_ADMINS, 'PUT', '/haulers/{id}/ticket-footage', 'hauler', {
    summary: 'Set where the footage of tickets is',
    description:
      'For the tickets of a hauler: the custom field that names the truck, the vision connection, and the cameras.',
    body: SetTicketFootage,
    response: TicketFootageSetting,
  }),
  getTicketFootageSetting: one(FOR_VIEWERS, '/haulers/{id}/ticket-footage', 'hauler', TicketFootageSetting, {
    summary: 'Read where the footage of tickets is',
    description: 'The setting of a hauler.',
    fails: { notFound: 'No hauler has this id, or it has no setting' },
    returns: 'The setting',
  }),
  deleteTicketFootageSetting: remove(FOR_ADMINS, '/haulers/{id}/ticket-footage', 'hauler', {
    summary: 'Delete where the footage of tickets is',
    description: 'Recordings and clips stay. Also without a setting.',
    returns: 'The setting is deleted',
  }),
} as const satisfies AdminRoutes;
