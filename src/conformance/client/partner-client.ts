import { ACCOUNT_API } from '../../contracts/account/account.api.js';
import { CreateAccountRequest } from '../../contracts/account/account.dto.js';
import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { SCALE_API } from '../../contracts/scale/scale.api.js';
import { CreateScaleTicketRequest } from '../../contracts/scale/scale.dto.js';
import { ownField } from '../checks.js';
import { failed, notProven, passed } from '../rule.js';
import { type FieldRow, fieldRules, knownFields } from './body-fields.js';
import { type Call, type CallLog, headersOf, jsonOf } from './call.js';
import {
  bodyRules,
  callsOf,
  type ClientRole,
  type ClientRule,
  everyCall,
  idempotencyKeyOf,
  type CallVerdict,
  keyRules,
  met,
  notBefore,
  notSentAgain,
  repeatsOf,
  sentAgain,
} from './client-rule.js';
import { PLATFORM_FAULTS, PlatformPeer } from './platform-peer.js';

const OPERATIONS = ['createTicket', 'createAccount'] as const;
type Operation = (typeof OPERATIONS)[number];
const OF: Readonly<Record<Operation, string>> = { createTicket: 'ticket', createAccount: 'account' };

const TICKET_FIELDS: readonly FieldRow[] = [
  ['PARTNER-010', 'siteId', 'a UUID'],
  ['PARTNER-011', 'materials', 'an array of at least one material'],
  ['PARTNER-012', 'materials[].id', 'a UUID'],
  ['PARTNER-013', 'materials[].name', 'text'],
  ['PARTNER-014', 'materials[].quantity', 'a number, not text'],
  ['PARTNER-015', 'materials[].unitPriceCents', 'a number, not text', 'optional'],
  ['PARTNER-016', 'materials[].unitOfMeasure', 'a unit of section 2.2'],
  ['PARTNER-017', 'inboundFlow', 'an object', 'optional'],
  ['PARTNER-018', 'inboundFlow.ticketNumber', 'text in every inbound flow', 'optional'],
  ['PARTNER-019', 'inboundFlow.updatedAt', 'a date-time with an offset in every inbound flow', 'optional'],
  ['PARTNER-020', 'outboundFlow', 'an object', 'optional'],
  ['PARTNER-021', 'outboundFlow.ticketNumber', 'text in every outbound flow', 'optional'],
  ['PARTNER-022', 'outboundFlow.updatedAt', 'a date-time with an offset in every outbound flow', 'optional'],
  ['PARTNER-023', 'customFields', 'an object whose values are text', 'optional'],
];

const ACCOUNT_FIELDS: readonly FieldRow[] = [
  ['PARTNER-030', 'accountName', 'text of 1 to 200 characters'],
  ['PARTNER-031', 'billingAddress', 'an object', 'optional'],
  ['PARTNER-032', 'billingAddress.street', 'text of at most 100 characters', 'optional'],
  ['PARTNER-033', 'billingAddress.unit', 'text of at most 20 characters', 'optional'],
  ['PARTNER-034', 'billingAddress.city', 'text of at most 50 characters', 'optional'],
  ['PARTNER-035', 'billingAddress.state', 'a US state code in two upper-case letters', 'optional'],
  ['PARTNER-036', 'billingAddress.country', 'text of at most 50 characters', 'optional'],
  ['PARTNER-037', 'billingAddress.zip', 'five digits, or five digits, a hyphen and four digits', 'optional'],
  ['PARTNER-038', 'primaryContact', 'an object', 'optional'],
  ['PARTNER-039', 'primaryContact.firstName', 'text of at most 50 characters', 'optional'],
  ['PARTNER-040', 'primaryContact.lastName', 'text of at most 50 characters', 'optional'],
  ['PARTNER-041', 'primaryContact.email', 'an e-mail address of at most 100 characters', 'optional'],
  [
    'PARTNER-042',
    'primaryContact.phone',
    'digits, spaces, parentheses and dashes, with a leading + or not',
    'optional',
  ],
];

const fieldsOf = (rows: readonly FieldRow[]) => rows.flatMap(([, field]) => [field, field.replace('[]', '')]);

/** How a client meets a fault: by the number of its new requests. */
function none(operation: Operation, scenario: string): string {
  const number = PLATFORM_FAULTS[operation].indexOf(scenario) + 1;
  return `it needs ${number} different requests: the kit refuses ${OF[operation]} number ${number} in this way`;
}

