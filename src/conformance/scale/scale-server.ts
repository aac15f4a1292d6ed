import { ownField } from '../../contracts/common/json.js';
import { isUuid } from '../../contracts/common/text.js';
import { SCALE_API } from '../../contracts/scale/scale.api.js';
import { UNITS_OF_MEASURE } from '../../contracts/scale/scale.dto.js';
import {
  FAIL_ON_DEMAND,
  type Form,
  hasStatus,
  internalErrorRules,
  jsonRules,
  memberRow,
  type Refusal,
  refusalRules,
  rulesOf,
  shown,
  TRUE,
} from '../checks.js';
import { UnprovenError } from '../exchange.js';
import { type Exchanges, passedIf, type RequestPlan, type Rule, type ServerRole } from '../rule.js';

const OPERATION = 'createTicket';
const UNKNOWN_ID = 'c0ffee00-0000-4000-8000-00000000dead';
const FIRST_UPDATE = '2026-01-31T08:30:00Z';
const SECOND_UPDATE = '2026-01-31T08:31:00Z';

type Ticket = Record<string, unknown>;

/** A ticket that a server must accept; its ticket numbers and names contain the id of the run. */
function ticketOf({ fixtures: { siteId, materialId }, runId }: Exchanges, name: string): Ticket {
  if (siteId === undefined || materialId === undefined) {
    throw new UnprovenError('no site and material are known: put siteId and materialId into the file of --fixtures');
  }
  return {
    siteId,
    materials: [{ id: materialId, name: `Conformance ${runId}`, quantity: 12.48, unitOfMeasure: 'Ton' }],
    inboundFlow: { ticketNumber: `${runId}-${name}`, updatedAt: FIRST_UPDATE },
  };
}

const push = (name: string, change: (ticket: Ticket) => Ticket = (ticket) => ticket): RequestPlan => ({
  operation: OPERATION,
  writes: true,
  draft: (run) => ({ body: change(ticketOf(run, name)) }),
});

const firstMaterial = (ticket: Ticket): object => (ticket['materials'] as object[])[0] ?? {};
const withMaterial = (change: object) => (ticket: Ticket) => ({
  ...ticket,
  materials: [{ ...firstMaterial(ticket), ...change }],
});
const withFlow = (change: object) => (ticket: Ticket) => ({
  ...ticket,
  inboundFlow: { ...(ticket['inboundFlow'] as object), ...change },
});
const withOutbound = (change: object) => (ticket: Ticket) => ({
  ...ticket,
  outboundFlow: { ...(ticket['inboundFlow'] as object), ...change },
});
/** A field that is undefined is absent from the JSON. */
const withFields = (change: object) => (ticket: Ticket) => ({ ...ticket, ...change });
const withoutFlow = withFields({ inboundFlow: undefined });

