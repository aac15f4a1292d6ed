import { ACCOUNT_API, CreateAccountRequest } from '../../contracts/account/account.api.js';
import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { CreateScaleTicketRequest, SCALE_API } from '../../contracts/scale/scale.api.js';
import { ownField } from '../../contracts/common/json.js';
import { isJsonType } from '../exchange.js';
import { failed, notProven, passed } from '../rule.js';
import { fieldOfBody, type FieldRule, noOtherFields } from './body-fields.js';
import {
  type Call,
  type CallLog,
  callsOf,
  type CallVerdict,
  type ClientRole,
  type ClientRule,
  everyCall,
  faultedCalls,
  headersOf,
  idempotencyKeyOf,
  jsonOf,
  repeatsOf,
  soleHeader,
  unknownRoutes,
} from './client-rule.js';
import { PlatformPeer } from './platform-peer.js';
import { isNotSentAgain, isSentAgain, neededCalls, waitsBefore } from './retry-rules.js';

const OPERATIONS = ['createTicket', 'createAccount'] as const;

interface Flow {
  readonly name: string;
  readonly at: number;
  readonly call: Call;
}

/** The flows of all pushes with different bodies. */
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

/** Clocks differ. */
const MAX_AHEAD_MS = 300_000;

/** Whether a repeat of this request without a key would be stored twice, or refused. */
const needsKey = (call: Call): boolean => {
  const { value } = jsonOf(call);
  const hasFlow = ['inboundFlow', 'outboundFlow'].some((name) => ownField(value, name) != null);
  return call.operation === 'createAccount' || !hasFlow;
};

const callsWithKey = (log: CallLog): Call[] =>
  callsOf(log, ...OPERATIONS).filter((call) => headersOf(call, 'Idempotency-Key').length > 0);

const everyPost =
  (none: string, faultIn: (call: Call, log: CallLog) => string | undefined): ClientRule['check'] =>
  (log) =>
    everyCall(callsOf(log, ...OPERATIONS), none, (call) => faultIn(call, log));

const HEADER = SCALE_API.keyHeader;

const EVERY = { operation: 'every', severity: 'must' } as const;

const CALL_RULES: readonly ClientRule[] = [
  {
    id: 'PARTNER-001',
    ...EVERY,
    section: '4',
    title: 'every call is a POST to the tickets or the accounts',
    remedy: `Call POST ${SCALE_API.prefix}${SCALE_API.routes.createTicket.path} or POST ${ACCOUNT_API.prefix}${ACCOUNT_API.routes.createAccount.path}.`,
    check: unknownRoutes,
  },
  {
    id: 'PARTNER-002',
    ...EVERY,
    section: '5',
    title: 'every call has the header PLATFORM-API-KEY',
    remedy: 'Send the issued key in the header PLATFORM-API-KEY with every call.',
    check: everyPost('no call was seen', (call) =>
      headersOf(call, HEADER).length > 0 ? undefined : `${HEADER} is absent`,
    ),
  },
  {
    id: 'PARTNER-003',
    ...EVERY,
    section: '5',
    title: 'PLATFORM-API-KEY is sent once',
    remedy: 'Send the header PLATFORM-API-KEY once.',
    check: everyPost('no call was seen', (call) => {
      const { length } = headersOf(call, HEADER);
      return length <= 1 ? undefined : `${HEADER} is sent ${length} times`;
    }),
  },
  {
    id: 'PARTNER-004',
    ...EVERY,
    section: '5',
    title: 'the key is the issued one',
    remedy: 'Send the key as it was issued, without a prefix such as "Bearer".',
    check: everyPost('no call was seen', (call, { apiKey }) =>
      headersOf(call, HEADER).every((value) => value === apiKey) ? undefined : `${HEADER} has another value`,
    ),
  },
  {
    id: 'PARTNER-005',
    ...EVERY,
    section: '5',
    title: 'the key is in no other place than PLATFORM-API-KEY',
    remedy: 'Remove the key from the address, the body and every header but PLATFORM-API-KEY.',
    check: everyPost('no call was seen', (call, { apiKey }) => {
      const place = otherPlace(call, apiKey);
      return place && `the key is in ${place}; API-KEY is the header of other interfaces`;
    }),
  },
  {
    id: 'PARTNER-006',
    ...EVERY,
    section: '4',
    title: 'a body is declared as application/json',
    remedy: 'Send Content-Type: application/json with every POST.',
    check: everyPost('no POST was seen', (call) => {
      const type = soleHeader(call, 'Content-Type');
      return isJsonType(type) ? undefined : `Content-Type is ${type ?? 'absent'}`;
    }),
  },
  {
    id: 'PARTNER-007',
    ...EVERY,
    section: '4',
    title: 'a body is JSON in UTF-8',
    remedy: 'Write the body with a JSON serializer, in UTF-8.',
    check: everyPost('no POST was seen', (call) => jsonOf(call).fault),
  },
];

