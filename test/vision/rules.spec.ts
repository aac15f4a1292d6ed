import { describe, expect, test } from '@jest/globals';
import { countAtRisk } from '../../src/vision/downloads/download-metrics.js';
import { type FetchState, type NextStep, nextStep } from '../../src/vision/downloads/next-step.rules.js';
import { fetchBy } from '../../src/vision/recordings/recording.rules.js';
import { tell } from '../support/faults.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('a link that says nothing of its end is fetched as if it lived an hour (decision 47)', () => {
  const now = Date.parse('2026-01-31T08:00:00Z');
  expect(fetchBy('2026-01-31T08:59:59.999999Z', now)).toEqual(new Date('2026-01-31T08:59:59.999Z'));
  expect(fetchBy(undefined, now)).toEqual(new Date('2026-01-31T09:00:00Z'));
});

describe('what becomes of a download', () => {
  const state: FetchState = { relinks: 0, noProgressAttempts: 0, attempt: 1, listedAt: 0, expiresAt: 9 * HOUR };
  const fails = (
    kind: Parameters<typeof nextStep>[1]['kind'],
    more: Partial<FetchState> = {},
    madeNoProgress = false,
  ) => nextStep({ ...state, ...more }, { kind, retryAfterMs: undefined, madeNoProgress }, HOUR);

  test('a refused link is replaced, five times, at growing distances', () => {
    const steps = [0, 1, 2, 3, 4, 5].map((relinks) => fails('link-refused', { relinks }));
    expect(steps).toEqual([
      ...[0, 1000, 2000, 4000, 8000].map((afterMs) => ({ step: 'relink', afterMs })),
      { step: 'end', status: 'expired' },
    ]);
  });

  test('a host that is away is asked again at growing distances', () => {
    const steps = [1, 2, 3, 6, 7, 2_000].map((attempt) => fails('retryable', { attempt }));
    expect(steps).toEqual([1_000, 2_000, 4_000, 32_000, MINUTE, MINUTE].map((afterMs) => ({ step: 'retry', afterMs })));
  });

  test('a host that is away is waited for as long as the link lives', () => {
    expect(fails('retryable', { attempt: 500 })).toEqual({ step: 'retry', afterMs: MINUTE });
    expect(nextStep(state, { kind: 'retryable', retryAfterMs: 90_000, madeNoProgress: false }, 0)).toEqual({
      step: 'retry',
      afterMs: 90_000,
    });
  });

  test.each<[string, number | undefined, number, NextStep]>([
    [
      'for a day where its link does not say how long it lives',
      undefined,
      24 * HOUR,
      { step: 'retry', afterMs: 1_000 },
    ],
    ['no longer than that', undefined, 24 * HOUR + 1, { step: 'relink', afterMs: 0 }],
    ['longer where it does', 90 * HOUR, 24 * HOUR + 1, { step: 'retry', afterMs: 1_000 }],
  ])('it is waited for %s', (_, life, waitedMs, step) => {
    const [listedAt, failure] = [
      9 * HOUR,
      { kind: 'retryable', retryAfterMs: undefined, madeNoProgress: false } as const,
    ];
    const expiresAt = life === undefined ? undefined : listedAt + life;
    expect(nextStep({ ...state, listedAt, expiresAt }, failure, listedAt + waitedMs)).toEqual(step);
  });

  test.each<[string, number | undefined, number]>([
    ['not beyond the end of the link', 9 * HOUR, 8 * HOUR],
    ['not beyond its end where that has come', HOUR, 0],
    ['not beyond its end where that is past', HOUR - MINUTE, 0],
    ['no longer than a day where the link lives on', 90 * HOUR, 24 * HOUR],
    ['no longer than a day where the link does not say', undefined, 24 * HOUR],
  ])('a host that asks for 30 hours is waited for, but %s', (_, expiresAt, afterMs) => {
    const failure = { kind: 'retryable', retryAfterMs: 30 * HOUR, madeNoProgress: false } as const;
    expect(nextStep({ ...state, expiresAt }, failure, HOUR)).toEqual({ step: 'retry', afterMs });
  });

  test('a body that breaks at the same place again and again is given up', () => {
    expect(fails('retryable', { noProgressAttempts: 3 }, true).step).toBe('retry');
    expect(fails('retryable', { noProgressAttempts: 4 }, true)).toEqual({ step: 'end', status: 'failed' });
  });

  test.each(['wrong-length', 'empty', 'invalid-mp4'] as const)('so is one that is %s', (kind) => {
    expect(fails(kind, { noProgressAttempts: 3 })).toEqual({ step: 'retry', afterMs: 1_000 });
    expect(fails(kind, { noProgressAttempts: 4 })).toEqual({ step: 'end', status: 'failed' });
  });

  test('a host that is away, or gets on, is not given up for what it sent before', () => {
    expect(fails('retryable', { noProgressAttempts: 4 }).step).toBe('retry');
  });

  test.each(['address-refused', 'bad-answer', 'too-large'] as const)('%s is the end', (kind) => {
    expect(fails(kind)).toEqual({ step: 'end', status: 'failed' });
  });
});

