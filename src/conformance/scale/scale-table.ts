import { ownField } from '../../contracts/common/json.js';
import { INVALID_PAYLOAD, keyRows, type RefusedGroup, UNAUTHORIZED } from '../refusals.js';

export const OPERATION = 'createTicket';
const UNKNOWN_ID = 'c0ffee00-0000-4000-8000-00000000dead';
const MALFORMED_TIME = '31/01/2026';

const CHECK = 'Check the body against section 2.2, and answer 400.';
const VIOLATED = {
  operation: OPERATION,
  status: 422,
  code: 'VALIDATION_ERROR',
  section: '7',
  remedy: 'Answer 422 where a site or a material does not exist.',
};
const COMMON = { ...INVALID_PAYLOAD, operation: OPERATION, remedy: CHECK };

/** Requests that a server refuses without a valid ticket. */
export const UNRELATED: readonly RefusedGroup[] = [
  {
    ...COMMON,
    section: '7',
    rows: [
      ['SCALE-001', '', 'an empty object', {}],
      ['SCALE-003', '', 'a body that is not JSON', '{"siteId":'],
    ],
  },
  {
    ...UNAUTHORIZED,
    operation: OPERATION,
    section: '5',
    remedy: 'Compare the header PLATFORM-API-KEY with the issued key before anything else.',
    rows: keyRows(['SCALE-005', 'SCALE-007', 'SCALE-009'], 'a ticket', [
      'PLATFORM-API-KEY',
      'API-KEY in place of PLATFORM-API-KEY',
    ]),
  },
];

/** Tickets that a server refuses for one change of a valid ticket. */
export const CHANGED: readonly RefusedGroup[] = [
  {
    ...COMMON,
    section: '2.2',
    rows: [
      ['SCALE-100', 'siteId', 'a ticket without siteId', undefined],
      ['SCALE-102', 'siteId', 'a ticket with a siteId that is not a UUID', 'site-1'],
      ['SCALE-104', 'materials', 'a ticket without materials', undefined],
      ['SCALE-106', 'materials', 'a ticket with an empty array of materials', []],
      ['SCALE-108', 'materials.0.id', 'a material without id', undefined],
      ['SCALE-110', 'materials.0.id', 'a material with an id that is not a UUID', 'material-1'],
      ['SCALE-112', 'materials.0.name', 'a material without name', undefined],
      ['SCALE-114', 'materials.0.name', 'a material with a name that is a number', 7],
      ['SCALE-116', 'materials.0.quantity', 'a material without quantity', undefined],
      ['SCALE-118', 'materials.0.quantity', 'a material with a quantity that is text', '12.48'],
      ['SCALE-120', 'materials.0.unitPriceCents', 'a material with a unitPriceCents that is text', '15.5'],
      ['SCALE-122', 'materials.0.unitOfMeasure', 'a material without unitOfMeasure', undefined],
      ['SCALE-124', 'materials.0.unitOfMeasure', 'a material with an unknown unitOfMeasure', 'Bushel'],
      ['SCALE-126', 'inboundFlow', 'an inboundFlow that is text', 'IN-1'],
      ['SCALE-128', 'inboundFlow.ticketNumber', 'a flow without ticketNumber', undefined],
      ['SCALE-130', 'inboundFlow.ticketNumber', 'a flow with a ticketNumber that is a number', 204817],
      ['SCALE-132', 'inboundFlow.updatedAt', 'a flow without updatedAt', undefined],
      ['SCALE-134', 'inboundFlow.updatedAt', 'a flow with an updatedAt that is not a date-time', MALFORMED_TIME],
      ['SCALE-136', 'outboundFlow.ticketNumber', 'an outboundFlow without ticketNumber', undefined],
      ['SCALE-138', 'customFields', 'customFields that are an array', ['42']],
      ['SCALE-140', 'customFields', 'a value of customFields that is a number', { truckNumber: 42 }],
      ['SCALE-142', 'outboundFlow', 'an outboundFlow that is text', 'OUT-1'],
      ['SCALE-144', 'outboundFlow.ticketNumber', 'an outboundFlow with a ticketNumber that is a number', 7],
      ['SCALE-146', 'outboundFlow.updatedAt', 'an outboundFlow without updatedAt', undefined],
      [
        'SCALE-148',
        'outboundFlow.updatedAt',
        'an outboundFlow with an updatedAt that is not a date-time',
        MALFORMED_TIME,
      ],
      ['SCALE-150', 'materials', 'materials that are an object', (materials: unknown) => ownField(materials, '0')],
      ['SCALE-152', 'materials', 'a material that is text', ['debris']],
    ],
  },
  { ...VIOLATED, rows: [['SCALE-160', 'materials.0.id', 'a ticket with an unknown material', UNKNOWN_ID]] },
  { ...VIOLATED, severity: 'should', rows: [['SCALE-162', 'siteId', 'a ticket of an unknown site', UNKNOWN_ID]] },
];
