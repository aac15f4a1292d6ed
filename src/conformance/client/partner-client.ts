import { ACCOUNT_API } from '../../contracts/account/account.api.js';
import { CreateAccountRequest } from '../../contracts/account/account.dto.js';
import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { SCALE_API } from '../../contracts/scale/scale.api.js';
import { CreateScaleTicketRequest } from '../../contracts/scale/scale.dto.js';
import { ownField } from '../../contracts/common/json.js';
import { failed, notProven, passed } from '../rule.js';
import { type FieldRow, fieldRules, knownFields } from './body-fields.js';
import { type Call, type CallLog, headersOf, jsonOf } from './call.js';
import {
  bodyRules,
  callsOf,
  type ClientRole,
  clientRules,
  type CallVerdict,
  everyCall,
  idempotencyKeyOf,
  inOrder,
  keyRules,
  faultedCalls,
  repeatsOf,
  unknownRoutes,
} from './client-rule.js';
import { PLATFORM_FAULTS, PlatformPeer } from './platform-peer.js';
import { neededCalls, retryRules } from './retry-rules.js';

const OPERATIONS = ['createTicket', 'createAccount'] as const;

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

const TABLE = clientRules(
  `
PARTNER-001 | must | 4 | every | every call is a POST to the tickets or the accounts | Call POST ${SCALE_API.prefix}${SCALE_API.routes.createTicket.path} or POST ${ACCOUNT_API.prefix}${ACCOUNT_API.routes.createAccount.path}.
PARTNER-050 | must | 2.2 | createTicket | a ticket with other contents has another updatedAt | Set updatedAt of the flow to the time of the change.
PARTNER-052 | should | 2.2 | createTicket | updatedAt is not in the future | Set the clock of your system, and send updatedAt with the right offset.
PARTNER-080 | must | 4 | every | an Idempotency-Key is sent once and has 1 to 255 visible ASCII characters | Use a UUID as the Idempotency-Key.
PARTNER-081 | must | 4 | every | an Idempotency-Key belongs to one body | Use a new Idempotency-Key for a new request, and repeat a request byte for byte.
PARTNER-082 | should | 4.2 | every | an account, or a ticket without a flow, whose answer was lost is sent again with the same Idempotency-Key | Choose the Idempotency-Key before the first attempt, and use it for every repeat.
`,
  {
    'PARTNER-001': unknownRoutes,
    'PARTNER-050': (log) =>
      everyChange(log, (before, after) =>
        before.at === after.at ? `${after.name} has other contents and the same updatedAt` : undefined,
      ),
    'PARTNER-052': (log) => {
      const flows = flowsOf(log);
      const early = flows.find(({ at, call }) => at > call.at + MAX_AHEAD_MS);
      if (early !== undefined) return { ...failed(`updatedAt of ${early.name} is in the future`), call: early.call };
      return flows.length === 0 ? notProven('no ticket has a flow') : passed;
    },
    'PARTNER-080': (log) =>
      everyCall(callsWithKey(log), 'no call has an Idempotency-Key', (call) =>
        /^[\x21-\x7e]{1,255}$/.test(idempotencyKeyOf(call) ?? '') ? undefined : 'the header is repeated or not valid',
      ),
    'PARTNER-081': (log) =>
      everyCall(callsWithKey(log), 'no call has an Idempotency-Key', (call) => {
        const key = idempotencyKeyOf(call);
        const isReused = repeatsOf(call, log).some(
          (later) => key !== undefined && idempotencyKeyOf(later) === key && !later.body.equals(call.body),
        );
        return isReused ? 'its key was used again with another body' : undefined;
      }),
    'PARTNER-082': (log) => {
      const calls = faultedCalls(log, 'answer-lost', ...OPERATIONS).filter(needsKey);
      const repeated = calls.filter((call) => repeatsOf(call, log).length > 0);
      const none = neededCalls(PLATFORM_FAULTS, 'createAccount', 'answer-lost');
      return everyCall(repeated, calls.length === 0 ? none : 'no such request was repeated', (call) => {
        const key = idempotencyKeyOf(call);
        return key !== undefined && repeatsOf(call, log).every((later) => idempotencyKeyOf(later) === key)
          ? undefined
          : 'it was repeated without the Idempotency-Key of the first attempt';
      });
    },
  },
);

