import { ownField } from '../contracts/common/json.js';
import { storableText } from '../contracts/common/text.js';
import { retryAfterMs } from '../outbound/retry-after.js';
import { type KeyScrubber } from './key-scrubber.js';
import { type FailureFacts, type FailureKind, PartnerFailure, SENTENCES } from './partner-failure.js';

const MAX_CODE_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 500;

export interface StatusContext {
  readonly host: string;
  readonly scrubber: KeyScrubber;
  readonly retryAfter: string | undefined;
  readonly now: Date;
}

/** The failure for a status that the caller does not accept. `body` is empty if it could not be read. */
export function statusFailure(status: number, body: Buffer, context: StatusContext): PartnerFailure {
  const { host, scrubber, now } = context;
  const detail = errorDetail(parsedOrUndefined(body), scrubber);
  const delayMs = retryAfterMs(context.retryAfter, now);
  const facts: FailureFacts = {
    status,
    ...(delayMs === undefined ? {} : { retryAt: new Date(now.getTime() + delayMs) }),
  };
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
export function errorDetail(body: unknown, scrubber: KeyScrubber): string {
  const error = ownField(body, 'error');
  const text = (value: unknown, maxLength: number) =>
    typeof value === 'string' ? scrubber.sentence(storableText(value)).slice(0, maxLength) : undefined;
  const code = text(ownField(error, 'code'), MAX_CODE_LENGTH);
  const message = text(ownField(error, 'message'), MAX_MESSAGE_LENGTH)
    ?.replace(/\s+/g, ' ')
    .replace(/[.\s]+$/, '');
  return `${code === undefined ? '' : ` ${code}`}${message === undefined || message === '' ? '' : `: ${message}`}`;
}

function parsedOrUndefined(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
