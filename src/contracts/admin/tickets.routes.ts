import { RecordedTickets, TicketFootage, TicketFootageRequests } from './footage.dto.js';
import { ListQuery } from './list.dto.js';
import { Tonnage, TonnageQuery } from './report.dto.js';
import {
  type AdminRoutes,
  change,
  FOR_OPERATORS,
  FOR_VIEWERS,
  history,
  list,
  listOfOne,
  one,
  route,
} from './route-helpers.js';
import { Ticket, TicketQuery, TicketRevision } from './ticket.dto.js';

/** Tickets that partners pushed, their footage, and sums over them. */
export const TICKET_ROUTES = {
  listTickets: list(FOR_VIEWERS, '/tickets', Ticket, TicketQuery, {
    summary: 'List tickets',
    description: 'Last received first. In a CSV each material has a row.',
    csv: { each: 'materials' },
  }),
  getTicket: one(FOR_VIEWERS, '/tickets/{id}', 'ticket', Ticket, {
    summary: 'Read a ticket',
    description: 'By its id, the `disposalTicketId` of the response to the partner.',
  }),
  listTicketRevisions: listOfOne(FOR_VIEWERS, '/tickets/{id}/revisions', 'ticket', TicketRevision, ListQuery, {
    summary: 'List the stored pushes of a ticket',
    description: 'Each push as it was sent, oldest first.',
  }),
  listTicketHistory: history(
    '/tickets/{id}/history',
    'a ticket',
    'Each push with request id, key, result and changed fields, and the refused pushes that named its numbers.',
  ),
  getTicketFootage: one(FOR_VIEWERS, '/tickets/{id}/footage', 'ticket', TicketFootage, {
    summary: 'Read the footage of a ticket',
    description:
      'The coverage of the truck from 10 minutes before to 10 minutes after each weighing, what is stored of it, and its clip requests. Where there is none, `reason` says why.',
    returns: 'The footage',
  }),
  requestTicketFootage: change(FOR_OPERATORS, 'POST', '/tickets/{id}/footage', 'ticket', {
    summary: 'Request the missing footage of a ticket',
    description:
      'A clip of each camera for the time that is neither stored nor available nor requested. A second call while these requests are open makes no others.',
    response: TicketFootageRequests,
    status: 202,
    returns: 'The clip requests',
    fails: { conflict: '`details.reasonCode` says why there is nothing to request, as in the footage of the ticket' },
  }),
  listRecordedTickets: one(FOR_VIEWERS, '/recordings/{id}/tickets', 'recording', RecordedTickets, {
    summary: 'List the tickets of a recording',
    description: 'By the setting of the hauler; empty without one.',
    returns: 'The tickets',
  }),
  getTonnage: route(FOR_VIEWERS, 'GET', '/reports/tonnage', {
    summary: 'Sum the tonnage of tickets',
    description:
      'By site, material, local day or a custom field, of the current state of the tickets that were first received in this time. A ticket counts once, whether it has one flow or both. A line in a unit of weight is converted to short tons; any other unit is summed apart.',
    query: TonnageQuery,
    response: Tonnage,
    csv: true,
    returns: 'The sums',
  }),
} as const satisfies AdminRoutes;
