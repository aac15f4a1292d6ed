import { describe, expect, test } from '@jest/globals';
import { PartnerFailure } from '../../../src/partner-client/partner-failure.js';
import {
  concernsOneCall,
  endsIndividualPolls,
  endsRound,
  isIndividualPollDue,
  isUnknown,
  joinsBatchPoll,
  pollDelayMs,
  withPollJitter,
} from '../../../src/vision/clips/clip-poll.rules.js';
import {
  partStateOf,
  REQUEST_STATES,
  type RequestState,
  requestStateOf,
  splitRange,
  submitFailure,
} from '../../../src/vision/clips/clip-requests.rules.js';
import { RECORDING_STATES, type ShownState } from '../../../src/vision/recordings/recording.rules.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('polling (decision 41)', () => {
  test('5 s, doubling to 60 s for an hour, then every 5 min', () => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map((polls) => pollDelayMs({ polls, openMs: 0 }) / 1000);
    expect(delays).toEqual([5, 10, 20, 40, 60, 60, 60]);
    expect(pollDelayMs({ polls: 3, openMs: HOUR - 1 })).toBe(40_000);
    expect(pollDelayMs({ polls: 3, openMs: HOUR })).toBe(5 * MINUTE);
  });

  test('a delay varies by 20 % in both directions', () => {
    expect([0, 0.5, 1].map((random) => withPollJitter(10_000, random))).toEqual([8_000, 10_000, 12_000]);
  });

  test('a request that is due soon joins the round', () => {
    expect(joinsBatchPoll(30_000, { polls: 9, openMs: 0 })).toBe(true);
    expect(joinsBatchPoll(31_000, { polls: 9, openMs: 0 })).toBe(false);
    expect(joinsBatchPoll(-1, { polls: 0, openMs: 0 })).toBe(true);
  });

  test('an open request is polled by its own id within 15 min, also if the next round is 6 min later', () => {
    const now = new Date();
    const due = (submitted: number, polled: number | null) =>
      isIndividualPollDue(
        {
          submittedAt: new Date(now.getTime() - submitted),
          polledIndividuallyAt: polled === null ? null : new Date(now.getTime() - polled),
        },
        now,
      );
    expect([9 * MINUTE - 1, 9 * MINUTE].map((since) => due(since, null))).toEqual([false, true]);
    expect([9 * MINUTE - 1, 9 * MINUTE].map((since) => due(HOUR, since))).toEqual([false, true]);
  });
});

describe('a failed poll', () => {
  test.each([
    ['failed', true],
    ['rejected', true],
    ['breach', true],
    ['unavailable', true],
    ['broken', true],
    ['tooLarge', true],
    ['notJson', true],
    ['redirected', true],
    ['rateLimited', false],
    ['unauthorized', false],
    ['unreachable', false],
    ['circuitOpen', false],
    ['addressRefused', false],
    ['connectionChanged', false],
  ] as const)('%s concerns one call only: %s', (kind, isOneCall) => {
    expect(concernsOneCall({ kind })).toBe(isOneCall);
    for (const ends of [endsRound, endsIndividualPolls]) {
      expect(ends({ kind, retryAt: undefined })).toBe(!isOneCall);
      expect(ends({ kind, retryAt: new Date() })).toBe(true);
    }
  });

  test('timedOut concerns one call, but ends the individual polls of the round', () => {
    expect(concernsOneCall({ kind: 'timedOut' })).toBe(true);
    expect(endsIndividualPolls({ kind: 'timedOut', retryAt: undefined })).toBe(true);
    expect(endsRound({ kind: 'timedOut', retryAt: undefined })).toBe(false);
    expect(endsRound({ kind: 'timedOut', retryAt: new Date() })).toBe(true);
  });

  test('only a 404 means that the customer, the truck or the camera is unknown', () => {
    const refused = [404, 400, 410].map((status) => new PartnerFailure('rejected', 'x', { status }));
    expect(refused.map(isUnknown)).toEqual([true, false, false]);
  });
});