describe('at risk', () => {
  const pace = { fileMs: 10_000, perConnection: 2, inAll: 3 };
  const waiting = (count: number, expiresAt: number | undefined, connectionId = 'a') =>
    Array.from({ length: count }, () => ({ connectionId, expiresAt }));

  test('what the connection cannot begin before its links die', () => {
    expect(countAtRisk(waiting(6, 20_001), pace, 0)).toBe(0);
    expect(countAtRisk(waiting(7, 20_001), pace, 0)).toBe(1);
    expect(countAtRisk(waiting(7, undefined), pace, 0)).toBe(0);
    expect(countAtRisk(waiting(2, -1), pace, 0)).toBe(2);
    expect(countAtRisk(waiting(1, 0), pace, 0)).toBe(1);
  });

  test('what is at risk already takes no place', () => {
    expect(countAtRisk([...waiting(2, -1), ...waiting(2, 5_000)], pace, 0)).toBe(2);
  });

  test('the earliest end comes first, and last what does not say', () => {
    const mixed = [...waiting(1, undefined), ...waiting(2, 5_000), ...waiting(1, undefined), ...waiting(2, 15_000)];
    expect(countAtRisk(mixed, pace, 0)).toBe(0);
    expect(countAtRisk(mixed.reverse(), pace, 0)).toBe(0);
  });

  test('what all of them together cannot begin', () => {
    expect(countAtRisk([...waiting(2, 5_000), ...waiting(2, 5_000, 'b')], pace, 0)).toBe(1);
  });
});

describe('the order of downloads', () => {
  /** Files that begin before their links die, one slot, each taking `fileMs`; a dead link takes no time. */
  const inTime = (links: readonly number[], fileMs: number): number => {
    let now = 0;
    return links.filter((expiresAt) => {
      if (now >= expiresAt) return false;
      now += fileMs;
      return true;
    }).length;
  };
  // A generator with a seed: every run is the same.
  const links = (count: number, most: number): number[] => {
    let seed = 42;
    return Array.from({ length: count }, () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % most);
  };
  const byEnd = (list: readonly number[]) => [...list].sort((a, b) => a - b);

  test('the earliest end first fetches everything where anything can', () => {
    const possible = Array.from({ length: 100 }, (_, i) => i * 10 + 1).reverse();
    expect(inTime(byEnd(possible), 10)).toBe(100);
    expect(inTime(possible, 10)).toBeLessThan(60);
  });

  test('where not everything can be, no order fetches more, and first in first out fetches fewer', () => {
    const many = links(2_000, 10_000);
    const best = inTime(byEnd(many), 10);
    expect(best).toBe(1_000);
    expect(inTime(many, 10)).toBeLessThan(best * 0.9);
    tell('downloads', { 'in time, of 2,000': best, 'first in first out': inTime(many, 10) });
  });
});
