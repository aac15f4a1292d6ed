import { type Call, type CallLog, type ClientRule, everyCall, faultedCalls, repeatsOf } from './client-rule.js';
import { type Operation, PLATFORM_FAULTS } from './platform-peer.js';

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

/** Why a request is sent again: the answer in words, and the section that defines it. */
const TEMPORARY = {
  'too-many-requests': { answer: '429 with Retry-After', section: '8' },
  unavailable: { answer: '503 with Retry-After', section: '7' },
  'server-error': { answer: '500', section: '7' },
  'answer-lost': { answer: 'no answer', section: '7' },
} as const;

/** Why the same request would fail again, and what a client does instead. */
const FINAL = {
  invalid: { answer: '400', severity: 'must', remedy: 'Correct the fields, and send the corrected request.' },
  'rule-violated': {
    answer: '422',
    severity: 'should',
    remedy:
      'Report a 422 to a person. Send the ticket again when the site or material is known, with another Idempotency-Key.',
  },
  conflict: {
    answer: '409',
    severity: 'must',
    remedy: 'Store accountId and accountNumber of error.details: they are those of the existing account.',
  },
} as const;

/** A rule without its id. */
type Assertion = Omit<ClientRule, 'id'>;

const injected = (log: CallLog, operation: Operation, scenario: string): Injected => ({
  calls: faultedCalls(log, scenario, operation),
  repeats: (call) => repeatsOf(call, log),
  none: neededCalls(operation, scenario),
});

export function isSentAgain(operation: Operation, scenario: keyof typeof TEMPORARY): Assertion {
  const { answer, section } = TEMPORARY[scenario];
  return {
    section,
    severity: 'should',
    operation,
    title: `a request that got ${answer} is sent again`,
    remedy: `Treat ${answer} as temporary, and send the same request again.`,
    check: (log) => {
      const { calls, repeats, none } = injected(log, operation, scenario);
      return everyCall(calls, none, (call) =>
        repeats(call).length > 0 ? undefined : 'the request was not repeated in this run',
      );
    },
  };
}

/** The repeat waits as long as the answer demands. */
export function waitsBefore(operation: Operation, scenario: 'too-many-requests' | 'unavailable'): Assertion {
  const { answer, section } = TEMPORARY[scenario];
  return {
    section,
    severity: 'must',
    operation,
    title: `a request that got ${answer} is not sent again before that time`,
    remedy: 'Wait as many seconds as Retry-After says before you send the request again.',
    check: (log) => {
      const { calls, repeats, none } = injected(log, operation, scenario);
      const repeated = calls.filter((call) => repeats(call).length > 0);
      return everyCall(repeated, calls.length === 0 ? none : 'no such request was repeated', (call) => {
        const waitMs = Number(call.answer.headers['Retry-After'] ?? 0) * 1_000;
        const pauseMs = (repeats(call)[0]?.at ?? 0) - call.at;
        return pauseMs >= waitMs - TOLERANCE_MS
          ? undefined
          : `it was repeated after ${pauseMs} ms, and Retry-After was ${waitMs / 1_000} s`;
      });
    },
  };
}

export function isNotSentAgain(operation: Operation, scenario: keyof typeof FINAL): Assertion {
  const { answer, severity, remedy } = FINAL[scenario];
  return {
    section: '7',
    severity,
    operation,
    title: `a request that got ${answer} is not sent again as it is`,
    remedy,
    check: (log) => {
      const { calls, repeats, none } = injected(log, operation, scenario);
      return everyCall(calls, none, (call) => {
        const { length } = repeats(call);
        return length === 0 ? undefined : `the same request was repeated ${length} times`;
      });
    },
  };
}
