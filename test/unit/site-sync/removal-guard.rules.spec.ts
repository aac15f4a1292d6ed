import { describe, expect, test } from '@jest/globals';
import { holdsRemovals, type RemovalCounts } from '../../../src/site-sync/sync/removal-guard.rules.js';

/** Decision 35, as a table: nothing is held yet unless a case says so. */
function drop(activeBefore: number, absent: number, change: Partial<RemovalCounts> = {}): RemovalCounts {
  return {
    activeBefore,
    absent,
    remaining: activeBefore - absent,
    held: 0,
    stillAbsent: 0,
    rejectedAbsent: 0,
    ...change,
  };
}

describe('the removal guard', () => {
  test.each<[string, RemovalCounts, boolean]>([
    ['nothing is absent', drop(100, 0), false],
    ['nothing is absent, and nothing was there', drop(0, 0), false],
    ['the only one is absent', drop(1, 1), true],
    ['all of three are absent: zero, though fewer than six', drop(3, 3), true],
    ['all are absent, but others have come', drop(3, 3, { remaining: 3 }), false],
    ['the last active one is absent, the others were stated inactive', drop(3, 1, { remaining: 0 }), true],
    ['all were stated inactive, none is absent', drop(3, 0, { remaining: 0 }), false],
    ['five of six: more than a fifth, not more than five', drop(6, 5), false],
    ['six of seven', drop(7, 6), true],
    ['six of thirty: a fifth, not more', drop(30, 6), false],
    ['six of twenty-nine: more than a fifth', drop(29, 6), true],
    ['a fifth of a thousand', drop(1000, 200), false],
    ['one more than a fifth of a thousand', drop(1000, 201), true],
    ['all of many are absent, as many others have come', drop(10, 10, { remaining: 10 }), true],
  ])('%s', (_what, given, expected) => {
    expect(holdsRemovals(given)).toBe(expected);
  });

  test.each<[string, RemovalCounts, boolean]>([
    ['one record whose removal was rejected', drop(100, 1, { rejectedAbsent: 1 }), true],
    ['the same absence', drop(10, 6, { held: 6, stillAbsent: 6 }), true],
    ['the same absence, a small share by now', drop(1000, 6, { held: 6, stillAbsent: 6 }), true],
    ['the same of an empty list, others have come', drop(4, 3, { remaining: 1, held: 3, stillAbsent: 3 }), true],
    ['the same absence of one', drop(10, 1, { held: 1, stillAbsent: 1 }), true],
    ['the same absence and more', drop(1000, 9, { held: 6, stillAbsent: 6 }), true],
    ['some have come back, and few are left', drop(10, 5, { held: 6, stillAbsent: 5 }), false],
    ['some have come back, and many are left', drop(20, 15, { held: 16, stillAbsent: 15 }), true],
    ['all have come back', drop(10, 0, { held: 6, stillAbsent: 0 }), false],
    ['others are absent now', drop(100, 7, { held: 6, stillAbsent: 0 }), false],
  ])('while removals are held: %s', (_what, given, expected) => {
    expect(holdsRemovals(given)).toBe(expected);
  });
});
