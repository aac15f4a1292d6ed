import { describe, expect, test } from '@jest/globals';
import { type FailureKind, PartnerFailure } from '../../src/partner-client/partner-failure.js';
import { retryAfterMs } from '../../src/partner-client/retry-after.js';
import { nextTryMs, ONE_TRY, READ_RETRY, SUBMIT_RETRY } from '../../src/partner-client/retry-policy.js';

const now = new Date('2026-01-31T08:30:00Z');

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    ['0', 0],
    ['1.5', 1_500],
    ['0.0004', 1],
    [' 7 ', 7_000],
    ['Sat, 31 Jan 2026 08:31:30 GMT', 90_000],
    ['Saturday, 31-Jan-26 08:31:30 GMT', 90_000],
    ['Sat Jan 31 08:31:30 2026', 90_000],
    ['Sat, 31 Jan 2026 08:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['2026-01-31T08:31:30Z', undefined],
    ['1e9', undefined],
    ['Sat, 99 Jan 2026 08:31:30 GMT', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s ms', (header, expected) => expect(retryAfterMs(header, now)).toBe(expected));
});

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
    ['500 of a submit', failure('failed'), 1, SUBMIT_RETRY, 500],
    ['lost answer of a read', failure('timedOut'), 1, READ_RETRY, undefined],
    ['lost answer of a submit', failure('timedOut'), 1, SUBMIT_RETRY, 500],
    ['a breach', failure('breach'), 1, SUBMIT_RETRY, undefined],
    ['a wrong key', failure('unauthorized'), 1, SUBMIT_RETRY, undefined],
    ['a rejection', failure('rejected'), 1, SUBMIT_RETRY, undefined],
    ['a refused address', failure('addressRefused'), 1, SUBMIT_RETRY, undefined],
    ['one try', failure('unavailable'), 1, ONE_TRY, undefined],
  ])('%s', (_, error, attempt, policy, expected) => expect(nextTryMs(error, attempt, policy, timing)).toBe(expected));

  test('is spread from half to one and a half', () => {
    expect(nextTryMs(failure('broken'), 1, READ_RETRY, { ...timing, random: 0 })).toBe(250);
    expect(nextTryMs(failure('broken'), 1, READ_RETRY, { ...timing, random: 0.999 })).toBeCloseTo(750, -1);
  });
});
