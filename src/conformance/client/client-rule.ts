import { failed, notProven, outcomeOf, passed, type RuleFacts, type Verdict } from '../rule.js';
import type { RuleResult } from '../run.js';
import { type Call, type CallLog, exchangeOf, type Peer, soleHeader } from './call.js';

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
  readonly peer: (apiKey: string) => Peer;
}

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

/** A check of each call of an operation. */
export const everyCallOf =
  (operation: string, faultIn: (call: Call, log: CallLog) => string | undefined): ClientRule['check'] =>
  (log) =>
    everyCall(callsOf(log, operation), `no call of ${operation} was seen`, (call) => faultIn(call, log));

/** The check that every call has a route. */
export const unknownRoutes: ClientRule['check'] = ({ calls }) =>
  everyCall(calls, 'no call was seen', ({ operation, method, path }) =>
    operation === '' ? `no route for ${method} ${path}` : undefined,
  );
