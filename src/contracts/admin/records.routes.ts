import { PageQuery } from '../common/pagination.dto.js';
import { Account, AccountQuery } from './account.dto.js';
import { HistoryEntry } from './history.dto.js';
import { IdParam } from './list.dto.js';
import { Ticket, TicketQuery, TicketRevision } from './ticket.dto.js';
import { type AdminRoute, page, read } from './admin-route.js';

/** Tickets and accounts that partners pushed. */
export const RECORD_ROUTES = {
  listTickets: {
    ...page(Ticket, 'tickets'),
    path: '/tickets',
    summary: 'List tickets',
    description: 'Last received first.',
    query: TicketQuery,
  },
  getTicket: {
    ...read,
    path: '/tickets/{id}',
    summary: 'Read a ticket',
    description: 'By its id, the `disposalTicketId` of the response to the partner.',
    response: Ticket,
    returns: 'The current state of the ticket',
    fails: { notFound: 'No ticket has this id' },
  },
  listTicketRevisions: {
    ...page(TicketRevision, 'pushes'),
    path: '/tickets/{id}/revisions',
    summary: 'List the stored pushes of a ticket',
    description: 'Each push as it was sent, oldest first.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'No ticket has this id' },
  },
  listTicketHistory: {
    ...page(HistoryEntry, 'events'),
    path: '/tickets/{id}/history',
    summary: 'List the history of a ticket',
    description:
      'Each push with request id, key, result and changed fields, and the refused pushes that named its numbers. Newest first, at most the newest 1,000. Exchanges are kept for some days.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'Nothing has this id' },
  },
  listAccounts: {
    ...page(Account, 'accounts'),
    path: '/accounts',
    summary: 'List accounts',
    description: 'Newest first.',
    query: AccountQuery,
  },
  getAccount: {
    ...read,
    path: '/accounts/{id}',
    summary: 'Read an account',
    description: 'By its id, the `accountId` of the response to the partner.',
    response: Account,
    returns: 'The account',
    fails: { notFound: 'No account has this id' },
  },
  listAccountHistory: {
    ...page(HistoryEntry, 'events'),
    path: '/accounts/{id}/history',
    summary: 'List the history of an account',
    description:
      'The calls that created it, repeated its creation or wanted its name. Newest first, at most the newest 1,000. Exchanges are kept for some days.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'Nothing has this id' },
  },
} as const satisfies Readonly<Record<string, AdminRoute>>;
