import { Documented } from '../common/fields/documented.js';
import { ArrayField, ObjectField, TextMapField } from '../common/fields/nested-fields.js';
import {
  EnumField,
  InstantField,
  NameField,
  NumberField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';

export const UNITS_OF_MEASURE = ['Ton', 'Gallon', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter', 'Item'] as const;
export type UnitOfMeasure = (typeof UNITS_OF_MEASURE)[number];

/** One line of a ticket (section 2.2). */
export class MaterialItem {
  @UuidField({
    description: "Identifier of the material in the partner's system",
    example: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21',
  })
  id!: string;

  @TextField({ description: 'Material name', max: 255, example: 'Mixed construction debris' })
  name!: string;

  @NumberField({
    description: 'Quantity in `unitOfMeasure`; zero and negative are allowed, reversals exist',
    example: 12.48,
  })
  quantity!: number;

  @NumberField({
    description: 'Price of one unit in cents; 15.5 is 0.155 of a dollar',
    optional: true,
    example: 6250.5,
  })
  unitPriceCents?: number;

  @EnumField({ description: 'Unit of `quantity`', values: UNITS_OF_MEASURE, example: 'Ton' })
  unitOfMeasure!: UnitOfMeasure;
}

/** The inbound or the outbound weighing (section 2.2). */
export class FlowData {
  @NameField({
    description: 'Number of the ticket, unique for this flow at its site',
    max: 255,
    example: 'IN-204817',
  })
  ticketNumber!: string;

  @InstantField({
    description: 'When this flow was last updated; the newest update is kept, in whatever order pushes arrive',
    example: '2026-01-31T08:30:00Z',
  })
  updatedAt!: Instant;
}

/** Body of `POST /platform-api/v1/tickets` (section 2.2; limits by decision 9). */
export class CreateScaleTicketRequest {
  @UuidField({
    description: "Identifier of the disposal site in the partner's system",
    example: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
  })
  siteId!: string;

  @ArrayField(() => MaterialItem, { description: 'The weighed materials', min: 1, max: 1000 })
  materials!: MaterialItem[];

  @ObjectField(() => FlowData, { description: 'Weighing on the way in', optional: true })
  inboundFlow?: FlowData;

  @ObjectField(() => FlowData, { description: 'Weighing on the way out', optional: true })
  outboundFlow?: FlowData;

  @TextMapField({
    description:
      'Data of the integration that no standard field covers; every value is text, every name has at most 255 characters',
    optional: true,
    maxEntries: 100,
    maxName: 255,
    maxValue: 4000,
    example: { truckNumber: '42' },
  })
  customFields?: Record<string, string>;
}

/** Response of `POST /platform-api/v1/tickets` (section 2.3). */
export class CreateScaleTicketResponse {
  @Documented({ description: 'Always true here', example: true })
  success!: boolean;

  @Documented({
    description: 'Identifier of the disposal ticket',
    format: 'uuid',
    maxLength: 36,
    example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d',
  })
  disposalTicketId!: string;
}

/** The results of a push (decision 21). */
export const TICKET_RESULTS = ['created', 'updated', 'stale', 'unchanged'] as const;
export type TicketResult = (typeof TICKET_RESULTS)[number];

/** The response header that reports it. */
export const RESULT_HEADER = 'Ticket-Result';

/** The response header of a `stale` push: the version of the stored contents that won. */
export const VERSION_HEADER = 'Ticket-Version';
