import { describe, expect, test } from '@jest/globals';
import { countAtRisk } from '../../../src/vision/downloads/download-metrics.js';
import { type FetchState, type NextStep, nextStep } from '../../../src/vision/downloads/download.rules.js';
import { fetchBy } from '../../../src/vision/recordings/recording.rules.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('a link without an expiry is treated as if it lived an hour (decision 47)', () => {
  const now = Date.parse('2026-01-31T08:00:00Z');
  expect(fetchBy('2026-01-31T08:59:59.999999Z', now)).toEqual(new Date('2026-01-31T08:59:59.999Z'));
  expect(fetchBy(undefined, now)).toEqual(new Date('2026-01-31T09:00:00Z'));
});

describe('the next step after a failed download', () => {
  const state: FetchState = { relinks: 0, noProgressAttempts: 0, attempt: 1, listedAt: 0, expiresAt: 9 * HOUR };
  const fails = (
    kind: Parameters<typeof nextStep>[1]['kind'],
    more: Partial<FetchState> = {},
    madeNoProgress = false,
  ) => nextStep({ ...state, ...more }, { kind, retryAfterMs: undefined, madeNoProgress }, HOUR);

  test('a refused link is replaced five times, after growing delays', () => {
    const steps = [0, 1, 2, 3, 4, 5].map((relinks) => fails('link-refused', { relinks }));
    expect(steps).toEqual([
      ...[0, 1000, 2000, 4000, 8000].map((afterMs) => ({ step: 'relink', afterMs })),
      { step: 'end', status: 'expired' },
    ]);
  });

  test('an unavailable host is retried after growing delays', () => {
    const steps = [1, 2, 3, 6, 7, 2_000].map((attempt) => fails('retryable', { attempt }));
    expect(steps).toEqual([1_000, 2_000, 4_000, 32_000, MINUTE, MINUTE].map((afterMs) => ({ step: 'retry', afterMs })));
  });

  test('an unavailable host is retried as long as the link lives', () => {
    expect(fails('retryable', { attempt: 500 })).toEqual({ step: 'retry', afterMs: MINUTE });
    expect(nextStep(state, { kind: 'retryable', retryAfterMs: 90_000, madeNoProgress: false }, 0)).toEqual({
      step: 'retry',
      afterMs: 90_000,
    });
  });

  test.each<[string, number | undefined, number, NextStep]>([
    ['for a day if its link has no expiry', undefined, 24 * HOUR, { step: 'retry', afterMs: 1_000 }],
    ['no longer than a day', undefined, 24 * HOUR + 1, { step: 'relink', afterMs: 0 }],
    ['longer if its link lives longer', 90 * HOUR, 24 * HOUR + 1, { step: 'retry', afterMs: 1_000 }],
  ])('an unavailable host is retried %s', (_, life, waitedMs, step) => {
    const [listedAt, failure] = [
      9 * HOUR,
      { kind: 'retryable', retryAfterMs: undefined, madeNoProgress: false } as const,
    ];
    const expiresAt = life === undefined ? undefined : listedAt + life;
    expect(nextStep({ ...state, listedAt, expiresAt }, failure, listedAt + waitedMs)).toEqual(step);
  });

  test.each<[string, number | undefined, number]>([
    ['not beyond the expiry of the link', 9 * HOUR, 8 * HOUR],
    ['not beyond an expiry at this moment', HOUR, 0],
    ['not beyond a past expiry', HOUR - MINUTE, 0],
    ['no longer than a day if the link lives longer', 90 * HOUR, 24 * HOUR],
    ['no longer than a day if the link has no expiry', undefined, 24 * HOUR],
  ])('a Retry-After of 30 hours is respected, but %s', (_, expiresAt, afterMs) => {
    const failure = { kind: 'retryable', retryAfterMs: 30 * HOUR, madeNoProgress: false } as const;
    expect(nextStep({ ...state, expiresAt }, failure, HOUR)).toEqual({ step: 'retry', afterMs });
  });

  test('a body that breaks off at the same byte five times ends the download', () => {
    expect(fails('retryable', { noProgressAttempts: 3 }, true).step).toBe('retry');
    expect(fails('retryable', { noProgressAttempts: 4 }, true)).toEqual({ step: 'end', status: 'failed' });
  });

  test.each(['wrong-length', 'empty', 'invalid-mp4'] as const)('a fifth file that is %s ends the download', (kind) => {
    expect(fails(kind, { noProgressAttempts: 3 })).toEqual({ step: 'retry', afterMs: 1_000 });
    expect(fails(kind, { noProgressAttempts: 4 })).toEqual({ step: 'end', status: 'failed' });
  });

  test('a host that is unavailable or makes progress does not end it, whatever it sent before', () => {
    expect(fails('retryable', { noProgressAttempts: 4 }).step).toBe('retry');
  });

  test.each(['address-refused', 'bad-answer', 'too-large'] as const)('%s ends the download', (kind) => {
    expect(fails(kind)).toEqual({ step: 'end', status: 'failed' });
  });
});

describe('recordings at risk', () => {
  const rate = { fileMs: 10_000, perConnection: 2, inAll: 3 };
  const waiting = (count: number, expiresAt: number | undefined, connectionId = 'a') =>
    Array.from({ length: count }, () => ({ connectionId, expiresAt }));

  test('are those that the connection cannot start before their links expire', () => {
    expect(countAtRisk(waiting(6, 20_001), rate, 0)).toBe(0);
    expect(countAtRisk(waiting(7, 20_001), rate, 0)).toBe(1);
    expect(countAtRisk(waiting(7, undefined), rate, 0)).toBe(0);
    expect(countAtRisk(waiting(2, -1), rate, 0)).toBe(2);
    expect(countAtRisk(waiting(1, 0), rate, 0)).toBe(1);
  });

  test('do not delay the others', () => {
    expect(countAtRisk([...waiting(2, -1), ...waiting(2, 5_000)], rate, 0)).toBe(2);
  });

  test('are counted in the order of their expiry, without an expiry last', () => {
    const mixed = [...waiting(1, undefined), ...waiting(2, 5_000), ...waiting(1, undefined), ...waiting(2, 15_000)];
    expect(countAtRisk(mixed, rate, 0)).toBe(0);
    expect(countAtRisk(mixed.reverse(), rate, 0)).toBe(0);
  });

  test('include those that all connections together cannot start', () => {
    expect(countAtRisk([...waiting(2, 5_000), ...waiting(2, 5_000, 'b')], rate, 0)).toBe(1);
  });
});
