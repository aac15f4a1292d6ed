import { retryAfterMs } from '../../outbound/retry-after.js';
import { errorCode, type NotAFilm, sentenceOf } from '../storage-errors.js';

/**
 * Every way in which a download fails, beside `StorageUnavailable`, and whether the bytes that came are kept for
 * another try. Whether there is one is for the caller to decide.
 */
const KEEPS_BYTES = {
  /** The host is busy or away, the connection broke, the body was cut off, a time limit passed. */
  retryable: true,
  /** The signal was given. */
  cancelled: true,
  /** 401, 403, 404, 410. */
  'link-refused': true,
  /** The guard of decision 50. */
  'address-refused': false,
  'bad-answer': false,
  'too-large': false,
  'wrong-length': false,
  empty: false,
  /** Not an MP4, or not whole in its boxes. */
  'not-a-film': false,
} as const satisfies Record<string, boolean>;

export type DownloadFailureKind = keyof typeof KEEPS_BYTES;

/** `message` is a sentence for an admin; it names hosts, never paths or queries, since signed links are secrets. */
export class DownloadFailed extends Error {
  readonly keepsBytes: boolean;
  /** What the host asked for by `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly kind: DownloadFailureKind,
    message: string,
    options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'DownloadFailed';
    this.keepsBytes = KEEPS_BYTES[kind];
    this.retryAfterMs = options.retryAfterMs;
  }
}

export const tooLarge = (host: string, maxBytes: number): DownloadFailed =>
  new DownloadFailed('too-large', `The file of ${host} is larger than ${maxBytes} bytes.`);

/** `host` and `type` are of the answer, where there was one; a type is shown as far as it is one. */
export function noFilm(host: string | undefined, type: string | undefined, why: NotAFilm): DownloadFailed {
  const [named] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(type ?? '') ?? [];
  const sent = `What ${host ?? 'the host'} sent${named === undefined ? '' : ` as ${named}`}`;
  return new DownloadFailed('not-a-film', `${sent} is no MP4 film: ${why.message}.`, { cause: why });
}

const REFUSED = new Set([401, 403, 404, 410]);
const PASSING = new Set([408, 425, 429]);

/** An answer whose status is neither 200 nor 206, nor a redirect. */
export function statusFailure(host: string, status: number, retryAfter: string | undefined, now: Date) {
  if (REFUSED.has(status)) return new DownloadFailed('link-refused', `${host} refused the link with ${status}.`);
  if (PASSING.has(status) || status >= 500)
    return new DownloadFailed('retryable', `${host} answered ${status}.`, {
      retryAfterMs: retryAfterMs(retryAfter, now),
    });
  return new DownloadFailed('bad-answer', `${host} answered ${status} instead of the file.`);
}

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'takes no connection',
  ECONNRESET: 'broke the connection',
  EPIPE: 'broke the connection',
  ENOTFOUND: 'has an unknown name',
  EAI_AGAIN: 'has a name that could not be resolved just now',
  ETIMEDOUT: 'could not be reached in time',
  EHOSTUNREACH: 'could not be reached',
  ENETUNREACH: 'could not be reached',
};

/** An error of the connection, or of what came over it. The guard's refusals are told by their code. */
export function connectionFailure(host: string, error: unknown): DownloadFailed {
  if (error instanceof DownloadFailed) return error;
  const code = errorCode(error) ?? '';
  if (code === 'ADDRESS_REFUSED') return new DownloadFailed('address-refused', sentenceOf(error), { cause: error });
  if (code.startsWith('HPE_'))
    return new DownloadFailed('retryable', `${host} broke HTTP (${code}).`, { cause: error });
  const words = WORDS[code] ?? `failed (${code || sentenceOf(error)})`;
  return new DownloadFailed('retryable', `${host} ${words}.`, { cause: error });
}
