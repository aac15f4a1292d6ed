import { ownField } from '../../contracts/common/json.js';
import { readRequestId } from '../client/vision.client.js';
import type { FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';
import { epochMillis, instantOf } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { defineStates, type StateOf } from '../../core/work/states.js';
import type { Range } from '../range.js';
import type { ShownState } from '../recordings/recording.rules.js';

/** The maximum number of POSTs that the partner may have received (decision 41). */
export const MAX_SUBMITS = 3;

/**
 * The effect of a failed POST: `counted` may have reached the partner, and is sent again up to `MAX_SUBMITS`; `waiting` did
 * not, and is sent again until the deadline; `final` ends the part.
 */
const SUBMIT_FAILURES: Readonly<Record<FailureKind, 'final' | 'counted' | 'waiting'>> = {
  broken: 'counted',
  timedOut: 'counted',
  failed: 'counted',
  unavailable: 'counted',
  tooLarge: 'counted',
  // An answer of 2xx that is no acknowledgement: it may be that of a gateway.
  notJson: 'counted',
  breach: 'counted',
  unreachable: 'waiting',
  circuitOpen: 'waiting',
  switchedOff: 'waiting',
  rateLimited: 'waiting',
  unauthorized: 'waiting',
  connectionChanged: 'waiting',
  rejected: 'final',
  redirected: 'final',
  addressRefused: 'final',
};

/** Whether the partner may have taken a POST that failed so. */
export const mayBeTaken = ({ kind }: Pick<PartnerFailure, 'kind'>): boolean => SUBMIT_FAILURES[kind] === 'counted';

/** `submits` is the number of counted POSTs, this one included. */
export function submitFailure(
  { kind }: Pick<PartnerFailure, 'kind'>,
  submits: number,
): 'final' | 'counted' | 'waiting' {
  const effect = SUBMIT_FAILURES[kind];
  return effect === 'counted' && submits >= MAX_SUBMITS ? 'final' : effect;
}

/** In codes, `_` and `-` stand between words. */
const NAMES_EXISTING = /\balready\b|\bduplicate|\bexisting request\b|\brequest (\S+ )?exists\b/i;

/** With these, an id alone is that of the call, which gateways put into their errors. */
const OTHER_REFUSALS: readonly (number | undefined)[] = [403, 404, 405, 410, 413, 415];

/** The request that the partner already has, as its refusal of a duplicate shows. */
export interface ExistingRequest {
  /** Its id, where the refusal says it. */
  readonly requestId?: string;
}

/**
 * A refusal as a duplicate: 409, or any other refusal that names an existing request (decision 41). The contract has no code
 * for it, so the partner's own words are read. It counts only after a lost answer.
 */
export function existingRequest(status: number | undefined, body: unknown): ExistingRequest | undefined {
  const error = ownField(body, 'error');
  const details = ownField(error, 'details');
  const places = [details, error, ownField(body, 'details'), ownField(body, 'data'), body];
  const requestId = places.map((place) => readRequestId(ownField(place, 'requestId'))).find((id) => id !== undefined);
  const words = [
    plainText(body),
    error,
    ...[error, body].flatMap((place) => ['code', 'message'].map((name) => ownField(place, name))),
  ]
    .filter((text) => typeof text === 'string')
    .join(' ')
    .replace(/[_-]/g, ' ');
  const isNamed = requestId !== undefined && !OTHER_REFUSALS.includes(status);
  if (status !== 409 && !isNamed && !NAMES_EXISTING.test(words)) return undefined;
  return requestId === undefined ? {} : { requestId };
}

/** A page of HTML is that of a gateway. */
const plainText = (body: unknown): string | undefined =>
  typeof body === 'string' && !body.trimStart().startsWith('<') ? body.slice(0, 1_000) : undefined;

/** The transitions of a video request and of each part (decisions 39 to 42). */
export const REQUEST_STATES = defineStates('a video request', {
  submitting: ['processing', 'ready', 'failed', 'expired'],
  processing: ['ready', 'failed', 'expired'],
  ready: ['downloading', 'stored', 'failed', 'expired'],
  downloading: ['ready', 'stored', 'failed', 'expired'],
  // By retention.
  stored: ['expired'],
  // An admin tries them again, unless retention deleted their files.
  failed: ['submitting', 'processing', 'ready'],
  expired: ['submitting', 'processing', 'ready'],
});

export type RequestState = StateOf<typeof REQUEST_STATES>;

export interface PartState {
  readonly number: number;
  readonly status: RequestState;
  readonly reason: string | null;
}

/** In this order: a request has the state of its least advanced open part. */
const OPEN_STATES: readonly RequestState[] = ['submitting', 'processing', 'ready', 'downloading'];

/** The state of a request by its parts (decision 42): open while one is open, then `failed`, `expired` or `stored`. */
export function requestStateOf(parts: readonly PartState[]): { status: RequestState; reason: string | null } {
  const open = OPEN_STATES.find((state) => parts.some(({ status }) => status === state));
  const ended = (['failed', 'expired'] as const).find((state) => parts.some(({ status }) => status === state));
  return { status: open ?? ended ?? 'stored', reason: reasonOf(parts) };
}

function reasonOf(parts: readonly PartState[]): string | null {
  const [first, ...others] = parts.filter(({ reason }) => reason !== null);
  if (first === undefined || parts.length === 1) return first?.reason ?? null;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `Part ${first.number} of ${parts.length}: ${first.reason}${more}`;
}

export interface ClipState {
  readonly status: ShownState;
  readonly reason: string | null;
}

/** The state of a part by its clips. `partnerReason` is the partner's message, for example what is missing. */
export function partStateOf(
  clips: readonly ClipState[],
  partnerReason: string | null,
): { status: RequestState; reason: string | null } {
  if (clips.some(({ status }) => status === 'downloading')) return { status: 'downloading', reason: partnerReason };
  if (clips.some(({ status }) => status === 'available')) return { status: 'ready', reason: partnerReason };
  const lost = clips.find(({ status }) => status === 'failed') ?? clips.find(({ status }) => status === 'expired');
  if (lost === undefined) return { status: 'stored', reason: partnerReason };
  return { status: lost.status === 'failed' ? 'failed' : 'expired', reason: lost.reason };
}

/** Each part is a request to the partner. */
const MAX_PARTS = 1_000;
/** By so much the clock of a caller may be ahead. */
const CLOCK_SKEW_MS = 60_000;

/** The last instant with a four-digit year. */
const MAX_TIME_MS = epochMillis('9999-12-31T23:59:59.999999Z');

export function rangeViolations({ startTime, endTime }: Range, clipMinutes: number, now: number): Violation[] {
  const start = epochMillis(startTime);
  const maxMinutes = clipMinutes * MAX_PARTS;
  if (endTime <= startTime) return [rangeViolation('endTime', 'must be after startTime')];
  if (start >= MAX_TIME_MS) return [rangeViolation('startTime', 'must be before 9999-12-31T23:59:59.999Z')];
  if (epochMillis(endTime) > now + CLOCK_SKEW_MS) {
    return [rangeViolation('endTime', 'must not be in the future: no camera has recorded it yet')];
  }
  if ((epochMillis(endTime) - start) / 60_000 <= maxMinutes) return [];
  return [rangeViolation('endTime', `must be at most ${maxMinutes} minutes after startTime`)];
}

const rangeViolation = (path: string, rule: string): Violation => ({
  path,
  rule: 'isRange',
  message: `${path} ${rule}`,
});

/**
 * Splits a range into adjacent parts of at most `minutes` (decision 42). Times on the wire have whole milliseconds (decision
 * 7): the start is rounded down and the end up, but rounding never adds a part.
 */
export function splitRange({ startTime, endTime }: Range, minutes: number): Range[] {
  const step = minutes * 60_000;
  const start = epochMillis(startTime);
  const last = epochMillis(endTime);
  const count = Math.max(1, Math.ceil((last - start) / step));
  const roundedUp = instantOf(new Date(last)) < endTime ? last + 1 : last;
  const end = Math.min(roundedUp, start + count * step, MAX_TIME_MS);
  return Array.from({ length: count }, (_, i) => ({
    startTime: instantOf(new Date(start + i * step)),
    endTime: instantOf(new Date(Math.min(start + (i + 1) * step, end))),
  }));
}
