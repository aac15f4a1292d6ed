import type { Call, CallLog } from './call.js';
import { type Operation, PLATFORM_FAULTS } from './platform-peer.js';
import { type ClientRule, everyCall, faultedCalls, repeatsOf } from './client-rule.js';

/** Rules about the repeats of a request that got an injected fault. */

/** Clocks and timers are not exact. */
const TOLERANCE_MS = 100;

/** The calls that got the fault, the repeats of each, and why there is no such call. */
interface Injected {
  readonly calls: readonly Call[];
  readonly repeats: (call: Call) => readonly Call[];
  readonly none: string;
}

/** The kit answers the first call of an operation with the first fault of its list, and so on. */
export function neededCalls(operation: Operation, scenario: string): string {
  const count = PLATFORM_FAULTS[operation].indexOf(scenario) + 1;
  return `it needs ${count} calls of ${operation} with different bodies`;
}

type Check = ClientRule['check'];

const injected = (log: CallLog, operation: Operation, scenario: string): Injected => ({
  calls: faultedCalls(log, scenario, operation),
  repeats: (call) => repeatsOf(call, log),
  none: neededCalls(operation, scenario),
});

/** The failure is temporary: the request is sent again. */
export const isSentAgain =
  (operation: Operation, scenario: string): Check =>
  (log) => {
    const { calls, repeats, none } = injected(log, operation, scenario);
    return everyCall(calls, none, (call) =>
      repeats(call).length > 0 ? undefined : 'the request was not repeated in this run',
    );
  };

/** The repeat waits as long as the answer demands. */
export const waitsBefore =
  (operation: Operation, scenario: string): Check =>
  (log) => {
    const { calls, repeats, none } = injected(log, operation, scenario);
    const repeated = calls.filter((call) => repeats(call).length > 0);
    return everyCall(repeated, calls.length === 0 ? none : 'no such request was repeated', (call) => {
      const waitMs = Number(call.answer.headers['Retry-After'] ?? 0) * 1_000;
      const pauseMs = (repeats(call)[0]?.at ?? 0) - call.at;
      return pauseMs >= waitMs - TOLERANCE_MS
        ? undefined
        : `it was repeated after ${pauseMs} ms, and Retry-After was ${waitMs / 1_000} s`;
    });
  };

/** The same request would fail again. */
export const isNotSentAgain =
  (operation: Operation, scenario: string): Check =>
  (log) => {
    const { calls, repeats, none } = injected(log, operation, scenario);
    return everyCall(calls, none, (call) => {
      const { length } = repeats(call);
      return length === 0 ? undefined : `the same request was repeated ${length} times`;
    });
  };
