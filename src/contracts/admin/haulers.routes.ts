import { Integer, Name, Nested, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, nullable, optional } from '../common/fields/options.js';
import { HAULER } from './fields.js';
import { SetTicketFootage, TicketFootageSetting } from './footage.dto.js';
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

const HAULER_NAME = 'Green Valley Hauling';

export class CreateHaulerRequest {
  @Uuid('Id of the hauler; generated if absent', optional, example(HAULER)) id?: string;
  @Name('Name of the hauler', max(200), example(HAULER_NAME)) name!: string;
}

/** Without an id, so that the example works more than once. */
const HAULER_EXAMPLES = { named: { summary: 'A hauler', value: { name: HAULER_NAME } } };

/** What came from the partners of a hauler, and how those that are called fare. */
export class HaulerHealth {
  @Integer('Its connections', example(2)) connections!: number;
  @Integer('Those whose last call or run failed', example(0)) failingConnections!: number;
  @Time('When a key for tickets or accounts was used last; null for never', nullable) lastPushAt!: string | null;
  @Integer('Pushes that were refused or failed in the last 24 hours, the current one included', example(0))
  refusedPushes!: number;
}

export class Hauler {
  @Uuid('Id of the hauler, the `haulerId` of the Site API') id!: string;
  @Text('Name of the hauler', example(HAULER_NAME)) name!: string;
  @Time('When it was created') createdAt!: string;
  @Nested('How it fares, where it is read', HaulerHealth, optional) health?: HaulerHealth;
}

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
