import type { Video } from '../../contracts/vision/vision.dto.js';
import { withJitter } from '../../outbound/backoff.js';
import { type FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Finding, ReadRequestState } from '../client/read-list.rules.js';
import { UnstableListError } from '../client/read-pages.js';
import type { VisionConnection } from '../client/vision-connections.repository.js';
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

export interface PollContext {
  readonly connection: VisionConnection;
  readonly signal: AbortSignal;
  /** The page of the customer's list to start with. */
  readonly page: number;
  /** The database's time. */
  readonly now: Date;
  readonly lastRoundFailed: boolean;
}

/** The clips that the partner lists under a part's own id, as far as they could be read. */
export interface PartList {
  readonly videos: readonly Video[];
  /** From the first page of the last reading: if it is `ready`, that reading has all clips. */
  readonly request: ReadRequestState | undefined;
  readonly findings: readonly Finding[];
  /** Why the list may have more. */
  readonly failure: PartnerFailure | UnstableListError | undefined;
  /** The pages agree with each other. */
  readonly isWhole: boolean;
}

/** The result of polling the customer's list. */
export interface BatchPoll {
  readonly results: ReadonlyMap<Part, PollResult>;
  /** The number of pages that the partner returned. */
  readonly pages: number;
  /** Where the next round continues. */
  readonly nextPage: number;
  readonly failure: PartnerFailure | undefined;
}

/** The result of polling parts by their own ids. */
export type IndividualPolls = Pick<BatchPoll, 'results' | 'failure'>;

export interface PollRound {
  readonly results: ReadonlyMap<Part, PollResult>;
  /** The parts that were polled in any way. The others stay due. */
  readonly polled: ReadonlySet<Part>;
  readonly polledIndividually: ReadonlySet<Part>;
  readonly nextPage: number;
  /** Why the round ended early. Its results count all the same. */
  readonly failure: PartnerFailure | undefined;
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

/** Calls of one round without the individual polls that are due. The list of a thousand parts needs as many. */
const MAX_CALLS = 11;

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

/** Whether to poll by the part's own id now because the next round would be too late. */
export const isIndividualPollDue = (sinceLastMs: number, progress: PollProgress): boolean =>
  sinceLastMs + pollDelayMs(progress) * (1 + JITTER) >= MAX_INDIVIDUAL_POLL_INTERVAL_MS;

/**
 * Whether to poll a part by its own id in this round. After a failed round the delays count as those of an old request,
 * because another failed round may take minutes.
 */
export function mustPollIndividually(part: Part, { now, lastRoundFailed }: PollContext): boolean {
  const { polls, openMs } = progressOf(part, now);
  const progress = { polls: polls + 1, openMs: lastRoundFailed ? Infinity : openMs };
  return isIndividualPollDue(now.getTime() - lastPolledIndividually(part), progress);
}

export const lastPolledIndividually = ({ polledIndividuallyAt, submittedAt }: Part): number =>
  (polledIndividuallyAt ?? submittedAt)?.getTime() ?? 0;

type Failure = Pick<PartnerFailure, 'kind' | 'retryAt'>;

/** Failures of the whole partner: the next call would fail as well. All others concern a single call. */
const PARTNER_FAILURES: ReadonlySet<FailureKind> = new Set([
  'unreachable',
  'circuitOpen',
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

/**
 * The result of a part by the clips in the customer's list, which carries no state. More clips may follow where the listed
 * ones do not cover the part, or where the part had clips in an earlier round.
 */
export function batchResult(part: Part, clips: readonly Video[]): ClipsResult {
  return { kind: part.hasClips || !covers(clips, part) ? 'some' : 'clips', clips, reason: undefined };
}

/** The result of polling for a part by its own id; undefined where a failure says nothing about the part. */
export function individualResult(
  { hasClips }: Part,
  { request, failure, isWhole }: Pick<PartList, 'request' | 'failure' | 'isWhole'>,
  clips: readonly Video[] | undefined,
  mismatch: string | undefined,
): PollResult | undefined {
  if (failure !== undefined) return incompleteResult(failure, clips, mismatch);
  // No clip is needed where the partner reports `ready` and listed the clips in earlier rounds.
  const earlier = hasClips && request?.status === 'ready' ? [] : undefined;
  const result = completeResult(clips ?? earlier, request, mismatch);
  // Clips may have moved between pages while these were read. The next poll counts as it is.
  return result.kind === 'clips' && !isWhole && !hasClips ? { ...result, kind: 'some' } : result;
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

/**
 * Parts that need a poll by their own id, because the list does not show whether more clips follow: when the first clips are
 * listed, and once the list covers the whole range. Limited by the calls of the round; the others wait until their poll is
 * due.
 */
export const incomplete = (parts: readonly Part[], { results, pages }: BatchPoll): Part[] =>
  parts
    .filter((part) => {
      const result = results.get(part);
      if (result?.kind !== 'some' || part.partnerRequestId === null) return false;
      return !part.hasClips || covers(result.clips, part);
    })
    .slice(0, Math.max(0, MAX_CALLS - pages));

export function roundOf(parts: readonly Part[], batch: BatchPoll, individual: IndividualPolls): PollRound {
  const combined = [...individual.results].map(
    ([part, result]) => [part, combineResults(part, result, batch.results.get(part))] as const,
  );
  return {
    results: new Map([...batch.results, ...combined]),
    polled: new Set([...(batch.pages > 0 ? parts : []), ...individual.results.keys()]),
    polledIndividually: new Set(individual.results.keys()),
    nextPage: batch.nextPage,
    failure: individual.failure ?? batch.failure,
  };
}

/** The clips that the list contains exist, even where a poll by the part's own id does not return them. */
function combineResults(part: Part, individual: PollResult, batch: PollResult | undefined): PollResult {
  if (batch?.kind !== 'some' || individual.kind === 'failed') return individual;
  if (individual.kind === 'clips' || individual.kind === 'some') {
    return { ...individual, clips: [...batch.clips, ...individual.clips] };
  }
  return { ...individual, kind: covers(batch.clips, part) ? 'clips' : 'some', clips: batch.clips };
}

/** The failure with its retry no later than the deadline, at which the work ends (decision 41). */
export function retryByDeadline(deadlineAt: Date, failure: PartnerFailure): PartnerFailure {
  const { kind, message, retryAt } = failure;
  if (retryAt === undefined || retryAt <= deadlineAt) return failure;
  return new PartnerFailure(kind, message, { retryAt: deadlineAt, cause: failure });
}

export const withLastResponse = (reason: string, last: string | null): string =>
  last === null ? reason : `${reason} Last response: ${last}`;
