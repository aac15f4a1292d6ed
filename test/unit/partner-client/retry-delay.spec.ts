import { describe, expect, test } from '@jest/globals';
import { type FailureKind, PartnerFailure, nextAttemptMs } from '../../../src/partner-client/partner-failure.js';

const now = new Date('2026-01-31T08:30:00Z');

describe('the delay before a retry', () => {
  const timing = { rule: { firstMs: 500, factor: 2, maxMs: 60_000, jitter: 0.5 }, now, random: 0.5 };
  const failure = (kind: FailureKind, retryAfterS?: number) =>
    new PartnerFailure(kind, 'no', {
      ...(retryAfterS === undefined ? {} : { retryAt: new Date(now.getTime() + retryAfterS * 1000) }),
    });

  test.each<[string, PartnerFailure, number, number | undefined]>([
    ['first wait', failure('unavailable'), 1, 500],
    ['second wait', failure('broken'), 2, 1_000],
    ['no fourth try', failure('broken'), 3, undefined],
    ['refused connections', failure('unreachable'), 1, 500],
    ['429 without Retry-After', failure('rateLimited'), 1, 500],
    ['429 with Retry-After', failure('rateLimited', 200), 1, 200_000],
    ['429 with a Retry-After of 0', failure('rateLimited', 0), 1, 500],
    ['exactly 5 min', failure('rateLimited', 300), 1, 300_000],
    ['more than 5 min', failure('rateLimited', 301), 1, undefined],
    ['a millisecond more', failure('rateLimited', 300.001), 1, undefined],
    ['500 of a read', failure('failed'), 1, undefined],
    ['lost answer of a read', failure('timedOut'), 1, undefined],
    ['a breach', failure('breach'), 1, undefined],
    ['a wrong key', failure('unauthorized'), 1, undefined],
    ['a rejection', failure('rejected'), 1, undefined],
    ['a refused address', failure('addressRefused'), 1, undefined],
  ])('%s', (_, error, attempt, expected) => expect(nextAttemptMs(error, attempt, timing)).toBe(expected));

  test('varies from half to one and a half', () => {
    expect(nextAttemptMs(failure('broken'), 1, { ...timing, random: 0 })).toBe(250);
    expect(nextAttemptMs(failure('broken'), 1, { ...timing, random: 0.999 })).toBeCloseTo(750, -1);
  });
});