const RETRIES = `
PARTNER-060 | should | 8 | createTicket | again | too-many-requests | a request that got 429 with Retry-After is sent again | Treat 429 with Retry-After as temporary, and send the same request again.
PARTNER-061 | must | 8 | createTicket | later | too-many-requests | a request that got 429 with Retry-After is not sent again before that time | Wait as many seconds as Retry-After says before you send the request again.
PARTNER-062 | should | 7 | createTicket | again | unavailable | a request that got 503 with Retry-After is sent again | Treat 503 with Retry-After as temporary, and send the same request again.
PARTNER-063 | must | 7 | createTicket | later | unavailable | a request that got 503 with Retry-After is not sent again before that time | Wait as many seconds as Retry-After says before you send the request again.
PARTNER-064 | should | 7 | createTicket | again | server-error | a request that got 500 is sent again | Treat 500 as temporary, and send the same request again.
PARTNER-065 | should | 7 | createTicket | again | answer-lost | a request that got no answer is sent again | Treat no answer as temporary, and send the same request again.
PARTNER-066 | must | 7 | createTicket | never | invalid | a request that got 400 is not sent again as it is | Correct the fields, and send the corrected request.
PARTNER-067 | should | 7 | createTicket | never | rule-violated | a request that got 422 is not sent again as it is | Report a 422 to a person. Send the ticket again when the site or material is known, with another Idempotency-Key.
PARTNER-070 | should | 8 | createAccount | again | too-many-requests | a request that got 429 with Retry-After is sent again | Treat 429 with Retry-After as temporary, and send the same request again.
PARTNER-071 | must | 8 | createAccount | later | too-many-requests | a request that got 429 with Retry-After is not sent again before that time | Wait as many seconds as Retry-After says before you send the request again.
PARTNER-072 | should | 7 | createAccount | again | unavailable | a request that got 503 with Retry-After is sent again | Treat 503 with Retry-After as temporary, and send the same request again.
PARTNER-073 | must | 7 | createAccount | later | unavailable | a request that got 503 with Retry-After is not sent again before that time | Wait as many seconds as Retry-After says before you send the request again.
PARTNER-074 | should | 7 | createAccount | again | server-error | a request that got 500 is sent again | Treat 500 as temporary, and send the same request again.
PARTNER-075 | should | 7 | createAccount | again | answer-lost | a request that got no answer is sent again | Treat no answer as temporary, and send the same request again.
PARTNER-076 | must | 7 | createAccount | never | invalid | a request that got 400 is not sent again as it is | Correct the fields, and send the corrected request.
PARTNER-077 | must | 7 | createAccount | never | conflict | a request that got 409 is not sent again as it is | Store accountId and accountNumber of error.details: they are those of the existing account.
`;

/** The kit acts as the platform, which the partner calls. */
export const PARTNER_CLIENT: ClientRole = {
  name: 'partner-client',
  peer: ({ apiKey }) => new PlatformPeer(apiKey),
  rules: inOrder(
    ...keyRules('PARTNER', SCALE_API.keyHeader, 'API-KEY', OPERATIONS),
    ...bodyRules('PARTNER', '4', OPERATIONS),
    ...fieldRules('createTicket', '2.2', CreateScaleTicketRequest, TICKET_FIELDS),
    ...knownFields('PARTNER-024', 'createTicket', '2.2', fieldsOf(TICKET_FIELDS)),
    ...fieldRules('createAccount', '2.4', CreateAccountRequest, ACCOUNT_FIELDS),
    ...knownFields('PARTNER-043', 'createAccount', '2.4', fieldsOf(ACCOUNT_FIELDS)),
    ...retryRules(PLATFORM_FAULTS, RETRIES),
    ...TABLE,
  ),
};