const INVALID: readonly (readonly [on: string, of: string, change: (ticket: Ticket) => Ticket])[] = [
  ['withoutSite', 'a ticket without siteId', withFields({ siteId: undefined })],
  ['malformedSite', 'a ticket with a siteId that is not a UUID', withFields({ siteId: 'site-1' })],
  ['withoutMaterials', 'a ticket without materials', withFields({ materials: undefined })],
  ['emptyMaterials', 'a ticket with an empty array of materials', withFields({ materials: [] })],
  ['materialWithoutId', 'a material without id', withMaterial({ id: undefined })],
  ['materialMalformedId', 'a material with an id that is not a UUID', withMaterial({ id: 'material-1' })],
  ['materialWithoutName', 'a material without name', withMaterial({ name: undefined })],
  ['materialNameNumber', 'a material with a name that is a number', withMaterial({ name: 7 })],
  ['materialWithoutQuantity', 'a material without quantity', withMaterial({ quantity: undefined })],
  ['materialQuantityText', 'a material with a quantity that is text', withMaterial({ quantity: '12.48' })],
  ['materialPriceText', 'a material with a unitPriceCents that is text', withMaterial({ unitPriceCents: '15.5' })],
  ['materialWithoutUnit', 'a material without unitOfMeasure', withMaterial({ unitOfMeasure: undefined })],
  ['materialUnknownUnit', 'a material with an unknown unitOfMeasure', withMaterial({ unitOfMeasure: 'Bushel' })],
  ['flowNotObject', 'an inboundFlow that is text', withFields({ inboundFlow: 'IN-1' })],
  ['flowWithoutNumber', 'a flow without ticketNumber', withFlow({ ticketNumber: undefined })],
  ['flowNumberNotText', 'a flow with a ticketNumber that is a number', withFlow({ ticketNumber: 204817 })],
  ['flowWithoutTime', 'a flow without updatedAt', withFlow({ updatedAt: undefined })],
  ['flowMalformedTime', 'a flow with an updatedAt that is not a date-time', withFlow({ updatedAt: '31/01/2026' })],
  [
    'outboundWithoutNumber',
    'an outboundFlow without ticketNumber',
    withFields({ outboundFlow: { updatedAt: FIRST_UPDATE } }),
  ],
  ['customFieldsArray', 'customFields that are an array', withFields({ customFields: ['42'] })],
  // The numbers of the rules follow from the order: add at the end.
  ['customFieldNumber', 'a value of customFields that is a number', withFields({ customFields: { truckNumber: 42 } })],
  ['outboundNotObject', 'an outboundFlow that is text', withFields({ outboundFlow: 'OUT-1' })],
  ['outboundNumberNotText', 'an outboundFlow with a ticketNumber that is a number', withOutbound({ ticketNumber: 7 })],
  ['outboundWithoutTime', 'an outboundFlow without updatedAt', withOutbound({ updatedAt: undefined })],
  [
    'outboundMalformedTime',
    'an outboundFlow with an updatedAt that is not a date-time',
    withOutbound({ updatedAt: '31/01/2026' }),
  ],
  ['materialsNotArray', 'materials that are an object', (ticket) => ({ ...ticket, materials: firstMaterial(ticket) })],
  ['materialNotObject', 'a material that is text', withFields({ materials: ['debris'] })],
];

const every = (ticket: Ticket): Ticket => ({
  ...ticket,
  outboundFlow: {
    ticketNumber: `${String(ownField(ticket['inboundFlow'], 'ticketNumber'))}-out`,
    updatedAt: FIRST_UPDATE,
  },
  customFields: { truckNumber: '42', note: 'conformance' },
  materials: [{ ...firstMaterial(ticket), unitPriceCents: 15.5 }],
});

const EMPTY: RequestPlan = { operation: OPERATION, draft: () => ({ body: {} }) };

const PLANS: Readonly<Record<string, RequestPlan>> = {
  empty: EMPTY,
  malformedJson: { operation: OPERATION, draft: () => ({ body: '{"siteId":' }) },
  serverError: { operation: OPERATION, draft: () => ({ body: {}, headers: FAIL_ON_DEMAND }) },
  withoutKey: { ...EMPTY, credentials: 'none' },
  wrongKey: { ...EMPTY, credentials: 'wrong-key' },
  otherHeader: { ...EMPTY, credentials: 'other-header' },
  create: push('create'),
  update: push('create', withFlow({ updatedAt: SECOND_UPDATE })),
  every: push('every', every),
  withoutFlow: push('no-flow', withoutFlow),
  units: push('units', (ticket) => ({
    ...ticket,
    materials: UNITS_OF_MEASURE.map((unitOfMeasure) => ({ ...firstMaterial(ticket), unitOfMeasure })),
  })),
  unknownSite: push('unknown-site', withFields({ siteId: UNKNOWN_ID })),
  unknownMaterial: push('unknown-material', withMaterial({ id: UNKNOWN_ID })),
  ...Object.fromEntries(INVALID.map(([on, , change]) => [on, push(on, change)])),
};

const ACCEPT = 'Accept the ticket with 200: it follows section 2.2, and its site and material are known.';
const UUID: Form = ['a UUID', (value) => typeof value === 'string' && isUuid(value)];

const accepted = (id: string, section: string, on: string, title: string, remedy = ACCEPT): Rule[] =>
  rulesOf({ operation: OPERATION, section, on }, [id, title, remedy, hasStatus(200)]);

