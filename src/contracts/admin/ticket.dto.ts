import { Integer, Json, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, min, nullable, optional, between } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { CreateScaleTicketRequest, TICKET_RESULTS, type TicketResult } from '../scale/scale.dto.js';
import { CHANGES, FieldChange, MoreChanges } from './history.dto.js';
import { ListQuery } from './list.dto.js';
import { HaulerId, KeyPrefix, RequestId } from './fields.js';

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