function otherPlace(call: Call, apiKey: string): string | undefined {
  if (`${call.path}?${call.query.toString()}`.includes(apiKey)) return 'the address';
  if (call.body.includes(apiKey)) return 'the body';
  const header = call.headers.find(
    ([name, value]) => name.toLowerCase() !== HEADER.toLowerCase() && value.includes(apiKey),
  );
  return header === undefined ? undefined : `the header ${header[0]}`;
}

/** What the rules of the fields of a body have in common. */
const TICKET = { operation: 'createTicket', section: '2.2', severity: 'must' } as const;
const ACCOUNT = { operation: 'createAccount', section: '2.4', severity: 'must' } as const;

const ticketField = (field: string, form: string, isOptional = false) => ({
  ...TICKET,
  ...fieldOfBody('createTicket', CreateScaleTicketRequest, { field, form, isOptional }),
});
const accountField = (field: string, form: string, isOptional = false) => ({
  ...ACCOUNT,
  ...fieldOfBody('createAccount', CreateAccountRequest, { field, form, isOptional }),
});
const ticketOption = (field: string, form: string) => ticketField(field, form, true);
const accountOption = (field: string, form: string) => accountField(field, form, true);

const TICKET_FIELDS: readonly FieldRule[] = [
  { id: 'PARTNER-010', ...ticketField('siteId', 'a UUID') },
  { id: 'PARTNER-011', ...ticketField('materials', 'an array of at least one material') },
  { id: 'PARTNER-012', ...ticketField('materials[].id', 'a UUID') },
  { id: 'PARTNER-013', ...ticketField('materials[].name', 'text') },
  { id: 'PARTNER-014', ...ticketField('materials[].quantity', 'a number, not text') },
  { id: 'PARTNER-015', ...ticketOption('materials[].unitPriceCents', 'a number, not text') },
  { id: 'PARTNER-016', ...ticketField('materials[].unitOfMeasure', 'a unit of section 2.2') },
  { id: 'PARTNER-017', ...ticketOption('inboundFlow', 'an object') },
  { id: 'PARTNER-018', ...ticketOption('inboundFlow.ticketNumber', 'text in every inbound flow') },
  { id: 'PARTNER-019', ...ticketOption('inboundFlow.updatedAt', 'a date-time with an offset in every inbound flow') },
  { id: 'PARTNER-020', ...ticketOption('outboundFlow', 'an object') },
  { id: 'PARTNER-021', ...ticketOption('outboundFlow.ticketNumber', 'text in every outbound flow') },
  { id: 'PARTNER-022', ...ticketOption('outboundFlow.updatedAt', 'a date-time with an offset in every outbound flow') },
  { id: 'PARTNER-023', ...ticketOption('customFields', 'an object whose values are text') },
];

const ACCOUNT_FIELDS: readonly FieldRule[] = [
  { id: 'PARTNER-030', ...accountField('accountName', 'text of 1 to 200 characters') },
  { id: 'PARTNER-031', ...accountOption('billingAddress', 'an object') },
  { id: 'PARTNER-032', ...accountOption('billingAddress.street', 'text of at most 100 characters') },
  { id: 'PARTNER-033', ...accountOption('billingAddress.unit', 'text of at most 20 characters') },
  { id: 'PARTNER-034', ...accountOption('billingAddress.city', 'text of at most 50 characters') },
  { id: 'PARTNER-035', ...accountOption('billingAddress.state', 'a US state code in two upper-case letters') },
  { id: 'PARTNER-036', ...accountOption('billingAddress.country', 'text of at most 50 characters') },
  {
    id: 'PARTNER-037',
    ...accountOption('billingAddress.zip', 'five digits, or five digits, a hyphen and four digits'),
  },
  { id: 'PARTNER-038', ...accountOption('primaryContact', 'an object') },
  { id: 'PARTNER-039', ...accountOption('primaryContact.firstName', 'text of at most 50 characters') },
  { id: 'PARTNER-040', ...accountOption('primaryContact.lastName', 'text of at most 50 characters') },
  { id: 'PARTNER-041', ...accountOption('primaryContact.email', 'an e-mail address of at most 100 characters') },
  {
    id: 'PARTNER-042',
    ...accountOption('primaryContact.phone', 'digits, spaces, parentheses and dashes, with a leading + or not'),
  },
];

const FIELD_RULES: readonly ClientRule[] = [
  ...TICKET_FIELDS,
  { id: 'PARTNER-024', ...TICKET, severity: 'should', ...noOtherFields('createTicket', TICKET_FIELDS) },
  ...ACCOUNT_FIELDS,
  { id: 'PARTNER-043', ...ACCOUNT, severity: 'should', ...noOtherFields('createAccount', ACCOUNT_FIELDS) },
];