const retryOf = (operation: Operation, scenario: string, answer: string, section = '7') => ({
  scenario,
  answer,
  section,
  operation,
  operations: [operation],
  none: none(operation, scenario),
});

/** Of a ticket from 60, of an account from 70. */
const retryRules = (operation: Operation, tens: number): ClientRule[] => {
  const id = (n: number) => `PARTNER-0${tens}${n}`;
  const [tooMany, unavailable] = [
    retryOf(operation, 'too-many-requests', '429 with Retry-After', '8'),
    retryOf(operation, 'unavailable', '503 with Retry-After'),
  ];
  return [
    sentAgain(id(0), tooMany),
    notBefore(id(1), tooMany),
    sentAgain(id(2), unavailable),
    notBefore(id(3), unavailable),
    sentAgain(id(4), retryOf(operation, 'server-error', '500')),
    sentAgain(id(5), retryOf(operation, 'answer-lost', 'no answer')),
    notSentAgain(
      id(6),
      'must',
      retryOf(operation, 'invalid', '400'),
      'Correct the fields, and send the corrected request.',
    ),
  ];
};

interface Flow {
  readonly name: string;
  readonly at: number;
  readonly call: Call;
}

/** The flows of all different pushes. */
function flowsOf(log: CallLog): Flow[] {
  const bodies = new Set<string>();
  return callsOf(log, 'createTicket').flatMap((call) => {
    const text = call.body.toString('latin1');
    if (bodies.has(text)) return [];
    bodies.add(text);
    const { value } = jsonOf(call);
    return ['inboundFlow', 'outboundFlow'].flatMap((direction): Flow[] => {
      const flow = ownField(value, direction);
      const [number, updatedAt] = [ownField(flow, 'ticketNumber'), ownField(flow, 'updatedAt')];
      const instant = typeof updatedAt === 'string' ? parseInstant(updatedAt) : undefined;
      if (typeof number !== 'string' || instant === undefined) return [];
      return [{ name: `${String(ownField(value, 'siteId'))} ${direction} ${number}`, at: epochMillis(instant), call }];
    });
  });
}

/** Compares each push of a flow with the one before. */
function everyChange(log: CallLog, faultOf: (before: Flow, after: Flow) => string | undefined): CallVerdict {
  const last = new Map<string, Flow>();
  let changes = 0;
  for (const flow of flowsOf(log)) {
    const before = last.get(flow.name);
    last.set(flow.name, flow);
    if (before === undefined) continue;
    changes++;
    const fault = faultOf(before, flow);
    if (fault !== undefined) return { ...failed(fault), call: flow.call };
  }
  return changes === 0 ? notProven('no ticket was changed and sent again') : passed;
}

/** A ticket may be sent by a system whose clock is a little ahead. */
const MAX_AHEAD_MS = 300_000;

const ORDER: readonly ClientRule[] = [
  {
    id: 'PARTNER-050',
    section: '2.2',
    severity: 'must',
    operation: 'createTicket',
    title: 'a ticket with other contents has another updatedAt',
    remedy: 'Set updatedAt of the flow to the time of the change.',
    check: (log) =>
      everyChange(log, (before, after) =>
        before.at === after.at ? `${after.name} has other contents and the same updatedAt` : undefined,
      ),
  },
  {
    id: 'PARTNER-051',
    section: '2.2',
    severity: 'should',
    operation: 'createTicket',
    title: 'updatedAt of a flow does not go back',
    remedy: 'Send the changes of a ticket in their order; the platform does not apply an older one.',
    check: (log) =>
      everyChange(log, (before, after) =>
        after.at < before.at ? `updatedAt of ${after.name} is older than in the push before` : undefined,
      ),
  },
  {
    id: 'PARTNER-052',
    section: '2.2',
    severity: 'should',
    operation: 'createTicket',
    title: 'updatedAt is not in the future',
    remedy: 'Set the clock of your system, and send updatedAt with the right offset.',
    check: (log) => {
      const late = flowsOf(log).find(({ at, call }) => at > call.at + MAX_AHEAD_MS);
      if (late !== undefined) return { ...failed(`updatedAt of ${late.name} is in the future`), call: late.call };
      return flowsOf(log).length === 0 ? notProven('no ticket has a flow') : passed;
    },
  },
];

/** Whether a repeat of this request could be stored twice, or refused, without a key. */
const needsKey = (call: Call): boolean => {
  const { value } = jsonOf(call);
  const hasFlow = ['inboundFlow', 'outboundFlow'].some((name) => ownField(value, name) != null);
  return call.operation === 'createAccount' || !hasFlow;
};

