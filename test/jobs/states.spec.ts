import { describe, expect, test } from '@jest/globals';
import { defineStates, InvalidTransitionError, type StateOf } from '../../src/jobs/states.js';

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

  test('refuses a state that it does not have', () => {
    expect(() => REQUEST.assertTransition('gone' as 'ready', 'failed')).toThrow('cannot move from gone to failed');
  });
});
