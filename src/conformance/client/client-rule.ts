import { failed, notProven, outcomeOf, passed, type RuleFacts, type Verdict } from '../rule.js';
import { checkOf, ruleTable } from '../rule-table.js';
import type { RuleResult } from '../run.js';
import { isJsonType } from '../exchange.js';
import { type Call, type CallLog, exchangeOf, headersOf, jsonOf, type Peer, soleHeader } from './call.js';

/** A verdict, and the call that was checked. */
export interface CallVerdict extends Verdict {
  readonly call?: Call;
}

/** A rule about the calls of a client. */
export interface ClientRule extends RuleFacts {
  readonly check: (log: CallLog) => CallVerdict;
}

/** A client role: the kit acts as the other side, and the rules check all calls of the run. */
export interface ClientRole {
  readonly name: string;
  readonly rules: readonly ClientRule[];
  readonly peer: (options: { readonly url: string; readonly apiKey: string }) => Peer;
}

/** Evaluates the rules of a client role. */
export function checkCalls({ rules }: ClientRole, log: CallLog, baseUrl: string): RuleResult[] {
  return rules.map((rule): RuleResult => {
    try {
      const verdict = rule.check(log);
      const exchange = verdict.call && exchangeOf(verdict.call, baseUrl, log.apiKey);
      return { rule, outcome: outcomeOf(rule, verdict), message: verdict.message, exchange };
    } catch (error) {
      return { rule, outcome: 'kit-error', message: `the kit failed: ${(error as Error).message}` };
    }
  });
}

/** Not proven without a call; else the first faulty call decides. */
export function everyCall(
  calls: readonly Call[],
  none: string,
  faultIn: (call: Call) => string | undefined,
): CallVerdict {
  if (calls.length === 0) return notProven(none);
  for (const call of calls) {
    const fault = faultIn(call);
    if (fault !== undefined) return { ...failed(fault), call };
  }
  return passed;
}

export const callsOf = ({ calls }: CallLog, ...operations: readonly string[]): Call[] =>
  calls.filter(({ operation }) => operations.includes(operation));

/** The calls that got an injected fault. */
export const faultedCalls = ({ calls }: CallLog, scenario: string, ...operations: readonly string[]): Call[] =>
  calls.filter(({ operation, answer }) => answer.scenario === scenario && operations.includes(operation));

export const idempotencyKeyOf = (call: Call): string | undefined => soleHeader(call, 'Idempotency-Key');

/** Whether a later call repeats this one: it has the same idempotency key, or the same query and body. */
export function isRepeat(call: Call, later: Call): boolean {
  if (call === later || later.operation !== call.operation || call.operation === '') return false;
  const key = idempotencyKeyOf(call);
  if (key !== undefined && key === idempotencyKeyOf(later)) return true;
  return call.query.toString() === later.query.toString() && call.body.equals(later.body);
}

export const repeatsOf = (call: Call, { calls }: CallLog): Call[] =>
  calls.slice(calls.indexOf(call) + 1).filter((later) => isRepeat(call, later));

/** The later calls of the same operation. */
export const laterCalls = (call: Call, { calls }: CallLog): Call[] =>
  calls.slice(calls.indexOf(call) + 1).filter(({ operation }) => operation === call.operation);

/** Rules as text: one a line, with the columns id | must or should | section | operation | title | remedy. */
export const clientRules = (text: string, checks: Readonly<Record<string, ClientRule['check']>>): ClientRule[] =>
  ruleTable(text).map(([facts]) => ({ ...facts, check: checkOf(checks, facts.id) }));

/** In the order of their ids. */
export const inOrder = (...rules: readonly ClientRule[]): ClientRule[] =>
  rules.toSorted((one, other) => (one.id < other.id ? -1 : 1));

/** A check of each call of an operation. */
export const everyCallOf =
  (operation: string, faultIn: (call: Call, log: CallLog) => string | undefined): ClientRule['check'] =>
  (log) =>
    everyCall(
      callsOf(log, operation),
      operation === 'download' ? 'no download was seen' : `no call of ${operation} was seen`,
      (call) => faultIn(call, log),
    );

/** The check that every call has a route. */
export const unknownRoutes: ClientRule['check'] = ({ calls }) =>
  everyCall(calls, 'no call was seen', ({ operation, method, path }) =>
    operation === '' ? `no route for ${method} ${path}` : undefined,
  );

/** The rules 2 to 5 of a role: the API key (section 5). */
export function keyRules(prefix: string, keyHeader: string, otherHeader: string, operations: readonly string[]) {
  const every =
    (faultIn: (call: Call, log: CallLog) => string | undefined): ClientRule['check'] =>
    (log) =>
      everyCall(callsOf(log, ...operations), 'no call was seen', (call) => faultIn(call, log));
  return clientRules(
    `
${prefix}-002 | must | 5 | every | every call has the header ${keyHeader} | Send the issued key in the header ${keyHeader} with every call.
${prefix}-003 | must | 5 | every | ${keyHeader} is sent once | Send the header ${keyHeader} once.
${prefix}-004 | must | 5 | every | the key is the issued one | Send the key as it was issued, without a prefix such as "Bearer".
${prefix}-005 | must | 5 | every | the key is in no other place than ${keyHeader} | Remove the key from the address, the body and every header but ${keyHeader}.
`,
    {
      [`${prefix}-002`]: every((call) =>
        headersOf(call, keyHeader).length > 0 ? undefined : `${keyHeader} is absent`,
      ),
      [`${prefix}-003`]: every((call) => {
        const { length } = headersOf(call, keyHeader);
        return length <= 1 ? undefined : `${keyHeader} is sent ${length} times`;
      }),
      [`${prefix}-004`]: every((call, { apiKey }) =>
        headersOf(call, keyHeader).every((value) => value === apiKey) ? undefined : `${keyHeader} has another value`,
      ),
      [`${prefix}-005`]: every((call, { apiKey }) => {
        const place = otherPlace(call, apiKey, keyHeader);
        return place && `the key is in ${place}; ${otherHeader} is the header of other interfaces`;
      }),
    },
  );
}

function otherPlace(call: Call, apiKey: string, keyHeader: string): string | undefined {
  if (`${call.path}?${call.query.toString()}`.includes(apiKey)) return 'the address';
  if (call.body.includes(apiKey)) return 'the body';
  const header = call.headers.find(
    ([name, value]) => name.toLowerCase() !== keyHeader.toLowerCase() && value.includes(apiKey),
  );
  return header === undefined ? undefined : `the header ${header[0]}`;
}

/** The rules of a JSON body: how it is declared, and its form. */
export function bodyRules(prefix: string, section: string, operations: readonly string[]): ClientRule[] {
  const every = (faultIn: (call: Call) => string | undefined) => (log: CallLog) =>
    everyCall(callsOf(log, ...operations), 'no POST was seen', faultIn);
  return clientRules(
    `
${prefix}-006 | must | ${section} | every | a body is declared as application/json | Send Content-Type: application/json with every POST.
${prefix}-007 | must | ${section} | every | a body is JSON in UTF-8 | Write the body with a JSON serializer, in UTF-8.
`,
    {
      [`${prefix}-006`]: every((call) => {
        const type = soleHeader(call, 'Content-Type');
        return isJsonType(type) ? undefined : `Content-Type is ${type ?? 'absent'}`;
      }),
      [`${prefix}-007`]: every((call) => jsonOf(call).fault),
    },
  );
}
