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
import { between, example, max, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import {
  IDEMPOTENCY_REQUEST,
  IDEMPOTENCY_RESPONSE,
  KEY_REUSED,
  KEY_REUSED_REASON,
  violationExample,
} from '../common/idempotency.js';
import type { Violation } from '../common/violation.js';

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

/**
 * A record that the platform does not have (decision 24). The message is long, because partners send our ids instead, or ids
 * of records that were never synchronised.
 */
export const unknownRecord = (path: string, rule: 'siteExists' | 'materialExists', what: string): Violation => ({
  path,
  rule,
  message: `${path} must be the id, in your own system, of ${what} that the platform has received by the Site API`,
});

export const unknownMaterial = (index: number): Violation =>
  unknownRecord(`materials[${index}].id`, 'materialExists', 'a material');

const FLOWS = ['inboundFlow', 'outboundFlow'] as const;

/** Flows that belong to different tickets (decision 20): the ids of the inbound flow's ticket and of the outbound flow's. */
export const flowConflict = (...ids: readonly [inbound: string, outbound: string]): Violation[] =>
  FLOWS.map((flow, i) => ({
    path: `${flow}.ticketNumber`,
    rule: 'flowConflict',
    message: `${flow}.ticketNumber belongs to ticket ${ids[i]}, the other flow to ticket ${ids[1 - i]}`,
  }));

/** How far ahead of our clock a push may be (decision 21). */
export const MAX_HOURS_AHEAD = 24;

/** One wrong clock would make every later push stale. `now` is the time of the platform. */
export const updatedAtInFuture = (flow: (typeof FLOWS)[number], now: string): Violation => ({
  path: `${flow}.updatedAt`,
  rule: 'updatedAtInFuture',
  message: `${flow}.updatedAt must be at most ${MAX_HOURS_AHEAD} hours ahead of the time of the platform, which is ${now}`,
});

const EXAMPLE_TICKETS = ['019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d', '019a8b7c-1a2b-7c3d-8e4f-5a6b7c8d9e0f'] as const;

const CODE = 'VALIDATION_ERROR';

/** Scale API 1.0.0 (sections 2.2, 2.3, 4.1): hosted by the platform, called by partners. */
export const SCALE_API = defineApi({
  name: 'scale',
  title: 'Scale API',
  version: '1.0.0',
  prefix: '/platform-api/v1',
  keyHeader: 'PLATFORM-API-KEY',
  routes: {
    createTicket: {
      method: 'POST',
      path: '/tickets',
      summary: 'Push a scale ticket',
      description:
        'Send it whenever a ticket is created or updated. A push whose flow is known updates that ticket; the newest wins, in whatever order pushes arrive.',
      requestHeaders: IDEMPOTENCY_REQUEST,
      body: CreateScaleTicketRequest,
      status: 200,
      response: CreateScaleTicketResponse,
      returns: 'The push is stored',
      responseHeaders: {
        [RESULT_HEADER]: {
          description: 'What the push did; `stale`: newer contents are stored, this push is in the history only',
          schema: { type: 'string', enum: [...TICKET_RESULTS] },
        },
        [VERSION_HEADER]: {
          description: 'With `stale`: the newest `updatedAt` of the push whose contents are stored',
          schema: { type: 'string', format: 'date-time', maxLength: 24 },
        },
        ...IDEMPOTENCY_RESPONSE,
      },
      fails: {
        ruleViolated: {
          description:
            'A business rule is violated: `details.violations` names every offending element. `details.reason` is `FLOW_CONFLICT` ' +
            'if the two flows belong to different tickets, and `IDEMPOTENCY_KEY_REUSED` if the key was used with another body',
          headers: IDEMPOTENCY_RESPONSE,
          examples: {
            'an unknown material': violationExample(CODE, [unknownMaterial(0)]),
            'flows of two tickets': violationExample(CODE, flowConflict(...EXAMPLE_TICKETS), 'FLOW_CONFLICT'),
            'a clock that is wrong': violationExample(CODE, [updatedAtInFuture('inboundFlow', '2026-01-31T08:30:02Z')]),
            'a key that was used with another body': violationExample(CODE, [KEY_REUSED], KEY_REUSED_REASON),
          },
        },
      },
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', CODE],
  errors: { ...COMMON_ERRORS, ruleViolated: CODE },
});
