import { Account, AccountQuery } from './account.dto.js';
import { Ticket, TicketQuery, TicketRevision } from './ticket.dto.js';
import { type AdminRoutes, history, ofOne, page, read, table } from './route-parts.js';
import { ListQuery } from './list.dto.js';

/** Tickets and accounts that partners pushed. */
export const RECORD_ROUTES = {
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
  listAccounts: {
    ...table(Account, 'accounts'),
    path: '/accounts',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List accounts',
    description: 'Newest first.',
    query: AccountQuery,
  },
  getAccount: {
    ...read(Account, 'account'),
    path: '/accounts/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read an account',
    description: 'By its id, the `accountId` of the response to the partner.',
  },
  listAccountHistory: history(
    '/accounts',
    'an account',
    'The calls that created it, repeated its creation or wanted its name.',
  ),
} as const satisfies AdminRoutes;
