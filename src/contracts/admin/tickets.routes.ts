import { RecordedTickets, TicketFootage, TicketFootageRequests } from './footage.dto.js';
import { ListQuery } from './list.dto.js';
import { Tonnage, TonnageQuery, TonnageRow } from './report.dto.js';
import { type AdminRoutes, history, ofOne, page, read, table } from './route-parts.js';
import { Ticket, TicketQuery, TicketRevision } from './ticket.dto.js';

const FOOTAGE = { path: '/tickets/{id}/footage' } as const;

/** Tickets that partners pushed, their footage, and sums over them. */
export const TICKET_ROUTES = {
  listTickets: {
    ...table(Ticket, 'tickets', 'materials'),
    path: '/tickets',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List tickets',
    description: 'Last received first. In a CSV each material has a row.',
    query: TicketQuery,
  },
  getTicket: {
    ...read(Ticket, 'ticket'),
    path: '/tickets/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a ticket',
    description: 'By its id, the `disposalTicketId` of the response to the partner.',
  },
  listTicketRevisions: {
    ...page(TicketRevision, 'pushes'),
    path: '/tickets/{id}/revisions',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List the stored pushes of a ticket',
    description: 'Each push as it was sent, oldest first.',
    ...ofOne('ticket'),
    query: ListQuery,
  },
  listTicketHistory: history(
    '/tickets',
    'a ticket',
    'Each push with request id, key, result and changed fields, and the refused pushes that named its numbers.',
  ),
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
  getTonnage: {
    method: 'GET',
    path: '/reports/tonnage',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Sum the tonnage of tickets',
    description:
      'By site, material, local day or a custom field, of the current state of the tickets that were first received in this time. A ticket counts once, whether it has one flow or both. A line in a unit of weight is converted to short tons; any other unit is summed apart.',
    query: TonnageQuery,
    status: 200,
    response: Tonnage,
    csv: { elements: [TonnageRow] },
    returns: 'The sums',
  },
} as const satisfies AdminRoutes;
