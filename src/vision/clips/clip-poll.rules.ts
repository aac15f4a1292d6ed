import type { Video } from '../../contracts/vision/vision.api.js';
import { withJitter } from '../../core/outbound/backoff.js';
import { type FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Finding, ReadRequestState } from '../client/read-list.rules.js';
import { UnstableListError } from '../client/read-pages.js';
import type { VisionCall } from '../client/vision.client.js';
import { covers } from './clip-matching.rules.js';
import type { Part } from './clips.repository.js';

/** The result of polling for one part. `reason` is the partner's message, or says why there is no clip. */
export type PollResult =
  | ClipsResult
  | { readonly kind: 'failed'; readonly reason: string | undefined }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'open'; readonly reason: string | undefined };

export interface ClipsResult {
  /** `some`: the partner may list more clips later. */
  readonly kind: 'clips' | 'some';
  readonly clips: readonly Video[];
  readonly reason: string | undefined;
}

export interface PollContext extends VisionCall {
  /** The database's time. */
  readonly now: Date;
}

/** What a list of the partner says beside its clips. */
export interface ReadList {
  /** Of the query by a part's own id, from the first page: if it is `ready`, this list has all clips. */
  request: ReadRequestState | undefined;
  readonly findings: Finding[];
  /** Pages that were read. */
  pages: number;
  /** Why the list may have more. */
  failure: PartnerFailure | UnstableListError | undefined;
  /** The pages agree with each other. */
  isWhole: boolean;
}

/** A part that was polled, by its own id or by the list of its customer. */
export interface PolledPart {
  readonly part: Part;
  readonly result: PollResult;
  readonly isIndividual: boolean;
}

