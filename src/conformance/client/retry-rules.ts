import type { Call, CallLog } from './call.js';
import { type ClientRule, clientRule, everyCall, faultedCalls, repeatsOf, should } from './client-rule.js';

/** Rules about the repeats of a request that got an injected fault. */

/** Clocks and timers are not exact. */
const TOLERANCE_MS = 100;

/** An injected fault, after which a client must send the request again, or must not. */
interface InjectedFault {
  readonly operation: string;
  readonly scenario: string;
  /** `429 with Retry-After` */
  readonly answer: string;
  readonly section: string;
  /** Why there is no call with the fault. */
  readonly none: string;
  readonly repeatsOf: (call: Call, log: CallLog) => readonly Call[];
}

export const injectedFault = (
  faults: Readonly<Record<string, readonly string[]>>,
  operation: string,
  scenario: string,
  answer: string,
  section = '7',
  repeats: InjectedFault['repeatsOf'] = repeatsOf,
): InjectedFault => {
  const none = neededCalls(faults, operation, scenario);
  return { operation, scenario, answer, section, none, repeatsOf: repeats };
};

/** The kit answers the first call of an operation with the first fault of its list, and so on. */
export function neededCalls(
  faults: Readonly<Record<string, readonly string[]>>,
  operation: string,
  scenario: string,
): string {
  const count = (faults[operation] ?? []).indexOf(scenario) + 1;
  return `it needs ${count} calls of ${operation}${/^(get|list)/.test(operation) ? '' : ' with different bodies'}`;
}

/** The request is sent again after a temporary failure. */
export const sentAgain = (id: string, fault: InjectedFault): ClientRule =>
  should(
    clientRule(
      id,
      fault.section,
      fault.operation,
      `a request that got ${fault.answer} is sent again`,
      `Treat ${fault.answer} as temporary, and send the same request again.`,
      (log) =>
        everyCall(faultedCalls(log, fault.scenario, fault.operation), fault.none, (call) =>
          fault.repeatsOf(call, log).length > 0 ? undefined : 'the request was not repeated in this run',
        ),
    ),
  );

/** The repeat waits as long as the answer demands. */
export const notBefore = (id: string, fault: InjectedFault): ClientRule =>
  clientRule(
    id,
    fault.section,
    fault.operation,
    `a request that got ${fault.answer} is not sent again before that time`,
    'Wait as many seconds as Retry-After says before you send the request again.',
    (log) => {
      const refused = faultedCalls(log, fault.scenario, fault.operation);
      const repeated = refused.filter((call) => fault.repeatsOf(call, log).length > 0);
      return everyCall(repeated, refused.length === 0 ? fault.none : 'no such request was repeated', (call) => {
        const waitMs = Number(call.answer.headers['Retry-After'] ?? 0) * 1_000;
        const pauseMs = (fault.repeatsOf(call, log)[0]?.at ?? 0) - call.at;
        return pauseMs >= waitMs - TOLERANCE_MS
          ? undefined
          : `it was repeated after ${pauseMs} ms, and Retry-After was ${waitMs / 1_000} s`;
      });
    },
  );

/** The same request would fail again. */
export const notSentAgain = (id: string, fault: InjectedFault, remedy: string): ClientRule =>
  clientRule(
    id,
    fault.section,
    fault.operation,
    `a request that got ${fault.answer} is not sent again as it is`,
    remedy,
    (log) =>
      everyCall(faultedCalls(log, fault.scenario, fault.operation), fault.none, (call) => {
        const { length } = fault.repeatsOf(call, log);
        return length === 0 ? undefined : `the same request was repeated ${length} times`;
      }),
  );
