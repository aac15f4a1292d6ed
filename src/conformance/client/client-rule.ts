import { Exchange, NoAnswerError, type ParsedJson, parsedJson } from '../exchange.js';
import { failed, notProven, outcomeOf, passed, type RuleFacts, type Verdict } from '../rule.js';
import type { RuleResult } from '../run.js';

/** The answer of the kit to a call. */
export interface PeerAnswer {
  /** 0: the connection is closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The fault that the kit injected. */
  readonly scenario?: string;
}

/** A request that a client sent to the kit. */
export interface Received {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The name in the contract; empty for an unknown path or method. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** In the order of the request, repeated names included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export interface Call extends Received {
  readonly answer: PeerAnswer;
}

/** All calls of a run, oldest first. */
export interface CallLog {
  readonly calls: readonly Call[];
  readonly apiKey: string;
}

/** The side of the interfaces that the kit acts as. */
export interface Peer {
  operationOf(method: string, path: string): string;
  answer(call: Received, earlier: readonly Call[]): PeerAnswer;
}

export const headersOf = ({ headers }: Received, name: string): string[] =>
  headers.flatMap(([each, value]) => (each.toLowerCase() === name.toLowerCase() ? [value] : []));

/** The only header of that name; undefined where it is absent or repeated. */
export function soleHeader(call: Received, name: string): string | undefined {
  const values = headersOf(call, name);
  return values.length === 1 ? values[0] : undefined;
}

const parsed = new WeakMap<Buffer, ParsedJson>();

/** The body as JSON, parsed once. */
export function jsonOf({ body }: { readonly body: Buffer }): ParsedJson {
  const result = parsed.get(body) ?? parsedJson(body);
  parsed.set(body, result);
  return result;
}

export const json = (
  status: number,
  body: unknown,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly scenario?: string } = {},
): PeerAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json', ...more.headers },
  body: Buffer.from(JSON.stringify(body)),
  scenario: more.scenario,
});

/** The common error body. `JSON.stringify` leaves out details that are undefined. */
export const refusal = (
  status: number,
  code: string,
  message: string,
  {
    details,
    ...more
  }: { readonly headers?: Record<string, string>; readonly scenario?: string; readonly details?: object } = {},
): PeerAnswer => json(status, { success: false, error: { code, message, details } }, more);

/** The call as the report shows it. */
function exchangeOf(call: Call, baseUrl: string, apiKey: string): Exchange {
  const { operation, method, path, query, headers, body, answer } = call;
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  const shown = headers.map(([name, value]) =>
    /^(platform-)?api-key$/i.test(name) && value !== apiKey ? [name, '[another key]'] : [name, value],
  );
  const request = {
    operation,
    method,
    url: `${baseUrl}${path}${search}`,
    headers: Object.fromEntries(shown) as Record<string, string>,
    body: body.length === 0 ? undefined : body.toString('utf8'),
  };
  return new Exchange(
    request,
    answer.status !== 0 ? answer : new NoAnswerError('the kit closed the connection on purpose'),
  );
}

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