/** What one round found out. Parts that were not polled stay due. */
export interface PollRound {
  /** In this order; the clips that the list contains exist, even where a poll by the part's own id does not return them. */
  readonly polled: PolledPart[];
  /** Why the round ended early. Its results count all the same. */
  failure: PartnerFailure | undefined;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const FIRST_DELAY_MS = 5 * SECOND_MS;
const MAX_EARLY_DELAY_MS = MINUTE_MS;
const EARLY_MS = 60 * MINUTE_MS;
const LATE_DELAY_MS = 5 * MINUTE_MS;
const JITTER = 0.2;

/** The list of prepared videos cannot show a failure; only a poll by the part's own id can. */
const MAX_INDIVIDUAL_POLL_INTERVAL_MS = 15 * MINUTE_MS;

/** Individual polls of parts whose first clips are listed, in one round. The others wait until theirs is due. */
export const MAX_FOLLOW_UPS = 10;

/** A list with more clips is not read to its end: the parts without a clip on these pages are polled by their own ids. */
export const MAX_LIST_PAGES = 20;

/** This many responses of 404 in a row end a request (decision 41). */
export const MAX_NOT_FOUND = 3;

export interface PollProgress {
  /** How often the part was polled. */
  readonly polls: number;
  /** Milliseconds since the partner accepted the request. */
  readonly openMs: number;
}

export const progressOf = ({ polls, submittedAt }: Part, now: Date): PollProgress => ({
  polls,
  openMs: submittedAt === null ? 0 : now.getTime() - submittedAt.getTime(),
});

/** Milliseconds until the next poll of a part, without jitter (decision 41). */
export function pollDelayMs({ polls, openMs }: PollProgress): number {
  if (openMs >= EARLY_MS) return LATE_DELAY_MS;
  return Math.min(FIRST_DELAY_MS * 2 ** polls, MAX_EARLY_DELAY_MS);
}

/** ±20 %. `random` is in [0, 1). A round uses one value for all its parts, so that they are polled together again. */
export const withPollJitter = (delayMs: number, random: number): number => withJitter(delayMs, JITTER, random);

/** Whether a part that is nearly due joins a round that takes place anyway, so that one call serves all parts of a customer. */
export const joinsBatchPoll = (nextInMs: number, progress: PollProgress): boolean =>
  nextInMs <= pollDelayMs(progress) / 2;

/** Whether the part is polled by its own id in this round, because the next one might be too late. */
export const isIndividualPollDue = (
  { polledIndividuallyAt, submittedAt }: Pick<Part, 'polledIndividuallyAt' | 'submittedAt'>,
  now: Date,
): boolean =>
  now.getTime() - ((polledIndividuallyAt ?? submittedAt)?.getTime() ?? 0) >=
  MAX_INDIVIDUAL_POLL_INTERVAL_MS - LATE_DELAY_MS * (1 + JITTER);

type Failure = Pick<PartnerFailure, 'kind' | 'retryAt'>;

/** Failures of the whole partner: the next call would fail as well. All others concern a single call. */
const PARTNER_FAILURES: ReadonlySet<FailureKind> = new Set([
  'unreachable',
  'circuitOpen',
  'switchedOff',
  'rateLimited',
  'unauthorized',
  'addressRefused',
  'connectionChanged',
]);

export const concernsOneCall = ({ kind }: Pick<Failure, 'kind'>): boolean => !PARTNER_FAILURES.has(kind);

/** Whether the partner gets no further call in this round. A `Retry-After` applies to every call. */
export const endsRound = (failure: Failure): boolean => !concernsOneCall(failure) || failure.retryAt !== undefined;

/** One timeout ends the individual polls of a round: a hundred timeouts would take two hours. */
export const endsIndividualPolls = (failure: Failure): boolean => endsRound(failure) || failure.kind === 'timedOut';

/** The partner does not know the customer, the truck or the camera (decision 44). */
export const isUnknown = ({ status }: PartnerFailure): boolean => status === 404;

/** The result of a part by the clips in the customer's list, which carries no state. */
export const listResult = (part: Part, clips: readonly Video[]): ClipsResult => ({
  kind: covers(clips, part) ? 'clips' : 'some',
  clips,
  reason: undefined,
});

/** The result of polling for a part by its own id; undefined where a failure says nothing about the part. */
export function individualResult(
  part: Part,
  { request, failure, isWhole }: Pick<ReadList, 'request' | 'failure' | 'isWhole'>,
  clips: readonly Video[] | undefined,
  mismatch: string | undefined,
): PollResult | undefined {
  if (failure !== undefined) return incompleteResult(failure, clips, mismatch);
  // No clip is needed where the partner reports `ready` and listed the clips in earlier rounds.
  const { hasClips } = part;
  const earlier = hasClips && request?.status === 'ready' ? [] : undefined;
  const result = completeResult(clips ?? earlier, request, mismatch);
  if (result.kind !== 'clips') return result;
  // A list by range has no end that the partner knows of.
  if (part.partnerRequestId === null) return { ...listResult(part, result.clips), reason: result.reason };
  // Clips may have moved between pages while these were read. The next poll counts as it is.
  return isWhole || hasClips ? result : { ...result, kind: 'some' };
}

function completeResult(
  clips: readonly Video[] | undefined,
  request: ReadRequestState | undefined,
  mismatch: string | undefined,
): PollResult {
  const { status, isStatusUnknown, message } = request ?? {};
  if (status === 'failed') return { kind: 'failed', reason: message };
  if (clips === undefined) return { kind: 'open', reason: mismatch };
  if (status === 'processing' && isStatusUnknown !== true) return { kind: 'some', clips, reason: message };
  return { kind: 'clips', clips, reason: message };
}

function incompleteResult(
  failure: PartnerFailure | UnstableListError,
  clips: readonly Video[] | undefined,
  mismatch: string | undefined,
): PollResult | undefined {
  const { message: reason } = failure;
  if (clips !== undefined) return { kind: 'some', clips, reason };
  if (failure instanceof UnstableListError) return { kind: 'open', reason: mismatch ?? reason };
  if (!concernsOneCall(failure)) return undefined;
  return { kind: isUnknown(failure) ? 'unknown' : 'open', reason };
}

/** The failure with its retry no later than the deadline, at which the work ends (decision 41). */
export function retryByDeadline(deadlineAt: Date, failure: PartnerFailure): PartnerFailure {
  const { kind, message, retryAt } = failure;
  if (retryAt === undefined || retryAt <= deadlineAt) return failure;
  return new PartnerFailure(kind, message, { retryAt: deadlineAt, cause: failure });
}

export const withLastResponse = (reason: string, last: string | null): string =>
  last === null ? reason : `${reason} Last response: ${last}`;
