import { ownField } from '../../contracts/common/json.js';
import { isUuid } from '../../contracts/common/text.js';
import { SCALE_API } from '../../contracts/scale/scale.api.js';
import { UNITS_OF_MEASURE } from '../../contracts/scale/scale.dto.js';
import { type Form, hasStatus, jsonRules, memberRow, rulesOf, serverRules, shown, TRUE } from '../checks.js';
import { UnprovenError } from '../exchange.js';
import {
  failing,
  internalErrorRules,
  refusalPlans,
  refusalRules,
  refusedBodyPlans,
  refusedBodyRules,
  type RequestRow,
} from '../refusals.js';
import { type Exchanges, passedIf, type RequestPlan, type Rule, type ServerRole } from '../rule.js';
import { CHANGED, OPERATION, UNRELATED } from './scale-table.js';

const REFUSED = [...UNRELATED, ...CHANGED];
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

/** The outbound flow is checked in a ticket that has one. */
const valid = (_: string, [id, field]: RequestRow): RequestPlan =>
  push(id, (ticket) =>
    field.startsWith('outboundFlow.') ? { ...ticket, outboundFlow: ticket['inboundFlow'] } : ticket,
  );

const PLANS: Readonly<Record<string, RequestPlan>> = {
  create: push('create'),
  update: push('create', (ticket) => ({
    ...ticket,
    inboundFlow: { ...(ticket['inboundFlow'] as object), updatedAt: SECOND_UPDATE },
  })),
  every: push('every', every),
  withoutFlow: push('no-flow', ({ siteId, materials }) => ({ siteId, materials })),
  units: push('units', (ticket) => ({
    ...ticket,
    materials: UNITS_OF_MEASURE.map((unitOfMeasure) => ({ ...firstMaterial(ticket), unitOfMeasure })),
  })),
  'SCALE-164': failing(EMPTY),
  ...refusalPlans(REFUSED, () => EMPTY, valid),
  ...refusedBodyPlans(OPERATION),
};

const ACCEPT = 'Accept the ticket with 200: it follows section 2.2, and its site and material are known.';

const of = serverRules(
  `
SCALE-020 | must | 4.1 | createTicket | create | - | POST /platform-api/v1/tickets with a valid ticket is answered with 200 | ${ACCEPT}
SCALE-025 | must | 4.1 | createTicket | update | SCALE-020 | a ticket that was updated is answered with 200 | Accept a ticket again when it has changed.
SCALE-026 | should | 4.1 | createTicket | update | SCALE-024 | an updated ticket keeps its disposalTicketId | Recognise a ticket by site, direction and ticket number, and return its id again.
SCALE-027 | must | 2.2 | createTicket | every | - | a ticket with both flows, customFields and a unitPriceCents of 15.5 is answered with 200 | ${ACCEPT}
SCALE-028 | must | 2.2 | createTicket | withoutFlow | - | a ticket without a flow is answered with 200 | Accept a ticket without inboundFlow and outboundFlow: both are optional.
SCALE-029 | must | 2.2 | createTicket | units | - | every unit of measure is accepted | Accept ${UNITS_OF_MEASURE.join(', ')}.
`,
  {
    'SCALE-020': hasStatus(200),
    'SCALE-025': hasStatus(200),
    'SCALE-027': hasStatus(200),
    'SCALE-028': hasStatus(200),
    'SCALE-029': hasStatus(200),
    'SCALE-026': async (exchange, run) => {
      const created = await run.exchange('create');
      const [before, after] = [created, exchange].map(({ json }) => ownField(json, 'disposalTicketId'));
      return passedIf(before === after, `disposalTicketId is ${shown(after)}, it was ${shown(before)}`);
    },
  },
);

const UUID: Form = ['a UUID', (value) => typeof value === 'string' && isUuid(value)];

const ACCEPTED: readonly Rule[] = [
  ...of('SCALE-020'),
  ...jsonRules(['SCALE-021', 'SCALE-022'], OPERATION, 'create', 'the answer'),
  ...rulesOf(
    { operation: OPERATION, section: '2.3', on: 'create', needs: ['SCALE-022'] },
    memberRow('SCALE-023', 'success', TRUE),
    memberRow('SCALE-024', 'disposalTicketId', UUID),
  ),
  ...of('SCALE-025', 'SCALE-027', 'SCALE-028', 'SCALE-029', 'SCALE-026'),
];

export const SCALE_SERVER: ServerRole = {
  name: 'scale-server',
  keyHeader: SCALE_API.keyHeader,
  otherHeader: 'API-KEY',
  operations: { [OPERATION]: { method: 'POST', path: `${SCALE_API.prefix}${SCALE_API.routes.createTicket.path}` } },
  plans: PLANS,
  refused: REFUSED,
  rules: [
    ...refusalRules(...UNRELATED),
    ...refusedBodyRules('SCALE-011', OPERATION, ['SCALE-005']),
    ...ACCEPTED,
    ...refusalRules(...CHANGED),
    ...internalErrorRules('SCALE-164', OPERATION),
  ],
};
