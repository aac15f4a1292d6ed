import { describe, expect, test } from '@jest/globals';
import { backoffMs, retryDelayMs } from '../../../src/core/outbound/backoff.js';
import { defineStates, InvalidTransitionError, type StateOf } from '../../../src/core/work/states.js';

const REQUEST = defineStates('a video request', {
  submitting: ['processing', 'failed'],
  processing: ['ready', 'failed'],
  ready: [],
  failed: [],
});

describe('a table of allowed transitions', () => {
  const states = ['submitting', 'processing', 'ready', 'failed'] as const satisfies StateOf<typeof REQUEST>[];
  const allowed = ['submitting>processing', 'submitting>failed', 'processing>ready', 'processing>failed'];

  test.each(states.flatMap((from) => states.map((to) => [from, to] as const)))('%s to %s', (from, to) => {
    const move = () => REQUEST.assertTransition(from, to);
    if (allowed.includes(`${from}>${to}`)) expect(move).not.toThrow();
    else expect(move).toThrow(new InvalidTransitionError('a video request', from, to));
    expect(REQUEST.canTransition(from, to)).toBe(allowed.includes(`${from}>${to}`));
  });

  test('returns all states, the final states and the predecessors of a state', () => {
    expect(REQUEST.all).toEqual(states);
    expect(states.filter((state) => REQUEST.isFinal(state))).toEqual(['ready', 'failed']);
    expect(REQUEST.predecessors('failed')).toEqual(['submitting', 'processing']);
    expect(REQUEST.predecessors('submitting')).toEqual([]);
  });
});

const rule = { firstMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.2 };
const DAY_MS = 86_400_000;
const now = new Date('2026-01-31T08:30:00Z');

describe('backoffMs', () => {
  test.each([
    [1, 0.5, 1_000],
    [2, 0.5, 2_000],
    [6, 0.5, 32_000],
    [7, 0.5, 60_000],
    [1e9, 0.5, 60_000],
    [0, 0.5, 1_000],
    [1, 0, 800],
    [1, 0.75, 1_100],
    [9, 0, 48_000],
  ])('failure %d with chance %d: %d ms', (attempt, random, expected) => {
    expect(backoffMs(rule, attempt, random)).toBe(expected);
  });
});

describe('retryDelayMs', () => {
  test.each<[string, unknown, number]>([
    ['an error without advice follows the rule', new Error('no'), 4_000],
    ['a delay of the job', Object.assign(new Error(), { delayMs: 1_500 }), 1_500],
    ['a delay of the job that is too short', Object.assign(new Error(), { delayMs: 0 }), 1_000],
    ['retryAt', Object.assign(new Error(), { retryAt: new Date('2026-01-31T10:30:00Z') }), 7_200_000],
    ['a delay of years', Object.assign(new Error(), { delayMs: 999_999_999_000 }), DAY_MS],
    ['a retryAt before the delay of the rule', Object.assign(new Error(), { retryAt: new Date(+now + 1_000) }), 4_000],
    ['retryAt in years', Object.assign(new Error(), { retryAt: new Date('2057-01-31T08:30:00Z') }), DAY_MS],
    ['retryAt in the past', Object.assign(new Error(), { retryAt: new Date('2026-01-31T08:00:00Z') }), 4_000],
    ['a retryAt that is an invalid date', Object.assign(new Error(), { retryAt: new Date('never') }), 4_000],
    ['a retryAt of another type', Object.assign(new Error(), { retryAt: 'soon' }), 4_000],
    ['a value that is not an error', undefined, 4_000],
  ])('%s', (_, error, expected) => expect(retryDelayMs(error, rule, 3, now, 0.5)).toBe(expected));
});
