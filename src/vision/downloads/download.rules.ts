import { MAX_RETRY_AFTER_MS } from '../../jobs/backoff.js';
import type { DownloadErrorKind } from './download-error.js';
import type { IncomingHttpHeaders } from 'node:http';

/** How often a link is replaced by listing again (decision 47). */
export const MAX_RELINKS = 5;
/** A download ends after this many attempts that received bytes, but none beyond those of an earlier attempt. */
export const MAX_NO_PROGRESS_ATTEMPTS = 5;
/** A link without an expiry is used for this long at most. */
const MAX_LINK_AGE_MS = 24 * 3_600_000;

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

export interface FetchState {
  readonly relinks: number;
  readonly noProgressAttempts: number;
  /** From 1. */
  readonly attempt: number;
  /** When the recording was first listed, in milliseconds since the epoch. */
  readonly listedAt: number;
  readonly expiresAt: number | undefined;
}

export interface FetchFailure {
  readonly kind: DownloadErrorKind;
  readonly retryAfterMs: number | undefined;
  /** The attempt received bytes, but none beyond those of earlier attempts. */
  readonly madeNoProgress: boolean;
}

export type NextStep =
  | { readonly step: 'retry'; readonly afterMs: number }
  | { readonly step: 'relink'; readonly afterMs: number }
  | { readonly step: 'end'; readonly status: 'failed' | 'expired' };

/** The next attempt may succeed: a page that says "try again in a moment" comes with status 200 too. */
const BROKEN: ReadonlySet<DownloadErrorKind> = new Set(['wrong-length', 'empty', 'invalid-mp4']);

/** Whether the host sent a broken body; the number of these is limited. */
export const isBroken = ({ kind, madeNoProgress }: Pick<FetchFailure, 'kind' | 'madeNoProgress'>): boolean =>
  madeNoProgress || BROKEN.has(kind);

/**
 * The step after a failed attempt. A refused link is replaced. An unreachable host is retried while the link is valid. The
 * download ends if the host repeats a broken body, or if no retry can change the failure.
 */
export function nextStep(state: FetchState, failure: FetchFailure, now: number): NextStep {
  if (failure.kind === 'link-refused') return relinkOrEnd(state);
  if (failure.kind !== 'retryable' && !BROKEN.has(failure.kind)) return { step: 'end', status: 'failed' };
  if (isBroken(failure) && state.noProgressAttempts + 1 >= MAX_NO_PROGRESS_ATTEMPTS)
    return { step: 'end', status: 'failed' };
  if (state.expiresAt === undefined && now - state.listedAt > MAX_LINK_AGE_MS) return relinkOrEnd(state);
  return { step: 'retry', afterMs: Math.min(retryMs(state, failure), maxWaitMs(state, now)) };
}

function retryMs({ attempt }: FetchState, { retryAfterMs = 0 }: FetchFailure): number {
  return Math.max(retryAfterMs, Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), MAX_RETRY_MS));
}

/** The row is due again when the link expires, even if the host's `Retry-After` is later. */
function maxWaitMs({ expiresAt }: FetchState, now: number): number {
  return expiresAt === undefined ? MAX_RETRY_AFTER_MS : Math.min(Math.max(expiresAt - now, 0), MAX_RETRY_AFTER_MS);
}

/** The first new link is requested at once, later ones after growing delays. */
export function relinkOrEnd({ relinks }: Pick<FetchState, 'relinks'>): NextStep {
  if (relinks >= MAX_RELINKS) return { step: 'end', status: 'expired' };
  return { step: 'relink', afterMs: relinkDelayMs(relinks) };
}

/** How long a recording waits for its next link after `relinks` new links. */
export const relinkDelayMs = (relinks: number): number => (relinks === 0 ? 0 : 1_000 * 2 ** (relinks - 1));

/** Identifies a partly fetched file, so that a later attempt can continue it. */
export interface FileIdentity {
  /** For `If-Range`: a strong `ETag`, or a `Last-Modified` that is strong enough. */
  readonly validator: string;
  /** Bytes of the whole file. */
  readonly total: number;
}

/**
 * The validator for `If-Range`, RFC 9110 section 13.1.5: never a weak ETag, and a date only if it is at least a second
 * older than the response's `Date`, because a file may change twice within one second.
 */
export function strongValidator(headers: IncomingHttpHeaders): string | undefined {
  const { etag, 'last-modified': modified, date } = headers;
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? etag : undefined;
  const age = Date.parse(date ?? '') - Date.parse(modified ?? '');
  return age >= 1000 ? modified : undefined;
}

export interface ContentRange {
  readonly start: number;
  readonly end: number;
  readonly total: number | undefined;
}

export function contentRange(header: string | undefined): ContentRange | undefined {
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(header ?? '');
  if (found === null) return undefined;
  const [start, end] = [Number(found[1]), Number(found[2])];
  const total = found[3] === '*' ? undefined : Number(found[3]);
  return start <= end && (total === undefined || end < total) ? { start, end, total } : undefined;
}

export const contentLength = (headers: IncomingHttpHeaders): number | undefined =>
  /^\d{1,15}$/.test(headers['content-length'] ?? '') ? Number(headers['content-length']) : undefined;

/**
 * Whether a 206 carries exactly the missing bytes of the same file. Servers that ignore `If-Range` send a part of another
 * file; its `ETag` or its total differs.
 */
export function continuesFile({ validator, total }: FileIdentity, from: number, headers: IncomingHttpHeaders): boolean {
  const range = contentRange(headers['content-range']);
  if (range === undefined || range.start !== from || range.end !== total - 1 || range.total !== total) return false;
  const length = contentLength(headers);
  if (length !== undefined && length !== total - from) return false;
  return !validator.startsWith('"') || headers.etag === undefined || headers.etag === validator;
}

/** Whether the end of the body can be distinguished from a broken connection. */
export const hasVisibleEnd = (headers: IncomingHttpHeaders): boolean =>
  contentLength(headers) !== undefined || /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');

/** Whether the body is the file itself, not a compressed form of it. */
export const isUnencoded = (headers: IncomingHttpHeaders): boolean =>
  /^(identity)?$/i.test(headers['content-encoding'] ?? '');
