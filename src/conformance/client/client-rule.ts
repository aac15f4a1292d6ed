import { failed, notProven, passed, type RuleFacts, type Verdict } from '../rule.js';
import type { RuleResult } from '../run.js';
import { type Call, type CallLog, exchangeOf, headersOf, jsonOf, type Peer, soleHeader } from './call.js';

/** A verdict, and the call that shows it. */
export interface CallVerdict extends Verdict {
  readonly call?: Call;
}

/** One statement about what a client sends, and what it does with an answer. */
export interface ClientRule extends RuleFacts {
  readonly check: (log: CallLog) => CallVerdict;
}

/** A client role: the kit plays the other side, and its rules look at all calls of the run. */
export interface ClientRole {
  readonly name: string;
  readonly rules: readonly ClientRule[];
  readonly peer: (options: { readonly url: string; readonly apiKey: string }) => Peer;
}

/** Evaluates the rules of a client role. A broken `should` is a warning. */
export function checkCalls({ rules }: ClientRole, log: CallLog, baseUrl: string): RuleResult[] {
  return rules.map((rule): RuleResult => {
    try {
      const { outcome, message, call } = rule.check(log);
      return {
        rule,
        outcome: outcome === 'failed' && rule.severity === 'should' ? 'warning' : outcome,
        ...(message === undefined ? {} : { message }),
        ...(call === undefined ? {} : { exchange: exchangeOf(call, baseUrl, log.apiKey) }),
      };
    } catch (error) {
      return { rule, outcome: 'kit-error', message: `the kit failed: ${(error as Error).message}` };
    }
  });
}

/** The first faulty call decides. */
export function everyCall(
  calls: readonly Call[],
  none: string,
  faultOf: (call: Call) => string | undefined,
): CallVerdict {
  if (calls.length === 0) return notProven(none);
  for (const call of calls) {
    const fault = faultOf(call);
    if (fault !== undefined) return { ...failed(fault), call };
  }
  return passed;
}

export const callsOf = ({ calls }: CallLog, ...operations: readonly string[]): Call[] =>
  calls.filter(({ operation }) => operations.includes(operation));

export const met = ({ calls }: CallLog, scenario: string, ...operations: readonly string[]): Call[] =>
  calls.filter(({ operation, answer }) => answer.scenario === scenario && operations.includes(operation));

export const idempotencyKeyOf = (call: Call): string | undefined => soleHeader(call, 'Idempotency-Key');

/** Whether a later call is the same request again: by its idempotency key, or byte for byte. */
export function isRepeat(call: Call, later: Call): boolean {
  if (call === later || later.operation !== call.operation || call.operation === '') return false;
  const key = idempotencyKeyOf(call);
  if (key !== undefined && key === idempotencyKeyOf(later)) return true;
  return call.query.toString() === later.query.toString() && call.body.equals(later.body);
}

export const repeatsOf = (call: Call, calls: readonly Call[]): Call[] =>
  calls.slice(calls.indexOf(call) + 1).filter((later) => isRepeat(call, later));

/** Clocks and timers are not exact. */
const TOLERANCE_MS = 100;

type Repeats = (call: Call, log: CallLog) => readonly Call[];
const sameRequest: Repeats = (call, { calls }) => repeatsOf(call, calls);

interface Retry {
  readonly scenario: string;
  /** `429 with Retry-After` */
  readonly answer: string;
  readonly operations: readonly string[];
  readonly section: string;
  readonly operation: string;
  readonly none: string;
  readonly repeats?: Repeats;
}

/** The request is sent again after a temporary failure. */
export const sentAgain = (id: string, retry: Retry): ClientRule => ({
  id,
  section: retry.section,
  severity: 'should',
  operation: retry.operation,
  title: `a request that got ${retry.answer} is sent again`,
  remedy: `Treat ${retry.answer} as temporary, and send the same request again.`,
  check: (log) =>
    everyCall(met(log, retry.scenario, ...retry.operations), retry.none, (call) =>
      (retry.repeats ?? sameRequest)(call, log).length > 0 ? undefined : 'the request did not come again in this run',
    ),
});

