import { Account, AccountFilters } from '../admin/account.dto.js';
import { CatalogFilters, CatalogMaterial, CatalogSite } from '../admin/catalog.dto.js';
import { ListQuery } from '../admin/list.dto.js';
import { FOR_PARTNERS, list, listOfOne, one } from '../admin/route-helpers.js';
import { Ticket, TicketFilters, TicketPush, TicketRevision } from '../admin/ticket.dto.js';
import type { RouteDefinition } from '../common/api-contract.js';
import { NestedList } from '../common/fields/decorators.js';

/** Pushes that a ticket is shown with. */
export const MAX_SHOWN_PUSHES = 100;

export class OwnTicket extends Ticket {
  @NestedList(`Its stored pushes, the newest ${MAX_SHOWN_PUSHES}, newest first`, TicketPush) revisions!: TicketPush[];
}

const needs = (name: string) => ({ notFound: `The key has no hauler, or does not open the ${name} interface` });
const ofOwn = (noun: string, name: string) => ({
  notFound: `No ${noun} of the hauler has this id, or the key does not open the ${name} interface`,
});

const CATALOG =
  'As the last synchronisation left them. For keys that open Scale or Site; for a key of a connection what came through it.';

/** What the platform has of the hauler of a key, also what other keys of that hauler pushed. */
export const PARTNER_RECORD_ROUTES = {
  listOwnTickets: list(FOR_PARTNERS, '/tickets', Ticket, TicketFilters, {
    summary: 'List the tickets of the hauler',
    description: 'Last received first. `ticketNumber=IN-204817` finds the ticket of a push. For keys that open Scale.',
    fails: needs('Scale'),
  }),
  getOwnTicket: one(FOR_PARTNERS, '/tickets/{id}', 'ticket', OwnTicket, {
    summary: 'Read a ticket of the hauler',
    description: 'Its state, and which pushes made it. For keys that open Scale.',
    fails: ofOwn('ticket', 'Scale'),
  }),
  listOwnTicketRevisions: listOfOne(FOR_PARTNERS, '/tickets/{id}/revisions', 'ticket', TicketRevision, ListQuery, {
    summary: 'List the stored pushes of a ticket of the hauler',
    description: 'Each push as it was sent, oldest first. For keys that open Scale.',
    fails: ofOwn('ticket', 'Scale'),
  }),
  listOwnAccounts: list(FOR_PARTNERS, '/accounts', Account, AccountFilters, {
    summary: 'List the accounts of the hauler',
    description: 'Newest first. For keys that open Account.',
    fails: needs('Account'),
  }),
  listOwnSites: list(FOR_PARTNERS, '/sites', CatalogSite, CatalogFilters, {
    summary: 'List the sites that the platform knows',
    description: CATALOG,
    fails: needs('Scale or the Site'),
  }),
  listOwnMaterials: list(FOR_PARTNERS, '/materials', CatalogMaterial, CatalogFilters, {
    summary: 'List the materials that the platform knows',
    description: CATALOG,
    fails: needs('Scale or the Site'),
  }),
} as const satisfies Readonly<Record<string, RouteDefinition>>;
