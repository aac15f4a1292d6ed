import { Decimal, Integer, Json, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, inQuery, min, nullable, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { CreateScaleTicketRequest, TICKET_RESULTS, type TicketResult } from '../scale/scale.api.js';
import { CHANGES, FieldChange, MoreChanges } from './history.dto.js';
import { ListQuery } from './list.dto.js';
import { HAULER, HaulerId, KeyPrefix, RequestId, TimeZone } from './fields.js';
import { RecordedTickets, TicketFootage, TicketFootageRequests } from './footage.dto.js';
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

/** The filters that a partner has too: each has an index. */
export class TicketFilters extends ListQuery {
  @Uuid("Tickets of this site only, by the partner's id of it", optional) siteId?: string;
  @Text('The exact ticket number of the inbound or of the outbound flow', between(1, 255), optional)
  ticketNumber?: string;
  @Text(
    'Part of the ticket number of the inbound or of the outbound flow, without regard to case',
    between(1, 255),
    optional,
  )
  search?: string;
  @Time('Tickets first received at this time or later', inQuery, optional) from?: Instant;
  @Time('Tickets first received before this time', inQuery, optional) to?: Instant;
}

export class TicketQuery extends TicketFilters {
  @Uuid('Tickets of this hauler only', optional) haulerId?: string;
  @Text(
    'Part of the name of a material, without regard to case; among the newest 200,000 tickets of the other filters',
    between(1, 255),
    optional,
  )
  material?: string;
}

/** The current state of a disposal ticket: the fields of section 2.2 with id and hauler. */
export class Ticket extends CreateScaleTicketRequest {
  @Uuid('The `disposalTicketId`') id!: string;
  @HaulerId() haulerId!: string;
  @Time('When its first push was received') createdAt!: string;
  @Time('When a push last changed it') updatedAt!: string;
}

/** One stored push of a ticket (decision 23), without its body. */
export class TicketPush {
  @Integer('Counted from 1', min(1), example(1)) revision!: number;
  @Time('When the push was received') receivedAt!: string;
  @OneOf(
    'Result of the push; an `unchanged` push is not stored',
    TICKET_RESULTS.filter((result) => result !== 'unchanged'),
  )
  result!: TicketResult;
  @Uuid('API key that pushed it; null if unknown', nullable) apiKeyId!: string | null;
  @KeyPrefix(nullable) keyPrefix!: string | null;
  @RequestId(nullable) requestId!: string | null;
  @Uuid('The exchange that carried it, which is kept for some days', nullable) exchangeId!: string | null;
}

export class TicketRevision extends TicketPush {
  @NestedList(CHANGES, FieldChange) changes!: FieldChange[];
  @MoreChanges() moreChanges?: number;
  @Json('The body as sent, with unknown fields', { type: 'object', additionalProperties: true }) body!: unknown;
}

/** Rows of a report: more keys would be no report. */
export const MAX_REPORT_ROWS = 10_000;

/** Groups by the value of one custom field. */
export const CUSTOM_FIELD = 'customField:';

export class TonnageQuery {
  @Uuid('Hauler of the tickets', example(HAULER)) haulerId!: string;
  @Time('Tickets first received at this time or later', inQuery, example('2026-01-01T00:00:00Z')) from!: Instant;
  @Time('Tickets first received before this time', inQuery, example('2026-02-01T00:00:00Z')) to!: Instant;
  @Text(
    'What has a row: `site`, `material`, `day`, or `customField:` with the name of a custom field',
    between(3, 300),
    { pattern: /^(site|material|day|customField:.+)$/su, form: 'site, material, day or customField:NAME' },
    example('site'),
  )
  groupBy!: string;
  @TimeZone() timeZone?: string;
}

const Quantity = (unit: string) => Decimal(`Quantity in the unit ${unit}, which has no weight`, optional, example(5));

/** Sums of the units that are not weights; one without any line is absent. */
export class OtherQuantities {
  @Quantity('Gallon') Gallon?: number;
  @Quantity('Cubic Yard') 'Cubic Yard'?: number;
  @Quantity('Cubic Meter') 'Cubic Meter'?: number;
  @Quantity('Item') Item?: number;
}

export class TonnageRow {
  @Text(
    "The partner's id of the site or material, the local day, or the value of the custom field; empty for tickets without the field",
    example('0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10'),
  )
  key!: string;
  @Text('Name of the site or material as last received, else the key', example('North')) name!: string;
  @Decimal(
    'Short tons: the sum of the quantities in Ton, Pound (2,000 are a ton) and Kilogram (907.18474 are a ton); reversals are negative. A sum beyond ±1.7976931348623157e308 is that number',
  )
  tons!: number;
  @Integer('Tickets', example(93)) tickets!: number;
  @Nested('What is in no unit of weight', OtherQuantities, example({ 'Cubic Yard': 5 })) other!: OtherQuantities;
}

export class Tonnage {
  @NestedList('Days in their order; all else the largest tonnage first', TonnageRow) data!: TonnageRow[];
  @OneOf('The unit of `tons`', ['short ton']) unit!: 'short ton';
}

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
