import { jsonOrText, ownField } from '../contracts/common/json.js';
import { storableText } from '../contracts/common/text.js';
import { summarise, type Violation } from '../contracts/common/violation.js';
import { type Backoff, msUntil, retryDelayMs } from '../core/outbound/backoff.js';
import { retryAfterDate } from '../core/outbound/retry-after.js';

interface FailureRule {
  /** Whether the partner answered (`true`), or is down or broken (`false`). Absent if the failure says neither. */
  readonly provesReachable?: boolean;
  /** A GET is sent again (decision 36). */
  readonly isRetried?: true;
}

const RULES = {
  /** The address is not a public one. */
  addressRefused: {},
  /** No connection could be made. */
  unreachable: { provesReachable: false, isRetried: true },
  /** The connection broke during the response. */
  broken: { provesReachable: false, isRetried: true },
  timedOut: { provesReachable: false },
  tooLarge: { provesReachable: true },
  /** 401 with every key of the connection. */
  unauthorized: { provesReachable: true },
  redirected: { provesReachable: true },
  notJson: { provesReachable: true },
  /** JSON that does not conform to the contract. */
  breach: { provesReachable: true },
  /** Another 4xx. */
  rejected: { provesReachable: true },
  /** 429 */
  rateLimited: { provesReachable: true, isRetried: true },
  /** 502, 503, 504 */
  unavailable: { provesReachable: false, isRetried: true },
  /** Another 5xx. */
  failed: { provesReachable: false },
  /** The partner was not called, because it failed several times in a row or asked for fewer calls. */
  circuitOpen: {},
  /** The partner was not called, because calls to partners are switched off. */
  switchedOff: { provesReachable: false },
  /** The partner was not called, because an admin deleted the connection or changed its address. */
  connectionChanged: {},
} as const satisfies Record<string, FailureRule>;

/** Every expected failure of a call to a partner. */
export type FailureKind = keyof typeof RULES;

export interface FailureFacts {
  readonly status?: number | undefined;
  readonly violations?: readonly Violation[];
  readonly body?: unknown;
  /** Do not call before this time, as asked by the partner or because of its outage. */
  readonly retryAt?: Date | undefined;
  /** Never an error of axios, which carries the headers that were sent. */
  readonly cause?: unknown;
}

/** A failure of a partner. `message` is a sentence for an admin and contains no key. */
export class PartnerFailure extends Error {
  /** The job runner logs the message alone, without a stack. */
  readonly expected = true;
  readonly status: number | undefined;
  readonly violations: readonly Violation[];
  readonly retryAt: Date | undefined;
  /** Private, so that no log of the error contains it. */
  readonly #body: unknown;

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
    this.#body = facts.body;
  }

  /** The error body of a status: JSON, or the text that is none. It may contain our key, and is neither stored nor logged. */
  get body(): unknown {
    return this.#body;
  }

  /** The beginning of a pause is logged once; the rows that wait for its end need not log it again. */
  get isLogged(): boolean {
    return this.kind === 'circuitOpen';
  }

  /** 429, 502, 503 or 504 with `Retry-After`: it concerns every call of the route. */
  get asksForPause(): boolean {
    return this.retryAt !== undefined && (this.kind === 'rateLimited' || this.kind === 'unavailable');
  }

  /** For work with a schedule: a partner that asks for fewer calls is called no earlier than without the failure. */
  onSchedule(afterMs: number): PartnerFailure {
    const { kind, message, status, violations, retryAt } = this;
    const next = new Date(Date.now() + afterMs);
    if (!(kind === 'rateLimited' || this.asksForPause) || (retryAt !== undefined && retryAt >= next)) return this;
    return new PartnerFailure(kind, message, { status, violations, retryAt: next, cause: this });
  }

  /** A failure that the sandbox made, and not the partner. */
  madeBy(scenario: string): PartnerFailure {
    const { kind, message, status, violations, retryAt, body } = this;
    const sentence = `${message} The sandbox injected the scenario ${scenario}.`;
    return new PartnerFailure(kind, sentence, { status, violations, retryAt, body, cause: this });
  }

  /** Undefined if the failure does not show whether the partner can be reached. */
  get provesReachable(): boolean | undefined {
    return (RULES[this.kind] as FailureRule).provesReachable;
  }
}

/** Attempts of one GET (decision 36). */
export const MAX_ATTEMPTS = 3;

/** A longer `Retry-After` ends the call; `retryAt` then says when to call again. */
export const MAX_RETRY_AFTER_MS = 300_000;

/** Milliseconds until the attempt after this one (from 1), or undefined if there is none. `random` is in [0, 1). */
export function nextAttemptMs(
  failure: PartnerFailure,
  attempt: number,
  timing: { readonly rule: Backoff; readonly now: Date; readonly random: number },
): number | undefined {
  const { rule, now, random } = timing;
  if (attempt >= MAX_ATTEMPTS || (RULES[failure.kind] as FailureRule).isRetried !== true) return undefined;
  if (msUntil(failure.retryAt, now) > MAX_RETRY_AFTER_MS) return undefined;
  return retryDelayMs(failure, rule, attempt, now, random);
}