/** The repeat waits as long as the answer demands. */
export const notBefore = (id: string, retry: Retry): ClientRule => ({
  id,
  section: retry.section,
  severity: 'must',
  operation: retry.operation,
  title: `a request that got ${retry.answer} is not sent again before that time`,
  remedy: 'Wait as many seconds as Retry-After says before you send the request again.',
  check: (log) => {
    const refused = met(log, retry.scenario, ...retry.operations);
    const repeated = refused.filter((call) => (retry.repeats ?? sameRequest)(call, log).length > 0);
    return everyCall(repeated, refused.length === 0 ? retry.none : 'no such request came again', (call) => {
      const waitMs = Number(call.answer.headers['Retry-After'] ?? 0) * 1_000;
      const pauseMs = ((retry.repeats ?? sameRequest)(call, log)[0]?.at ?? 0) - call.at;
      return pauseMs >= waitMs - TOLERANCE_MS
        ? undefined
        : `it came again after ${pauseMs} ms, and Retry-After was ${waitMs / 1_000} s`;
    });
  },
});

/** The same request would fail again. */
export const notSentAgain = (id: string, severity: 'must' | 'should', retry: Retry, remedy: string): ClientRule => ({
  id,
  section: retry.section,
  severity,
  operation: retry.operation,
  title: `a request that got ${retry.answer} is not sent again as it is`,
  remedy,
  check: (log) =>
    everyCall(met(log, retry.scenario, ...retry.operations), retry.none, (call) => {
      const { length } = (retry.repeats ?? sameRequest)(call, log);
      return length === 0 ? undefined : `the same request came again ${length} times`;
    }),
});

/** The rules of the API key (section 5): first free number, and the two header names. */
export function keyRules(
  prefix: string,
  keyHeader: string,
  otherHeader: string,
  operations: readonly string[],
): ClientRule[] {
  const common = { section: '5', severity: 'must', operation: 'every' } as const;
  const check = (faultOf: (call: Call, log: CallLog) => string | undefined) => (log: CallLog) =>
    everyCall(callsOf(log, ...operations), 'no call was seen', (call) => faultOf(call, log));
  return [
    {
      ...common,
      id: `${prefix}-002`,
      title: `every call has the header ${keyHeader}`,
      remedy: `Send the issued key in the header ${keyHeader} with every call.`,
      check: check((call) => (headersOf(call, keyHeader).length > 0 ? undefined : `${keyHeader} is absent`)),
    },
    {
      ...common,
      id: `${prefix}-003`,
      title: `${keyHeader} is sent once`,
      remedy: `Send the header ${keyHeader} once.`,
      check: check((call) => {
        const { length } = headersOf(call, keyHeader);
        return length <= 1 ? undefined : `${keyHeader} is sent ${length} times`;
      }),
    },
    {
      ...common,
      id: `${prefix}-004`,
      title: 'the key is the issued one',
      remedy: 'Send the key as it was issued, without a prefix such as "Bearer".',
      check: check((call, { apiKey }) =>
        headersOf(call, keyHeader).every((value) => value === apiKey) ? undefined : `${keyHeader} has another value`,
      ),
    },
    {
      ...common,
      id: `${prefix}-005`,
      title: `the key is in no other place than ${keyHeader}`,
      remedy: `Remove the key from the address, the body and every header but ${keyHeader}.`,
      check: check((call, { apiKey }) => {
        const place = otherPlace(call, apiKey, keyHeader);
        return place === undefined
          ? undefined
          : `the key is in ${place}; ${otherHeader} is the header of other interfaces`;
      }),
    },
  ];
}

function otherPlace(call: Call, apiKey: string, keyHeader: string): string | undefined {
  if (`${call.path}?${call.query.toString()}`.includes(apiKey)) return 'the address';
  if (call.body.includes(apiKey)) return 'the body';
  const header = call.headers.find(
    ([name, value]) => name.toLowerCase() !== keyHeader.toLowerCase() && value.includes(apiKey),
  );
  return header === undefined ? undefined : `the header ${header[0]}`;
}

/** The rules of a JSON body: its declaration and its form. */
export function bodyRules(prefix: string, section: string, operations: readonly string[]): ClientRule[] {
  const check = (faultOf: (call: Call) => string | undefined) => (log: CallLog) =>
    everyCall(callsOf(log, ...operations), 'no POST was seen', faultOf);
  const common = { section, severity: 'must', operation: 'every' } as const;
  return [
    {
      ...common,
      id: `${prefix}-006`,
      title: 'a body is declared as application/json',
      remedy: 'Send Content-Type: application/json with every POST.',
      check: check((call) => {
        const type = soleHeader(call, 'Content-Type');
        return /^application\/json(\s*;|\s*$)/i.test(type ?? '') ? undefined : `Content-Type is ${type ?? 'absent'}`;
      }),
    },
    {
      ...common,
      id: `${prefix}-007`,
      title: 'a body is JSON in UTF-8',
      remedy: 'Write the body with a JSON serializer, in UTF-8.',
      check: check((call) => jsonOf(call).fault),
    },
  ];
}
