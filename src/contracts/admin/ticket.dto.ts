import { Documented } from '../common/fields/documented.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { CreateScaleTicketRequest, TICKET_RESULTS, type TicketResult } from '../scale/scale.dto.js';
import { ListQuery } from './list.dto.js';

const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const SITE_ID = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';

/** The filters that a partner has too: each has an index. */
export class TicketFilters extends ListQuery {
  @UuidField({
    description: "Tickets of this site only, by the partner's id of it",
    optional: true,
  })
  siteId?: string;

  @TextField({
    description: 'The exact ticket number of the inbound or of the outbound flow',
    min: 1,
    max: 255,
    optional: true,
  })
  ticketNumber?: string;

  @TextField({
    description: 'Part of the ticket number of the inbound or of the outbound flow, without regard to case',
    min: 1,
    max: 255,
    optional: true,
  })
  search?: string;

  @InstantField({
    description: 'Tickets first received at this time or later',
    optional: true,
    inQuery: true,
  })
  from?: Instant;

  @InstantField({
    description: 'Tickets first received before this time',
    optional: true,
    inQuery: true,
  })
  to?: Instant;
}

export class TicketQuery extends TicketFilters {
  @UuidField({ description: 'Tickets of this hauler only', optional: true })
  haulerId?: string;

  @TextField({
    description:
      'Part of the name of a material, without regard to case; among the newest 200,000 tickets of the other filters',
    min: 1,
    max: 255,
    optional: true,
  })
  material?: string;
}

/** The current state of a disposal ticket: the fields of section 2.2 with id and hauler. */
export class Ticket extends CreateScaleTicketRequest {
  @UuidField({ description: 'The `disposalTicketId`', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  id!: string;

  @UuidField({ description: 'Hauler that it belongs to', example: HAULER_ID })
  haulerId!: string;

  @InstantField({ description: 'When its first push was received', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;

  @InstantField({ description: 'When a push last changed it', example: '2026-11-20T14:03:27.512Z' })
  updatedAt!: string;
}

/** One stored push of a ticket (decision 23), without its body. */
export class TicketPush {
  @IntegerField({ description: 'Counted from 1', min: 1, max: 2_147_483_647, example: 1 })
  revision!: number;

  @InstantField({ description: 'When the push was received', example: '2026-11-20T14:03:27.512Z' })
  receivedAt!: string;

  @EnumField({
    description: 'Result of the push; an `unchanged` push is not stored',
    values: TICKET_RESULTS.filter((result) => result !== 'unchanged'),
    example: 'created',
  })
  result!: TicketResult;

  @UuidField({
    description: 'API key that pushed it; null if unknown',
    nullable: true,
    example: '0197a1c8-02d1-7c55-8a3e-5b7d9e1f2a34',
  })
  apiKeyId!: string | null;

  @TextField({ description: 'First characters of that key', max: 24, nullable: true, example: 'hb_7Kq2mZ9x' })
  keyPrefix!: string | null;

  @TextField({
    description: '`X-Request-Id` of the response',
    max: 128,
    nullable: true,
    example: 'a6a7c6f2-5a0b-4d0e-8d36-f6f0f1a1b2c3',
  })
  requestId!: string | null;

  @UuidField({
    description: 'The exchange that carried it, which is kept for some days',
    nullable: true,
    example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d',
  })
  exchangeId!: string | null;
}

export class TicketRevision extends TicketPush {
  @Documented({
    description:
      'Fields of the ticket that the push changed, compared with what was in force when it arrived; empty for the first push',
    type: 'array',
    items: { type: 'string', maxLength: 1_048_576 },
    maxItems: 1_000,
    example: ['materials'],
  })
  changes!: string[];

  @Documented({
    description: 'The body as sent, with unknown fields',
    type: 'object',
    additionalProperties: true,
    example: { siteId: SITE_ID, materials: [] },
  })
  body!: unknown;
}
