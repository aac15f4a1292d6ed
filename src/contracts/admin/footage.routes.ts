import {
  RecordedTickets,
  SetTicketFootage,
  TicketFootage,
  TicketFootageRequests,
  TicketFootageSetting,
} from './footage.dto.js';
import { type AdminRoutes, ofOne, read } from './route-parts.js';

const SETTING = { path: '/haulers/{id}/ticket-footage' } as const;
const FOOTAGE = { path: '/tickets/{id}/footage' } as const;

/** The footage of a ticket: which truck and cameras, what is stored, and what is requested. */
export const FOOTAGE_ROUTES = {
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
  getTicketFootage: {
    ...read(TicketFootage, 'ticket'),
    ...FOOTAGE,
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read the footage of a ticket',
    description:
      'The coverage of the truck from 10 minutes before to 10 minutes after each weighing, what is stored of it, and its clip requests. Where there is none, `reason` says why.',
    returns: 'The footage',
  },
  requestTicketFootage: {
    method: 'POST',
    ...FOOTAGE,
    role: 'operator',
    isPerHauler: true,
    summary: 'Request the missing footage of a ticket',
    description:
      'A clip of each camera for the time that is neither stored nor available nor requested. A second call while these requests are open makes no others.',
    ...ofOne('ticket'),
    status: 202,
    response: TicketFootageRequests,
    returns: 'The clip requests',
    fails: {
      notFound: 'No ticket has this id',
      conflict: '`details.reasonCode` says why there is nothing to request, as in the footage of the ticket',
    },
  },
  listRecordedTickets: {
    ...read(RecordedTickets, 'recording'),
    path: '/recordings/{id}/tickets',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List the tickets of a recording',
    description: 'By the setting of the hauler; empty without one.',
    returns: 'The tickets',
  },
} as const satisfies AdminRoutes;
