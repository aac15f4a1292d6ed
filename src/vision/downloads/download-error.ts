import type { RecordingReason } from '../../contracts/admin/recordings.routes.js';
import type { InvalidMp4Error } from '../../core/media/mp4-box-validator.js';
import { networkFailure } from '../../core/outbound/network-errors.js';
import { retryAfterDate } from '../../core/outbound/retry-after.js';

/** How a download fails: whether the bytes received so far are kept for another attempt, and the code of a recording that ends so. */
const FAILURES = {
  /** The host is busy or unreachable, the connection broke, the body was cut off, or a timeout passed. */
  retryable: { keepsBytes: true, code: 'unreachable' },
  /** The signal was aborted. */
  cancelled: { keepsBytes: true, code: 'interrupted' },
  /** 400, 401, 403, 404, 410. */
  'link-refused': { keepsBytes: true, code: 'linkRefused' },
  /** Decision 50 does not allow the address. */
  'address-refused': { keepsBytes: false, code: 'addressRefused' },
  'bad-answer': { keepsBytes: false, code: 'linkRefused' },
  'too-large': { keepsBytes: false, code: 'tooLarge' },
  'wrong-length': { keepsBytes: false, code: 'invalidFile' },
  empty: { keepsBytes: false, code: 'invalidFile' },
  'invalid-mp4': { keepsBytes: false, code: 'invalidFile' },
} as const satisfies Record<string, { keepsBytes: boolean; code: RecordingReason }>;

export type DownloadErrorKind = keyof typeof FAILURES;

export const reasonOf = (kind: DownloadErrorKind): RecordingReason => FAILURES[kind].code;

/** `message` is a sentence for an admin. It names hosts, but no paths or queries, because signed links are secrets. */
export class DownloadError extends Error {
  readonly keepsBytes: boolean;
  /** The host's `Retry-After`. */
  readonly retryAt: Date | undefined;
  /** Of an answer that says "later". */
  readonly status: number | undefined;
  /** The host sent no response at all. */
  readonly isUnreached: boolean;
  /** 429 concerns all files of the host; a 503 may be about one file. */
  readonly pauseUntil: Date | undefined;

  constructor(
    readonly kind: DownloadErrorKind,
    message: string,
    options: {
      readonly status?: number;
      readonly retryAt?: Date | undefined;
      readonly isUnreached?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'DownloadError';
    this.keepsBytes = FAILURES[kind].keepsBytes;
    this.retryAt = options.retryAt;
    this.status = options.status;
    this.isUnreached = options.isUnreached === true;
    this.pauseUntil = options.status === 429 ? options.retryAt : undefined;
  }
}

/** The download is retried later, although it has not failed: its host or the storage is paused. */
export class RetryLaterError extends Error {
  /** For the log of the jobs: a warning, not an error. */
  readonly expected = true;
  constructor(
    message: string,
    readonly delayMs: number,
    /** Whether it counts towards the maximum of attempts. */
    readonly isAttempt = false,
  ) {
    super(message);
    this.name = 'RetryLaterError';
  }
}

/** With jitter, so that the rows that wait for a pause are not due at the same moment. */
export const retryLater = (message: string, until: Date): RetryLaterError =>
  new RetryLaterError(message, until.getTime() - Date.now() + Math.random() * 1_000);

export const tooLarge = (host: string, maxBytes: number): DownloadError =>
  new DownloadError('too-large', `The file of ${host} is larger than ${maxBytes} bytes.`);

/** `contentType` is shown as far as it is a media type. */
export function invalidMp4(
  host: string | undefined,
  contentType: string | undefined,
  cause: InvalidMp4Error,
): DownloadError {
  const [type] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(contentType ?? '') ?? [];
  const file = `The file of ${host ?? 'the host'}${type === undefined ? '' : `, sent as ${type},`}`;
  return new DownloadError('invalid-mp4', `${file} is not a valid MP4: ${cause.message}.`, { cause });
}

/** 400 is the answer of S3 and of Google's storage to an expired session token. */
const REFUSED = new Set([400, 401, 403, 404, 410]);
const LATER = new Set([202, 408, 409, 423, 425, 429]);

/** For a status that is neither 200, 206 nor a redirect. */
export function statusError(host: string, status: number, retryAfter: string | undefined, now: Date): DownloadError {
  const retryAt = retryAfterDate(retryAfter, now);
  if (LATER.has(status) || status >= 500 || retryAt !== undefined)
    return new DownloadError('retryable', `${host} answered ${status}.`, { status, retryAt });
  if (REFUSED.has(status)) return new DownloadError('link-refused', `${host} refused the link with ${status}.`);
  return new DownloadError('bad-answer', `${host} answered ${status} instead of the file.`);
}

/** Of an error of the connection to the host, before its response or during it. */
export function connectionError(host: string, error: unknown, hasResponse: boolean): DownloadError {
  if (error instanceof DownloadError) return error;
  const { kind, message } = networkFailure(error, host, hasResponse);
  if (kind === 'addressRefused') return new DownloadError('address-refused', message, { cause: error });
  return new DownloadError('retryable', message, { cause: error, isUnreached: !hasResponse });
}
