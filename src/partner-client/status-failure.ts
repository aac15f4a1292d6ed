import { retryAfterMs } from '../outbound/retry-after.js';
import { saidText } from './error-body.js';
import type { RawAnswer } from './exchange.js';
import { SENTENCES } from './failure-sentences.js';
import type { KeyScrubber } from './key-scrubber.js';
import { type FailureFacts, type FailureKind, PartnerFailure } from './partner-failure.js';

const UNAVAILABLE: readonly number[] = [502, 503, 504];

/** The failure that a status which is no answer stands for, with what the partner said about it. */
export function statusFailure(raw: RawAnswer, host: string, scrubber: KeyScrubber, now: Date): PartnerFailure {
  const { status } = raw;
  const text = saidText(raw.bytes, scrubber);
  const retryAfter = retryAfterMs(raw.header('retry-after'), now);
  const facts: FailureFacts = {
    status,
    ...(retryAfter === undefined ? {} : { retryAt: new Date(now.getTime() + retryAfter) }),
  };
  const failure = (kind: FailureKind, sentence: string) => new PartnerFailure(kind, sentence, facts);
  if (status === 429) return failure('rateLimited', SENTENCES.rateLimited(host, text));
  if (UNAVAILABLE.includes(status)) return failure('unavailable', SENTENCES.unavailable(host, status, text));
  if (status >= 500) return failure('failed', SENTENCES.failed(host, status, text));
  if (status >= 400) return failure('rejected', SENTENCES.rejected(host, status, text));
  if (status >= 300 && status !== 304) return failure('redirected', SENTENCES.redirected(host, status));
  return failure('breach', SENTENCES.unexpectedStatus(host, status));
}