/** `256 MB`, `1.5 KB`. */
function sizeText(bytes: number): string {
  const [unit, name] = bytes >= 1_048_576 ? [1_048_576, 'MB'] : bytes >= 1_024 ? [1_024, 'KB'] : [1, 'bytes'];
  return `${Math.round((bytes / unit) * 10) / 10} ${name}`;
}

/** `60 s`, `200 ms`. */
function durationText(milliseconds: number): string {
  return milliseconds >= 1_000 ? `${Math.round(milliseconds / 100) / 10} s` : `${Math.round(milliseconds)} ms`;
}

/** The message of each failure. `host` is that of the partner. */
export const SENTENCES = {
  timedOut: (host: string, ms: number) => `${host} did not send its whole answer within ${durationText(ms)}.`,
  tooLarge: (host: string, bytes: number) => `The answer of ${host} is larger than ${sizeText(bytes)}.`,
  unsupportedCoding: (host: string) => `The answer of ${host} has an unsupported Content-Encoding.`,
  unauthorized: (host: string, keys: number) =>
    keys > 1 ? `${host} accepts neither our current nor our next API key.` : `${host} does not accept our API key.`,
  redirected: (host: string, status: number) =>
    `${host} answered with a redirect (${status}); API calls follow no redirect.`,
  html: (host: string) => `${host} answered with an HTML page instead of JSON.`,
  empty: (host: string) => `${host} answered with an empty body instead of JSON.`,
  notJson: (host: string) => `${host} answered with a body that is not valid JSON.`,
  breach: (host: string, violations: readonly Violation[]) =>
    `The answer of ${host} does not conform to the contract: ${summarise(violations)}.`,
  unexpectedStatus: (host: string, status: number) =>
    `${host} answered with status ${status}, which the contract does not allow here.`,
  rejected: (host: string, status: number, detail: string) =>
    `${host} rejected the call with status ${status}${detail}.`,
  rateLimited: (host: string, detail: string) => `${host} asks for fewer calls (status 429)${detail}.`,
  unavailable: (host: string, status: number, detail: string) =>
    `${host} is not available now (status ${status})${detail}.`,
  failed: (host: string, status: number, detail: string) => `${host} failed with status ${status}${detail}.`,
  circuitOpen: (host: string, until: Date) =>
    `${host} is not called before ${until.toISOString().slice(0, 19)}Z, because it failed several times in a row or asked for fewer calls.`,
  switchedOff: (reason: string) => `Calls to partners are switched off: ${reason}.`,
  connectionChanged: () => 'The connection was deleted or its address was changed before the partner was called.',
} as const;

const MAX_CODE_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 500;

/** Removes keys from a text. */
interface Scrubber {
  sentence(text: string): string;
}

export interface StatusContext {
  readonly host: string;
  readonly scrubber: Scrubber;
  readonly retryAfter: string | undefined;
  readonly now: Date;
}

/** The failure for a status that the caller does not accept. `body` is empty if it could not be read. */
export function statusFailure(status: number, body: Buffer, context: StatusContext): PartnerFailure {
  const { host, scrubber, now } = context;
  const parsed = jsonOrText(body.toString('utf8'));
  const detail = errorDetail(parsed, scrubber);
  const facts: FailureFacts = { status, body: parsed, retryAt: retryAfterDate(context.retryAfter, now) };
  const failure = (kind: FailureKind, sentence: string) => new PartnerFailure(kind, sentence, facts);
  if (status === 429) return failure('rateLimited', SENTENCES.rateLimited(host, detail));
  if ([502, 503, 504].includes(status)) return failure('unavailable', SENTENCES.unavailable(host, status, detail));
  if (status >= 500) return failure('failed', SENTENCES.failed(host, status, detail));
  if (status >= 400) return failure('rejected', SENTENCES.rejected(host, status, detail));
  if (status >= 300 && status !== 304) return failure('redirected', SENTENCES.redirected(host, status));
  return failure('breach', SENTENCES.unexpectedStatus(host, status));
}

/**
 * The code and the message of a common error body (section 2.1), to be appended to a sentence: ` NOT_FOUND: no such
 * hauler`. Keys are removed before a text is cut, because the rest of a key would not be recognised.
 */
export function errorDetail(body: unknown, scrubber: Scrubber): string {
  const error = ownField(body, 'error');
  const text = (value: unknown, maxLength: number) =>
    typeof value === 'string' ? scrubber.sentence(storableText(value)).slice(0, maxLength) : undefined;
  const code = text(ownField(error, 'code'), MAX_CODE_LENGTH);
  const message = text(ownField(error, 'message'), MAX_MESSAGE_LENGTH)
    ?.replace(/\s+/g, ' ')
    .replace(/[.\s]+$/, '');
  return `${code === undefined ? '' : ` ${code}`}${message === undefined || message === '' ? '' : `: ${message}`}`;
}
