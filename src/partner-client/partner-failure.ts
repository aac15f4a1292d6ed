import type { Violation } from '../contracts/common/violation.js';

/** Whether a failure of this kind speaks of a partner that is down. */
const TRIPS = {
  addressRefused: false,
  unreachable: true,
  broken: true,
  timedOut: true,
  tooLarge: false,
  unauthorized: false,
  redirected: false,
  notJson: false,
  breach: false,
  rejected: false,
  rateLimited: false,
  unavailable: true,
  failed: true,
  circuitOpen: false,
  withdrawn: false,
} as const;

/**
 * Every expected failure of a call to a partner: `addressRefused` not a public address; `unreachable` no connection;
 * `broken` cut in the middle; `timedOut`; `tooLarge`; `unauthorized` 401 with every key that we have; `redirected`;
 * `notJson`; `breach` JSON that is not what the contract says; `rejected` another 4xx; `rateLimited` 429; `unavailable`
 * 502, 503, 504; `failed` another 5xx; `circuitOpen` not even tried, since it failed again and again; `withdrawn` not tried
 * either, since an admin has deleted the connection or moved it to another address.
 */
export type FailureKind = keyof typeof TRIPS;

export interface FailureFacts {
  readonly status?: number;
  readonly violations?: readonly Violation[];
  /** Not before this time, says the partner or the circuit breaker. */
  readonly retryAt?: Date;
  /** Only ever what holds no secret: never an error of axios, which carries the headers that were sent. */
  readonly cause?: unknown;
}

/** A partner's failure as our own error: `message` is a sentence for an admin, free of our keys. */
export class PartnerFailure extends Error {
  /** For the runner of due rows: no surprise, the message is all there is to say. */
  readonly expected = true;
  readonly status: number | undefined;
  readonly violations: readonly Violation[];
  readonly retryAt: Date | undefined;

  constructor(
    readonly kind: FailureKind,
    message: string,
    facts: FailureFacts = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'PartnerFailure';
    this.status = facts.status;
    this.violations = facts.violations ?? [];
    this.retryAt = facts.retryAt;
  }

  /** For the runner of due rows: that the circuit opened was logged, and each row that waits would say it again. */
  get isLogged(): boolean {
    return this.kind === 'circuitOpen';
  }

  /** Counts for the circuit breaker. */
  get trips(): boolean {
    return TRIPS[this.kind];
  }
}
