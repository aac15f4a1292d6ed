import {
  Decimal,
  Flag,
  Name,
  Nested,
  NestedList,
  OneOf,
  Text,
  TextMap,
  Time,
  Uuid,
} from '../common/fields/decorators.js';
import { example, max, optional, between } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';

export const UNITS_OF_MEASURE = ['Ton', 'Gallon', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter', 'Item'] as const;
export type UnitOfMeasure = (typeof UNITS_OF_MEASURE)[number];

const SITE_ID = example('0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10');
const MATERIAL_ID = example('7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21');

/** One line of a ticket (section 2.2). */
export class MaterialItem {
  @Uuid("Identifier of the material in the partner's system", MATERIAL_ID) id!: string;
  @Text('Material name', max(255), example('Mixed construction debris')) name!: string;
  @Decimal('Quantity in `unitOfMeasure`; zero and negative are allowed, reversals exist', example(12.48))
  quantity!: number;
  @Decimal('Price of one unit in cents; 15.5 is 0.155 of a dollar', optional, example(6250.5)) unitPriceCents?: number;
  @OneOf('Unit of `quantity`', UNITS_OF_MEASURE) unitOfMeasure!: UnitOfMeasure;
}

/** The inbound or the outbound weighing (section 2.2). */
export class FlowData {
  @Name('Number of the ticket, unique for this flow at its site', max(255), example('IN-204817')) ticketNumber!: string;
  @Time('When this flow was last updated; the newest update is kept, in whatever order pushes arrive')
  updatedAt!: Instant;
}

/** Body of `POST /platform-api/v1/tickets` (section 2.2; limits by decision 9). */
export class CreateScaleTicketRequest {
  @Uuid("Identifier of the disposal site in the partner's system", SITE_ID) siteId!: string;
  @NestedList('The weighed materials', MaterialItem, between(1, 1000)) materials!: MaterialItem[];
  @Nested('Weighing on the way in', FlowData, optional) inboundFlow?: FlowData;
  @Nested('Weighing on the way out', FlowData, optional) outboundFlow?: FlowData;
  @TextMap(
    'Data of the integration that no standard field covers; every value is text, every name has at most 255 characters',
    { maxEntries: 100, maxName: 255, maxValue: 4000 },
    optional,
    example({ truckNumber: '42' }),
  )
  customFields?: Record<string, string>;
}

/** Response of `POST /platform-api/v1/tickets` (section 2.3). */
export class CreateScaleTicketResponse {
  @Flag('Always true here') success!: boolean;
  @Uuid('Identifier of the disposal ticket') disposalTicketId!: string;
}

/** The results of a push (decision 21). */
export const TICKET_RESULTS = ['created', 'updated', 'stale', 'unchanged'] as const;
export type TicketResult = (typeof TICKET_RESULTS)[number];

/** The response header that reports it. */
export const RESULT_HEADER = 'Ticket-Result';

/** The response header of a `stale` push: the version of the stored contents that won. */
export const VERSION_HEADER = 'Ticket-Version';
