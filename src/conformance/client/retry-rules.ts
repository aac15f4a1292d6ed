import { ruleTable, checkOf } from '../rule-table.js';
import type { Call, CallLog } from './call.js';
import { type ClientRule, everyCall, faultedCalls, laterCalls, repeatsOf } from './client-rule.js';

/** Rules about the repeats of a request that got an injected fault. */

/** Clocks and timers are not exact. */
const TOLERANCE_MS = 100;

type Faults = Readonly<Record<string, readonly string[]>>;

/** The calls that got the fault, the repeats of each, and why there is no such call. */
interface Injected {
  readonly calls: readonly Call[];
  readonly repeats: (call: Call) => readonly Call[];
  readonly none: string;
}

const isList = (operation: string): boolean => /^(get|list)/.test(operation);

/** The kit answers the first call of an operation with the first fault of its list, and so on. */
export function neededCalls(faults: Faults, operation: string, scenario: string): string {
  const count = (faults[operation] ?? []).indexOf(scenario) + 1;
  return `it needs ${count} calls of ${operation}${isList(operation) ? '' : ' with different bodies'}`;
}

const CHECKS: Readonly<Record<string, (fault: Injected) => ReturnType<ClientRule['check']>>> = {
  /** The failure is temporary. */
  again: ({ calls, repeats, none }) =>
    everyCall(calls, none, (call) =>
      repeats(call).length > 0 ? undefined : 'the request was not repeated in this run',
    ),
  /** The repeat waits as long as the answer demands. */
  later: ({ calls, repeats, none }) => {
    const repeated = calls.filter((call) => repeats(call).length > 0);
    return everyCall(repeated, calls.length === 0 ? none : 'no such request was repeated', (call) => {
      const waitMs = Number(call.answer.headers['Retry-After'] ?? 0) * 1_000;
      const pauseMs = (repeats(call)[0]?.at ?? 0) - call.at;
      return pauseMs >= waitMs - TOLERANCE_MS
        ? undefined
        : `it was repeated after ${pauseMs} ms, and Retry-After was ${waitMs / 1_000} s`;
    });
  },
  /** The same request would fail again. */
  never: ({ calls, repeats, none }) =>
    everyCall(calls, none, (call) => {
      const { length } = repeats(call);
      return length === 0 ? undefined : `the same request was repeated ${length} times`;
    }),
};

/** Rules as text (`ruleTable`), with again, later or never and the name of the fault after the operation. */
export const retryRules = (faults: Faults, text: string): ClientRule[] =>
  ruleTable(text).map(([facts, [kind = '', scenario = '']]) => {
    const { operation } = facts;
    const check = checkOf(CHECKS, kind);
    const none = neededCalls(faults, operation, scenario);
    const repeatsIn = isList(operation) ? laterCalls : repeatsOf;
    return {
      ...facts,
      check: (log: CallLog) =>
        check({ calls: faultedCalls(log, scenario, operation), repeats: (call) => repeatsIn(call, log), none }),
    };
  });