const ACCEPTED: readonly Rule[] = [
  ...accepted('SCALE-020', '4.1', 'create', 'POST /platform-api/v1/tickets with a valid ticket is answered with 200'),
  ...jsonRules('SCALE', 21, OPERATION, 'create', 'the answer'),
  ...rulesOf(
    { operation: OPERATION, section: '2.3', on: 'create', needs: ['SCALE-022'] },
    memberRow('SCALE-023', 'success', TRUE),
    memberRow('SCALE-024', 'disposalTicketId', UUID),
  ),
  ...rulesOf({ operation: OPERATION, section: '4.1', on: 'update', needs: ['SCALE-020'] }, [
    'SCALE-025',
    'a ticket that was updated is answered with 200',
    'Accept a ticket again when it has changed.',
    hasStatus(200),
  ]),
  ...accepted(
    'SCALE-027',
    '2.2',
    'every',
    'a ticket with both flows, customFields and a unitPriceCents of 15.5 is answered with 200',
  ),
  ...accepted(
    'SCALE-028',
    '2.2',
    'withoutFlow',
    'a ticket without a flow is answered with 200',
    'Accept a ticket without inboundFlow and outboundFlow: both are optional.',
  ),
  ...accepted(
    'SCALE-029',
    '2.2',
    'units',
    'every unit of measure is accepted',
    `Accept ${UNITS_OF_MEASURE.join(', ')}.`,
  ),
  ...rulesOf({ operation: OPERATION, section: '4.1', on: 'update', needs: ['SCALE-024'], severity: 'should' }, [
    'SCALE-026',
    'an updated ticket keeps its disposalTicketId',
    'Recognise a ticket by site, direction and ticket number, and return its id again.',
    async (exchange, run) => {
      const created = await run.exchange('create');
      const [before, after] = [created, exchange].map(({ json }) => ownField(json, 'disposalTicketId'));
      return passedIf(before === after, `disposalTicketId is ${shown(after)}, it was ${shown(before)}`);
    },
  ]),
];

const INVALID_PAYLOAD = [400, 'INVALID_PAYLOAD', '7', 'Check the body against section 2.2, and answer 400.'] as const;
const INVALID_FIELD: Refusal = [400, 'INVALID_PAYLOAD', '2.2', INVALID_PAYLOAD[3]];
const UNAUTHORIZED: Refusal = [
  401,
  'UNAUTHORIZED',
  '5',
  'Compare the header PLATFORM-API-KEY with the issued key before anything else.',
];
const RULE_VIOLATED: Refusal = [422, 'VALIDATION_ERROR', '7', 'Answer 422 where a site or a material does not exist.'];

export const SCALE_SERVER: ServerRole = {
  name: 'scale-server',
  keyHeader: SCALE_API.keyHeader,
  otherHeader: 'API-KEY',
  operations: { [OPERATION]: { method: 'POST', path: `${SCALE_API.prefix}${SCALE_API.routes.createTicket.path}` } },
  plans: PLANS,
  rules: [
    ...refusalRules('SCALE', OPERATION, INVALID_PAYLOAD, [
      ['empty', 1, 'an empty object'],
      ['malformedJson', 3, 'a body that is not JSON'],
    ]),
    ...refusalRules('SCALE', OPERATION, UNAUTHORIZED, [
      ['withoutKey', 5, 'a ticket without the header PLATFORM-API-KEY'],
      ['wrongKey', 7, 'a ticket with a wrong key'],
      ['otherHeader', 9, 'a ticket with the key in API-KEY in place of PLATFORM-API-KEY'],
    ]),
    ...ACCEPTED,
    ...refusalRules(
      'SCALE',
      OPERATION,
      INVALID_FIELD,
      INVALID.map(([on, of], i) => [on, 100 + 2 * i, of]),
    ),
    ...refusalRules('SCALE', OPERATION, RULE_VIOLATED, [['unknownMaterial', 160, 'a ticket with an unknown material']]),
    ...refusalRules('SCALE', OPERATION, RULE_VIOLATED, [['unknownSite', 162, 'a ticket of an unknown site']], {
      severity: 'should',
    }),
    ...internalErrorRules('SCALE-164', 'serverError', OPERATION),
  ],
};