const KEYS: readonly ClientRule[] = [
  {
    id: 'PARTNER-080',
    section: '4',
    severity: 'must',
    operation: 'every',
    title: 'an Idempotency-Key is sent once and has 1 to 255 visible ASCII characters',
    remedy: 'Use a UUID as the Idempotency-Key.',
    check: (log) => {
      const calls = callsOf(log, ...OPERATIONS).filter((call) => headersOf(call, 'Idempotency-Key').length > 0);
      return everyCall(calls, 'no call has an Idempotency-Key', (call) =>
        /^[\x21-\x7e]{1,255}$/.test(idempotencyKeyOf(call) ?? '') ? undefined : 'the header is repeated or not valid',
      );
    },
  },
  {
    id: 'PARTNER-081',
    section: '4',
    severity: 'must',
    operation: 'every',
    title: 'an Idempotency-Key belongs to one body',
    remedy: 'Use a new Idempotency-Key for a new request, and repeat a request byte for byte.',
    check: (log) => {
      const calls = callsOf(log, ...OPERATIONS).filter((call) => idempotencyKeyOf(call) !== undefined);
      return everyCall(calls, 'no call has an Idempotency-Key', (call) =>
        repeatsOf(call, calls).some(
          (later) => idempotencyKeyOf(later) === idempotencyKeyOf(call) && !later.body.equals(call.body),
        )
          ? 'its key was used again with another body'
          : undefined,
      );
    },
  },
  {
    id: 'PARTNER-082',
    section: '4.2',
    severity: 'should',
    operation: 'every',
    title: 'an account, or a ticket without a flow, whose answer was lost is sent again with the same Idempotency-Key',
    remedy: 'Choose the Idempotency-Key before the first attempt, and use it for every repeat.',
    check: (log) => {
      const calls = met(log, 'answer-lost', ...OPERATIONS).filter(needsKey);
      const repeated = calls.filter((call) => repeatsOf(call, log.calls).length > 0);
      return everyCall(
        repeated,
        calls.length === 0 ? none('createAccount', 'answer-lost') : 'none came again',
        (call) => {
          const key = idempotencyKeyOf(call);
          const isSame = repeatsOf(call, log.calls).every((later) => idempotencyKeyOf(later) === key);
          return key !== undefined && isSame
            ? undefined
            : 'it came again without the Idempotency-Key of the first attempt';
        },
      );
    },
  },
];

const ROUTES: ClientRule = {
  id: 'PARTNER-001',
  section: '4',
  severity: 'must',
  operation: 'every',
  title: 'every call is a POST to the tickets or the accounts',
  remedy: `Call POST ${SCALE_API.prefix}${SCALE_API.routes.createTicket.path} or POST ${ACCOUNT_API.prefix}${ACCOUNT_API.routes.createAccount.path}.`,
  check: ({ calls }) =>
    everyCall(calls, 'no call was seen', ({ operation, method, path }) =>
      operation === '' ? `no route for ${method} ${path}` : undefined,
    ),
};

/** The kit is the platform, and a partner calls it. */
export const PARTNER_CLIENT: ClientRole = {
  name: 'partner-client',
  peer: ({ apiKey }) => new PlatformPeer(apiKey),
  rules: [
    ROUTES,
    ...keyRules('PARTNER', SCALE_API.keyHeader, 'API-KEY', OPERATIONS),
    ...bodyRules('PARTNER', '4', OPERATIONS),
    ...fieldRules('createTicket', '2.2', CreateScaleTicketRequest, TICKET_FIELDS),
    knownFields('PARTNER-024', 'createTicket', '2.2', fieldsOf(TICKET_FIELDS)),
    ...fieldRules('createAccount', '2.4', CreateAccountRequest, ACCOUNT_FIELDS),
    knownFields('PARTNER-043', 'createAccount', '2.4', fieldsOf(ACCOUNT_FIELDS)),
    ...ORDER,
    ...retryRules('createTicket', 6),
    notSentAgain(
      'PARTNER-067',
      'should',
      retryOf('createTicket', 'rule-violated', '422'),
      'Report a 422 to a person. Send the ticket again when the site or material is known, with another Idempotency-Key.',
    ),
    ...retryRules('createAccount', 7),
    notSentAgain(
      'PARTNER-077',
      'must',
      retryOf('createAccount', 'conflict', '409'),
      'Store accountId and accountNumber of error.details: they are those of the existing account.',
    ),
    ...KEYS,
  ],
};
