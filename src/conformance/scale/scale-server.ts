import { isUuid } from '../../contracts/common/text.js';
import { SCALE_API } from '../../contracts/scale/scale.api.js';
import { UNITS_OF_MEASURE } from '../../contracts/scale/scale.dto.js';
import {
  FAIL_ON_DEMAND,
  hasStatus,
  internalErrorRule,
  isDeclaredJson,
  isJson,
  member,
  ownField,
  type Refusal,
  refusalRules,
  shown,
} from '../checks.js';
import {
  type Exchanges,
  failed,
  MissingData,
  notProven,
  passed,
  type RequestPlan,
  type Rule,
  type ServerRole,
} from '../rule.js';

const OPERATION = 'createTicket';
const UNKNOWN_ID = 'c0ffee00-0000-4000-8000-00000000dead';
const FIRST_UPDATE = '2026-01-31T08:30:00Z';
const SECOND_UPDATE = '2026-01-31T08:31:00Z';

type Ticket = Record<string, unknown>;

/** A ticket that a server must accept; its ticket numbers and names contain the id of the run. */
function ticketOf({ fixtures: { siteId, materialId }, runId }: Exchanges, name: string): Ticket | MissingData {
  if (siteId === undefined || materialId === undefined) {
    return new MissingData('no known site and material: put siteId and materialId into the file of --fixtures');
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
  draft: (run) => {
    const ticket = ticketOf(run, name);
    return ticket instanceof MissingData ? ticket : { body: change(ticket) };
  },
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

type Row = readonly [
  id: string,
  section: string,
  on: string,
  title: string,
  remedy: string,
  check: Rule['check'],
  needs?: readonly string[],
];

const ACCEPT = 'Accept the ticket with 200: it follows section 2.2, and its site and material are known.';
const isUuidText = (value: unknown) => typeof value === 'string' && isUuid(value);

const ACCEPTED: readonly Row[] = [
  [
    'SCALE-020',
    '4.1',
    'create',
    'POST /platform-api/v1/tickets with a valid ticket is answered with 200',
    ACCEPT,
    hasStatus(200),
  ],
  [
    'SCALE-021',
    '4',
    'create',
    'the answer is application/json',
    'Send Content-Type: application/json.',
    isDeclaredJson,
  ],
  [
    'SCALE-022',
    '4',
    'create',
    'the answer is JSON in UTF-8',
    'Write the body with a JSON serializer, in UTF-8.',
    isJson,
  ],
  [
    'SCALE-023',
    '2.3',
    'create',
    'success is true',
    'Set success to true in an answer with status 200.',
    member('success', (value) => value === true, 'true'),
    ['SCALE-022'],
  ],
  [
    'SCALE-024',
    '2.3',
    'create',
    'disposalTicketId is a UUID',
    'Return the id of the disposal ticket as a UUID.',
    member('disposalTicketId', isUuidText, 'a UUID'),
    ['SCALE-022'],
  ],
  [
    'SCALE-025',
    '4.1',
    'update',
    'a ticket that was updated is answered with 200',
    'Accept a ticket again when it has changed.',
    hasStatus(200),
    ['SCALE-020'],
  ],
  [
    'SCALE-027',
    '2.2',
    'every',
    'a ticket with both flows, customFields and a unitPriceCents of 15.5 is answered with 200',
    ACCEPT,
    hasStatus(200),
  ],
  [
    'SCALE-028',
    '2.2',
    'withoutFlow',
    'a ticket without a flow is answered with 200',
    'Accept a ticket without inboundFlow and outboundFlow: both are optional.',
    hasStatus(200),
  ],
  [
    'SCALE-029',
    '2.2',
    'units',
    'every unit of measure is accepted',
    `Accept ${UNITS_OF_MEASURE.join(', ')}.`,
    hasStatus(200),
  ],
];

const SAME_TICKET: Rule = {
  id: 'SCALE-026',
  section: '4.1',
  severity: 'should',
  operation: OPERATION,
  on: 'update',
  title: 'an updated ticket keeps its disposalTicketId',
  remedy: 'Recognise a ticket by site, direction and ticket number, and return its id again.',
  needs: ['SCALE-024'],
  check: async (exchange, run) => {
    const created = await run.exchange('create');
    if (created instanceof MissingData) return notProven(created.message);
    const [before, after] = [created, exchange].map(({ json }) => ownField(json, 'disposalTicketId'));
    return before === after ? passed : failed(`disposalTicketId is ${shown(after)}, it was ${shown(before)}`);
  },
};

const refusal = (
  on: string,
  number: number,
  of: string,
  [status, code, section, remedy]: readonly [number, string, string, string],
): Refusal => ({
  on,
  ids: [scaleId(number), scaleId(number + 1)],
  section,
  operation: OPERATION,
  of,
  status,
  codes: [code],
  remedy,
});

const scaleId = (number: number): string => `SCALE-${String(number).padStart(3, '0')}`;

const INVALID_PAYLOAD = [400, 'INVALID_PAYLOAD', '7', 'Check the body against section 2.2, and answer 400.'] as const;
const UNAUTHORIZED = [
  401,
  'UNAUTHORIZED',
  '5',
  'Compare the header PLATFORM-API-KEY with the issued key before anything else.',
] as const;
const RULE_VIOLATED = [422, 'VALIDATION_ERROR', '7', 'Answer 422 where a site or a material does not exist.'] as const;

const SAFE_REFUSALS = refusalRules([
  refusal('empty', 1, 'an empty object', INVALID_PAYLOAD),
  refusal('malformedJson', 3, 'a body that is not JSON', INVALID_PAYLOAD),
  refusal('withoutKey', 5, 'a ticket without the header PLATFORM-API-KEY', UNAUTHORIZED),
  refusal('wrongKey', 7, 'a ticket with a wrong key', UNAUTHORIZED),
  refusal('otherHeader', 9, 'a ticket with the key in API-KEY in place of PLATFORM-API-KEY', UNAUTHORIZED),
]);

const WRITTEN_REFUSALS = refusalRules([
  ...INVALID.map(([on, of], i) => ({
    ...refusal(on, 100 + 2 * i, of, INVALID_PAYLOAD),
    section: '2.2',
  })),
  refusal('unknownMaterial', 160, 'a ticket with an unknown material', RULE_VIOLATED),
  { ...refusal('unknownSite', 162, 'a ticket of an unknown site', RULE_VIOLATED), severity: 'should' },
]);

export const SCALE_SERVER: ServerRole = {
  name: 'scale-server',
  keyHeader: SCALE_API.keyHeader,
  otherHeader: 'API-KEY',
  operations: { [OPERATION]: { method: 'POST', path: `${SCALE_API.prefix}${SCALE_API.routes.createTicket.path}` } },
  plans: PLANS,
  rules: [
    ...SAFE_REFUSALS,
    ...ACCEPTED.map(([id, section, on, title, remedy, check, needs = []]): Rule => ({
      id,
      section,
      severity: 'must',
      operation: OPERATION,
      on,
      title,
      remedy,
      needs,
      check,
    })),
    SAME_TICKET,
    ...WRITTEN_REFUSALS,
    internalErrorRule('SCALE-164', 'serverError', OPERATION),
  ],
};
