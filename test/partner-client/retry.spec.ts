import { describe, expect, test } from '@jest/globals';
import { type FailureKind, PartnerFailure } from '../../src/partner-client/partner-failure.js';
import { nextTryMs, ONE_TRY, READ_RETRY, type RetryPolicy } from '../../src/partner-client/retry-policy.js';

/** As a call may bring it, for what may be sent again whatever became of the first. */
const EAGER: RetryPolicy = { ...READ_RETRY, on: new Set([...READ_RETRY.on, 'timedOut', 'failed']) };
const now = new Date('2026-01-31T08:30:00Z');

describe('the next try', () => {
  const timing = { baseMs: 500, now, random: 0.5 };
  const failure = (kind: FailureKind, retryAfterS?: number) =>
    new PartnerFailure(kind, 'no', {
      ...(retryAfterS === undefined ? {} : { retryAt: new Date(now.getTime() + retryAfterS * 1000) }),
    });

  test.each<[string, PartnerFailure, number, typeof READ_RETRY, number | undefined]>([
    ['first wait', failure('unavailable'), 1, READ_RETRY, 500],
    ['second wait', failure('broken'), 2, READ_RETRY, 1_000],
    ['no fourth try', failure('broken'), 3, READ_RETRY, undefined],
    ['refused connections', failure('unreachable'), 1, READ_RETRY, 500],
    ['429 without a word', failure('rateLimited'), 1, READ_RETRY, 500],
    ['429 that says when', failure('rateLimited', 200), 1, READ_RETRY, 200_000],
    ['429 that says at once', failure('rateLimited', 0), 1, READ_RETRY, 500],
    ['exactly 5 min', failure('rateLimited', 300), 1, READ_RETRY, 300_000],
    ['more than 5 min', failure('rateLimited', 301), 1, READ_RETRY, undefined],
    ['500 of a read', failure('failed'), 1, READ_RETRY, undefined],
    ['500 where the call says so', failure('failed'), 1, EAGER, 500],
    ['lost answer of a read', failure('timedOut'), 1, READ_RETRY, undefined],
    ['lost answer where the call says so', failure('timedOut'), 1, EAGER, 500],
    ['a breach', failure('breach'), 1, READ_RETRY, undefined],
    ['a wrong key', failure('unauthorized'), 1, READ_RETRY, undefined],
    ['a rejection', failure('rejected'), 1, READ_RETRY, undefined],
    ['a refused address', failure('addressRefused'), 1, READ_RETRY, undefined],
    ['one try', failure('unavailable'), 1, ONE_TRY, undefined],
  ])('%s', (_, error, attempt, policy, expected) => expect(nextTryMs(error, attempt, policy, timing)).toBe(expected));

  test('is spread from half to one and a half', () => {
    expect(nextTryMs(failure('broken'), 1, READ_RETRY, { ...timing, random: 0 })).toBe(250);
    expect(nextTryMs(failure('broken'), 1, READ_RETRY, { ...timing, random: 0.999 })).toBeCloseTo(750, -1);
  });
});