/** Rules of several calls. */
const RUN_RULES: readonly ClientRule[] = [
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
    id: 'PARTNER-052',
    section: '2.2',
    severity: 'should',
    operation: 'createTicket',
    title: 'updatedAt is not in the future',
    remedy: 'Set the clock of your system, and send updatedAt with the right offset.',
    check: (log) => {
      const flows = flowsOf(log);
      const early = flows.find(({ at, call }) => at > call.at + MAX_AHEAD_MS);
      if (early !== undefined) return { ...failed(`updatedAt of ${early.name} is in the future`), call: early.call };
      return flows.length === 0 ? notProven('no ticket has a flow') : passed;
    },
  },
  { id: 'PARTNER-060', ...isSentAgain('createTicket', 'too-many-requests') },
  { id: 'PARTNER-061', ...waitsBefore('createTicket', 'too-many-requests') },
  { id: 'PARTNER-062', ...isSentAgain('createTicket', 'unavailable') },
  { id: 'PARTNER-063', ...waitsBefore('createTicket', 'unavailable') },
  { id: 'PARTNER-064', ...isSentAgain('createTicket', 'server-error') },
  { id: 'PARTNER-065', ...isSentAgain('createTicket', 'answer-lost') },
  { id: 'PARTNER-066', ...isNotSentAgain('createTicket', 'invalid') },
  { id: 'PARTNER-067', ...isNotSentAgain('createTicket', 'rule-violated') },
  { id: 'PARTNER-070', ...isSentAgain('createAccount', 'too-many-requests') },
  { id: 'PARTNER-071', ...waitsBefore('createAccount', 'too-many-requests') },
  { id: 'PARTNER-072', ...isSentAgain('createAccount', 'unavailable') },
  { id: 'PARTNER-073', ...waitsBefore('createAccount', 'unavailable') },
  { id: 'PARTNER-074', ...isSentAgain('createAccount', 'server-error') },
  { id: 'PARTNER-075', ...isSentAgain('createAccount', 'answer-lost') },
  { id: 'PARTNER-076', ...isNotSentAgain('createAccount', 'invalid') },
  { id: 'PARTNER-077', ...isNotSentAgain('createAccount', 'conflict') },
  {
    id: 'PARTNER-080',
    ...EVERY,
    section: '4',
    title: 'an Idempotency-Key is sent once and has 1 to 255 visible ASCII characters',
    remedy: 'Use a UUID as the Idempotency-Key.',
    check: (log) =>
      everyCall(callsWithKey(log), 'no call has an Idempotency-Key', (call) =>
        /^[\x21-\x7e]{1,255}$/.test(idempotencyKeyOf(call) ?? '') ? undefined : 'the header is repeated or not valid',
      ),
  },
  {
    id: 'PARTNER-081',
    ...EVERY,
    section: '4',
    title: 'an Idempotency-Key belongs to one body',
    remedy: 'Use a new Idempotency-Key for a new request, and repeat a request byte for byte.',
    check: (log) =>
      everyCall(callsWithKey(log), 'no call has an Idempotency-Key', (call) => {
        const key = idempotencyKeyOf(call);
        const isReused = repeatsOf(call, log).some(
          (later) => key !== undefined && idempotencyKeyOf(later) === key && !later.body.equals(call.body),
        );
        return isReused ? 'its key was used again with another body' : undefined;
      }),
  },
  {
    id: 'PARTNER-082',
    section: '4.2',
    severity: 'should',
    operation: 'every',
    title: 'an account, or a ticket without a flow, whose answer was lost is sent again with the same Idempotency-Key',
    remedy: 'Choose the Idempotency-Key before the first attempt, and use it for every repeat.',
    check: (log) => {
      const calls = faultedCalls(log, 'answer-lost', ...OPERATIONS).filter(needsKey);
      const repeated = calls.filter((call) => repeatsOf(call, log).length > 0);
      const none = neededCalls('createAccount', 'answer-lost');
      return everyCall(repeated, calls.length === 0 ? none : 'no such request was repeated', (call) => {
        const key = idempotencyKeyOf(call);
        return key !== undefined && repeatsOf(call, log).every((later) => idempotencyKeyOf(later) === key)
          ? undefined
          : 'it was repeated without the Idempotency-Key of the first attempt';
      });
    },
  },
];

/** The kit acts as the platform, which the partner calls. */
export const PARTNER_CLIENT: ClientRole = {
  name: 'partner-client',
  peer: (apiKey) => new PlatformPeer(apiKey),
  rules: [...CALL_RULES, ...FIELD_RULES, ...RUN_RULES],
};