describe('the states of a request', () => {
  test('has a way back from every state (decision 54); a stored one expires with its file', () => {
    expect(REQUEST_STATES.all.filter((state) => REQUEST_STATES.isFinal(state))).toEqual([]);
    expect(REQUEST_STATES.canTransition('processing', 'stored')).toBe(false);
    expect(() => REQUEST_STATES.assertTransition('failed', 'stored')).toThrow('cannot move from failed to stored');
  });

  test('follow the table of transitions, and so do those of a recording', () => {
    expect(
      REQUEST_STATES.all.map((state) => `${state}: ${REQUEST_STATES.predecessors(state).join(' ')}`.trim()),
    ).toEqual([
      'submitting: failed expired',
      'processing: submitting failed expired',
      'ready: submitting processing downloading failed expired',
      'downloading: ready',
      'stored: ready downloading',
      'failed: submitting processing ready downloading',
      'expired: submitting processing ready downloading stored',
    ]);
    expect(RECORDING_STATES.all.map((state) => `${state}: ${RECORDING_STATES.predecessors(state).join(' ')}`)).toEqual([
      'available: expired failed',
      'expired: available stored',
      'failed: available',
      'stored: available',
    ]);
  });

  test.each<[RequestState[], RequestState]>([
    [['stored', 'stored'], 'stored'],
    [['failed', 'stored', 'downloading'], 'downloading'],
    [['stored', 'processing'], 'processing'],
    [['failed', 'processing'], 'processing'],
    [['failed', 'stored'], 'failed'],
    [['expired', 'stored'], 'expired'],
    [['expired', 'failed'], 'failed'],
    [['downloading', 'ready'], 'ready'],
    [['submitting', 'downloading'], 'submitting'],
  ])('a request with parts %j is %s', (states, expected) => {
    const parts = states.map((status, i) => ({ number: i + 1, status, reason: null }));
    expect(requestStateOf(parts)).toEqual({ status: expected, reason: null });
  });

  test('the reason of a request names the part that failed', () => {
    const parts = [
      { number: 1, status: 'stored' as const, reason: null },
      { number: 2, status: 'failed' as const, reason: 'Nothing was recorded.' },
    ];
    expect(requestStateOf(parts).reason).toBe('Part 2 of 2: Nothing was recorded.');
    expect(requestStateOf(parts.slice(1)).reason).toBe('Nothing was recorded.');
    const more = [3, 4].map((number) => ({ number, status: 'expired' as const, reason: 'Too late.' }));
    expect(requestStateOf([...parts, ...more]).reason).toBe('Part 2 of 4: Nothing was recorded. (and 2 more)');
    expect(requestStateOf([...parts, ...more.slice(1)]).reason).toBe('Part 2 of 3: Nothing was recorded. (and 1 more)');
  });

  test.each<[ShownState[], RequestState, string]>([
    [['stored', 'stored'], 'stored', 'the partner'],
    [['stored', 'available'], 'ready', 'the partner'],
    [['failed', 'available'], 'ready', 'the partner'],
    [['downloading', 'available'], 'downloading', 'the partner'],
    [['stored', 'failed'], 'failed', 'clip 2'],
    [['expired', 'failed', 'failed'], 'failed', 'clip 2'],
    [['stored', 'expired', 'expired'], 'expired', 'clip 2'],
  ])('a part with clips %j is %s, with the reason of %s', (clips, status, reason) => {
    const states = clips.map((clip, i) => ({ status: clip, reason: `clip ${i + 1}` }));
    expect(partStateOf(states, 'the partner')).toEqual({ status, reason });
  });
});

describe('splitting a range (decision 42)', () => {
  const cut = (start: string, end: string, minutes: number) =>
    splitRange({ startTime: start, endTime: end }, minutes).map(
      ({ startTime, endTime }) => `${startTime.slice(11, 19)}-${endTime.slice(11, 19)}`,
    );

  test('adjacent parts, the last one shorter', () => {
    const [start, end] = ['2026-01-31T08:00:00.000000Z', '2026-01-31T10:30:00.000000Z'];
    expect(cut(start, end, 60)).toEqual(['08:00:00-09:00:00', '09:00:00-10:00:00', '10:00:00-10:30:00']);
    expect(cut(start, '2026-01-31T09:00:00.000000Z', 60)).toEqual(['08:00:00-09:00:00']);
    expect(cut(start, '2026-01-31T09:00:00.001000Z', 60)).toHaveLength(2);
  });

  test.each<[string, string, string, string[]]>([
    [
      'an hour with microseconds is one part',
      '08:00:00.123456',
      '09:00:00.123456',
      ['08:00:00.123000-09:00:00.123000'],
    ],
    ['no part of the range is lost', '08:00:00.000900', '08:30:00.000100', ['08:00:00.000000-08:30:00.001000']],
    [
      'the last of several parts',
      '08:00:00.000900',
      '09:30:00.000100',
      ['08:00:00.000000-09:00:00.000000', '09:00:00.000000-09:30:00.001000'],
    ],
  ])('whole milliseconds: %s', (_, start, end, pieces) => {
    const day = '2026-01-31T';
    const cuts = splitRange({ startTime: `${day}${start}Z`, endTime: `${day}${end}Z` }, 60);
    expect(cuts.map((cut) => `${cut.startTime.slice(11, -1)}-${cut.endTime.slice(11, -1)}`)).toEqual(pieces);
  });
});

describe('a failed POST (decision 41)', () => {
  test.each([
    ['failed', 1, 'counted'],
    ['unavailable', 2, 'counted'],
    ['broken', 3, 'final'],
    ['timedOut', 3, 'final'],
    ['tooLarge', 2, 'counted'],
    ['notJson', 2, 'counted'],
    ['rejected', 1, 'final'],
    ['redirected', 1, 'final'],
    ['breach', 2, 'counted'],
    ['addressRefused', 1, 'final'],
    ['connectionChanged', 9, 'waiting'],
    ['circuitOpen', 9, 'waiting'],
    ['unauthorized', 9, 'waiting'],
    ['rateLimited', 9, 'waiting'],
    ['unreachable', 9, 'waiting'],
  ] as const)('%s after %i POSTs: %s', (kind, submits, effect) => {
    expect(submitFailure({ kind }, submits)).toBe(effect);
  });
});
