import { describe, expect, test } from '@jest/globals';
import { nextRunAfterFailureMs, nextRunMs } from '../../../src/site-sync/sync/schedule.rules.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('when the next run is due (decision 36)', () => {
  test('after the interval, a tenth more or less', () => {
    expect([0, 0.5, 1].map((random) => nextRunMs(900, random))).toEqual([13.5 * MINUTE, 15 * MINUTE, 16.5 * MINUTE]);
  });

  test.each<[string, number, number, number | undefined, number]>([
    ['the first failure: as always', 900, 1, undefined, 15 * MINUTE],
    ['the second', 900, 2, undefined, 30 * MINUTE],
    ['the third: an hour', 900, 3, undefined, HOUR],
    ['the fourth: an hour', 900, 4, undefined, HOUR],
    ['the thousandth: an hour, never stopped for good', 900, 1000, undefined, HOUR],
    ['a minute doubles too', 60, 3, undefined, 4 * MINUTE],
    ['a minute doubles up to an hour', 60, 7, undefined, HOUR],
    ['two hours stay two hours', 7_200, 2, undefined, 2 * HOUR],
    ['a day stays a day', 86_400, 9, undefined, DAY],
    ['Retry-After within five minutes was honoured within the run', 900, 1, 5 * MINUTE, 15 * MINUTE],
    ['Retry-After of the last try, longer than the interval: not before', 60, 1, 4 * MINUTE, 4 * MINUTE],
    ['Retry-After beyond it, shorter than the interval', 900, 1, 10 * MINUTE, 15 * MINUTE],
    ['Retry-After beyond it, longer than the interval: due then', 900, 1, 20 * MINUTE, 20 * MINUTE],
    ['Retry-After beyond it, shorter than the backoff', 900, 9, 20 * MINUTE, HOUR],
    ['Retry-After of a year: a day', 900, 1, 365 * DAY, DAY],
    ['Retry-After in the past', 900, 1, -DAY, 15 * MINUTE],
  ])('%s', (_what, intervalSeconds, failures, asked, expected) => {
    const retryAt = asked === undefined ? undefined : new Date(NOW.getTime() + asked);
    expect(nextRunAfterFailureMs({ intervalSeconds, failures, retryAt, now: NOW }, 0.5)).toBe(expected);
  });

  test('failures are spread too', () => {
    const failed = { intervalSeconds: 600, failures: 1, retryAt: undefined, now: NOW };
    expect([0, 1].map((random) => nextRunAfterFailureMs(failed, random))).toEqual([9 * MINUTE, 11 * MINUTE]);
  });
});
