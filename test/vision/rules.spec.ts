import { describe, expect, test } from '@jest/globals';
import { PartnerFailure } from '../../src/partner-client/partner-failure.js';
import { UnstableList } from '../../src/vision/client/read-pages.js';
import { laysBy } from '../../src/vision/continuous/window-failures.js';
import { nextWindow } from '../../src/vision/continuous/windows.js';
import { eachCovered, type Followed, gapsOf, type Piece } from '../../src/vision/recordings/coverage.js';
import { atRisk } from '../../src/vision/downloads/at-risk.js';
import { fetchBy } from '../../src/vision/downloads/fetch-by.js';
import { distinctChunks, isOutgrown, type Known, knownByCamera } from '../../src/vision/downloads/known-chunks.js';
import { type FetchState, type NextStep, nextStep } from '../../src/vision/downloads/next-step.js';
import { RECORDING_STATES, type RecordingState } from '../../src/vision/downloads/recording-states.js';
import { covers } from '../../src/vision/requests/covers.js';
import { MOST_CLIPS, type Wanted } from '../../src/vision/requests/match-video.js';
import { concernsQuestion, endsAskingAlone, endsRound, isUnknown } from '../../src/vision/requests/poll-failures.js';
import { asksAlone, goesAlong, jittered, pollDelayMs } from '../../src/vision/requests/poll-schedule.js';
import {
  partStateOf,
  REQUEST_STATES,
  requestStateOf,
  type RequestState,
} from '../../src/vision/requests/request-states.js';
import { splitRange } from '../../src/vision/requests/split-range.js';
import { submitVerdict } from '../../src/vision/requests/submit-rules.js';
import type { Recording, Video } from '../../src/contracts/vision/vision.dto.js';
import { tell } from '../support/faults.js';
import { matchingOf } from '../support/matching.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('polling (decision 41)', () => {
  test('5 s, doubling to 60 s for an hour, then every 5 min', () => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map((asked) => pollDelayMs({ asked, openMs: 0 }) / 1000);
    expect(delays).toEqual([5, 10, 20, 40, 60, 60, 60]);
    expect(pollDelayMs({ asked: 3, openMs: HOUR - 1 })).toBe(40_000);
    expect(pollDelayMs({ asked: 3, openMs: HOUR })).toBe(5 * MINUTE);
  });

  test('the jitter is 20 % to either side', () => {
    expect([0, 0.5, 1].map((random) => jittered(10_000, random))).toEqual([8_000, 10_000, 12_000]);
  });

  test('who is due soon goes along', () => {
    expect(goesAlong(30_000, { asked: 9, openMs: 0 })).toBe(true);
    expect(goesAlong(31_000, { asked: 9, openMs: 0 })).toBe(false);
    expect(goesAlong(-1, { asked: 0, openMs: 0 })).toBe(true);
  });

  test.each([
    ['in the first hour', { asked: 20, openMs: 30 * MINUTE }, 15 * MINUTE - 72_000],
    ['later', { asked: 90, openMs: 2 * HOUR }, 9 * MINUTE],
  ])('asked for by its own id within 15 min, %s', (_, progress, least) => {
    expect([least - 1, least].map((since) => asksAlone(since, progress))).toEqual([false, true]);
    const delay = pollDelayMs(progress) * 1.2;
    let since = 0;
    while (!asksAlone(since, progress)) since += delay;
    expect(since).toBeLessThanOrEqual(15 * MINUTE);
    expect(since).toBeGreaterThan(5 * MINUTE);
  });
});

describe('what a failed question concerns', () => {
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
    ['withdrawn', false],
  ] as const)('%s: that one alone? %s', (kind, alone) => {
    expect(concernsQuestion({ kind })).toBe(alone);
    for (const ends of [endsRound, endsAskingAlone]) {
      expect(ends({ kind, retryAt: undefined })).toBe(!alone);
      expect(ends({ kind, retryAt: new Date() })).toBe(true);
    }
  });

  test('timedOut: that one alone, but nobody else is asked for alone after it', () => {
    expect(concernsQuestion({ kind: 'timedOut' })).toBe(true);
    expect(endsAskingAlone({ kind: 'timedOut', retryAt: undefined })).toBe(true);
    expect(endsRound({ kind: 'timedOut', retryAt: undefined })).toBe(false);
    expect(endsRound({ kind: 'timedOut', retryAt: new Date() })).toBe(true);
  });

  test('a 404 alone says that nobody knows the customer, the truck or the camera', () => {
    const refused = [404, 400, 410].map((status) => new PartnerFailure('rejected', 'x', { status }));
    expect(refused.map(isUnknown)).toEqual([true, false, false]);
  });
});

describe('states', () => {
  test('as a literal table; what has ended stays', () => {
    expect(REQUEST_STATES.all.filter((state) => REQUEST_STATES.isFinal(state))).toEqual([
      'stored',
      'failed',
      'expired',
    ]);
    expect(REQUEST_STATES.canMove('processing', 'stored')).toBe(false);
    expect(() => REQUEST_STATES.assertMove('failed', 'ready')).toThrow('cannot move from failed to ready');
  });

  test('what a request and a recording may become', () => {
    expect(REQUEST_STATES.all.map((state) => `${state}: ${REQUEST_STATES.before(state).join(' ')}`.trim())).toEqual([
      'submitting:',
      'processing: submitting',
      'ready: submitting processing downloading',
      'downloading: ready',
      'stored: ready downloading',
      'failed: submitting processing ready downloading',
      'expired: submitting processing ready downloading',
    ]);
    expect(RECORDING_STATES.all.map((state) => `${state}: ${RECORDING_STATES.before(state).join(' ')}`)).toEqual([
      'available: downloading expired',
      'downloading: available',
      'expired: available downloading stored',
      'stored: downloading',
      'failed: downloading',
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
  ])('a request of parts %j is %s', (states, expected) => {
    const parts = states.map((status, i) => ({ number: i + 1, status, reason: null }));
    expect(requestStateOf(parts)).toEqual({ status: expected, reason: null });
  });

  test('a request says which part failed why', () => {
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

  test.each<[RecordingState[], RequestState, string]>([
    [['stored', 'stored'], 'stored', 'the partner'],
    [['stored', 'available'], 'ready', 'the partner'],
    [['failed', 'available'], 'ready', 'the partner'],
    [['downloading', 'available'], 'downloading', 'the partner'],
    [['stored', 'failed'], 'failed', 'clip 2'],
    [['expired', 'failed', 'failed'], 'failed', 'clip 2'],
    [['stored', 'expired', 'expired'], 'expired', 'clip 2'],
  ])('a part of clips %j is %s, for what is said by %s', (clips, status, reason) => {
    const told = clips.map((clip, i) => ({ status: clip, reason: `clip ${i + 1}` }));
    expect(partStateOf(told, 'the partner')).toEqual({ status, reason });
  });
});

describe('splitting a range (decision 42)', () => {
  const cut = (start: string, end: string, minutes: number) =>
    splitRange({ startTime: start, endTime: end }, minutes).map(
      ({ startTime, endTime }) => `${startTime.slice(11, 19)}-${endTime.slice(11, 19)}`,
    );

  test('pieces meet, the last one takes what is left', () => {
    const [start, end] = ['2026-01-31T08:00:00.000000Z', '2026-01-31T10:30:00.000000Z'];
    expect(cut(start, end, 60)).toEqual(['08:00:00-09:00:00', '09:00:00-10:00:00', '10:00:00-10:30:00']);
    expect(cut(start, '2026-01-31T09:00:00.000000Z', 60)).toEqual(['08:00:00-09:00:00']);
    expect(cut(start, '2026-01-31T09:00:00.001000Z', 60)).toHaveLength(2);
  });

  test.each<[string, string, string, string[]]>([
    [
      'an hour with microseconds is one piece',
      '08:00:00.123456',
      '09:00:00.123456',
      ['08:00:00.123000-09:00:00.123000'],
    ],
    ['an end that is finer makes no piece', '08:00:00.000000', '09:00:00.000500', ['08:00:00.000000-09:00:00.000000']],
    ['an end that is not finer stays', '08:00:00.000000', '08:30:00.001000', ['08:00:00.000000-08:30:00.001000']],
    ['nor is anything left out', '08:00:00.000900', '08:30:00.000100', ['08:00:00.000000-08:30:00.001000']],
    ['less than a millisecond', '08:00:00.000100', '08:00:00.000200', ['08:00:00.000000-08:00:00.001000']],
    [
      'the last piece of several',
      '08:00:00.000900',
      '09:30:00.000100',
      ['08:00:00.000000-09:00:00.000000', '09:00:00.000000-09:30:00.001000'],
    ],
  ])('whole milliseconds: %s', (_, start, end, pieces) => {
    const day = '2026-01-31T';
    const cuts = splitRange({ startTime: `${day}${start}Z`, endTime: `${day}${end}Z` }, 60);
    expect(cuts.map((cut) => `${cut.startTime.slice(11, -1)}-${cut.endTime.slice(11, -1)}`)).toEqual(pieces);
  });

  test('the last year that can be written has an end', () => {
    const [start, cut] = ['9999-12-31T22:30:00.000000Z', '9999-12-31T23:30:00.000000Z'];
    expect(splitRange({ startTime: start, endTime: '9999-12-31T23:59:59.999900Z' }, 60)).toEqual([
      { startTime: start, endTime: cut },
      { startTime: cut, endTime: '9999-12-31T23:59:59.999000Z' },
    ]);
  });
});

describe('what becomes of a POST (decision 41)', () => {
  test.each([
    ['failed', 1, 'counts'],
    ['unavailable', 2, 'counts'],
    ['broken', 3, 'final'],
    ['timedOut', 3, 'final'],
    ['tooLarge', 2, 'counts'],
    ['notJson', 2, 'counts'],
    ['rejected', 1, 'final'],
    ['redirected', 1, 'final'],
    ['breach', 1, 'final'],
    ['addressRefused', 1, 'final'],
    ['withdrawn', 9, 'waits'],
    ['circuitOpen', 9, 'waits'],
    ['unauthorized', 9, 'waits'],
    ['rateLimited', 9, 'waits'],
    ['unreachable', 9, 'waits'],
  ] as const)('%s at try %i: %s', (kind, tries, verdict) => {
    expect(submitVerdict({ kind }, tries)).toBe(verdict);
  });
});

describe('recognising clips (decision 38)', () => {
  const wanted = (fields: Partial<Wanted> = {}): Wanted => ({
    id: 'part',
    partnerRequestId: 'r1',
    truckId: 'T1',
    cameraId: 'front',
    startTime: '2026-01-31T08:00:00.000000Z',
    endTime: '2026-01-31T09:00:00.000000Z',
    ...fields,
  });
  const video = (fields: Partial<Video> = {}): Video => ({
    id: 'v',
    customerId: 'c',
    truckId: 'T1',
    cameraId: 'front',
    startTime: '2026-01-31T08:00:00.000000Z',
    endTime: '2026-01-31T09:00:00.000000Z',
    durationSeconds: 3600,
    downloadUrl: 'https://x.example',
    ...fields,
  });
  const matches = (part: Partial<Wanted>, clip: Partial<Video>) =>
    matchingOf([wanted(part)], [video(clip)]).found.size === 1;

  test.each<[string, Partial<Wanted>, Partial<Video>, boolean]>([
    ['by its id', {}, { requestId: 'r1' }, true],
    ['by its id, though the camera has another name', {}, { requestId: 'r1', cameraId: 'cam-17' }, true],
    ['by its id, a part of the range', {}, { requestId: 'r1', endTime: '2026-01-31T08:10:00.000000Z' }, true],
    ['not with the id of another', {}, { requestId: 'r2' }, false],
    ['by range under an id of which the 202 told us nothing', { partnerRequestId: null }, { requestId: 'r2' }, true],
    [
      'not under such an id by another range',
      { partnerRequestId: null },
      { requestId: 'r2', startTime: '2026-01-31T08:20:00.000000Z' },
      false,
    ],
    ['not under its id, but of another truck', {}, { requestId: 'r1', truckId: 'T2' }, false],
    [
      'not under its id, but of another day',
      {},
      { requestId: 'r1', startTime: '2026-02-01T08:00:00.000000Z', endTime: '2026-02-01T09:00:00.000000Z' },
      false,
    ],
    [
      'by its id, though the truck is spelled otherwise',
      { truckId: 'T7' },
      { requestId: 'r1', truckId: 'T-0007' },
      true,
    ],
    [
      'by its id, though the truck has its number alone',
      { truckId: 'Truck 7' },
      { requestId: 'r1', truckId: '07' },
      true,
    ],
    [
      'by its id, though a name without number is spelled otherwise',
      { truckId: 'Big Joe' },
      { requestId: 'r1', truckId: 'BIG-JOE' },
      true,
    ],
    [
      'not under its id, of a truck of another name',
      { truckId: 'Big Joe' },
      { requestId: 'r1', truckId: 'Red' },
      false,
    ],
    [
      'not under its id, of another truck that has no number',
      { truckId: 'Big Joe' },
      { requestId: 'r1', truckId: 'T7' },
      false,
    ],
    ['not under its id, of a truck without its number', { truckId: 'T7' }, { requestId: 'r1', truckId: 'T' }, false],
    ['not under its id, of a truck with a number', { truckId: 'T' }, { requestId: 'r1', truckId: 'T7' }, false],
    ['not under its id, of ten times its number', { truckId: 'T7' }, { requestId: 'r1', truckId: 'T70' }, false],
    ['not so under another camera', { truckId: 'T7' }, { requestId: 'r1', truckId: 'T-0007', cameraId: 'rear' }, false],
    [
      'not so in another range',
      { truckId: 'T7' },
      { requestId: 'r1', truckId: 'T-0007', startTime: '2026-01-31T08:20:00.000000Z' },
      false,
    ],
    ['not by such a truck alone', { truckId: 'T7' }, { truckId: 'T-0007' }, false],
    ['by truck, camera and range', {}, {}, true],
    ['by names in other letters', { truckId: 't1 ' }, { cameraId: 'Front' }, true],
    ['by an alias of the camera', {}, { cameraId: '1' }, true],
    ['not by what is half a number', {}, { cameraId: '1b' }, false],
    ['not by what ends as one', {}, { cameraId: '#1' }, false],
    ['not by what is half a placement', { cameraId: '1' }, { cameraId: 'front!' }, false],
    ['not by what ends as one', { cameraId: '1' }, { cameraId: '(front' }, false],
    ['not by what is neither', { cameraId: '1' }, { cameraId: 'cam-17' }, false],
    ['not by another placement', {}, { cameraId: 'rear' }, false],
    ['by a range cut at key frames', {}, { startTime: '2026-01-31T07:59:55.000000Z' }, true],
    ['not by another range', {}, { startTime: '2026-01-31T08:20:00.000000Z' }, false],
    ['by range where the partner gave no id', { partnerRequestId: null }, {}, true],
  ])('%s', (_, part, clip, expected) => expect(matches(part, clip)).toBe(expected));

  test('an exact camera is better than an alias', () => {
    const [front, one] = [wanted({ id: 'a' }), wanted({ id: 'b', cameraId: '1' })];
    const { found } = matchingOf([front, one], [video({ id: 'x', cameraId: '1' }), video({ id: 'y' })]);
    expect(found.get(front)?.map(({ id }) => id)).toEqual(['y']);
    expect(found.get(one)?.map(({ id }) => id)).toEqual(['x']);
  });

  test('an id that is known to be of another request is not one of which the 202 told us nothing', () => {
    const [nameless, clip] = [wanted({ partnerRequestId: null }), video({ requestId: 'r2' })];
    expect(matchingOf([nameless], [clip], new Set(['r2'])).found.size).toBe(0);
    expect([...matchingOf([nameless, wanted({ partnerRequestId: 'r2' })], [clip]).found.keys()]).not.toContain(
      nameless,
    );
  });

  test('the nearest of those without an id gets the clip', () => {
    const [front, one] = [wanted({ partnerRequestId: null }), wanted({ partnerRequestId: null, cameraId: '1' })];
    const named = wanted({ partnerRequestId: 'r3' });
    const clips = [video({ requestId: 'r2', cameraId: '1' })];
    expect([...matchingOf([named, front, one], clips).found.keys()]).toEqual([one]);
  });

  test.each<[string, Partial<Video>, boolean]>([
    ['another truck', { truckId: 'T2' }, true],
    ['another day', { startTime: '2026-02-01T08:00:00.000000Z', endTime: '2026-02-01T09:00:00.000000Z' }, true],
    ['what was asked for', {}, false],
    ['another id', { requestId: 'r2', truckId: 'T2' }, false],
    ['no id', { requestId: undefined, truckId: 'T2' }, false],
  ])('a clip under our id that shows %s is told', (_, clip, told) => {
    const found = matchingOf([wanted()], [video({ requestId: 'r1', ...clip })]).disbelieved();
    expect(found).toHaveLength(told ? 1 : 0);
    for (const { path, reason, raw } of found) {
      expect(path).toBe('data.videos[].requestId');
      expect(raw).toMatchObject(clip);
      expect(reason).toContain('r1');
      expect(reason).toContain(String(Object.values(clip)[0]).slice(0, 10));
      expect(reason).toContain('T1');
    }
  });

  test.each<[string, Partial<Wanted>, Partial<Video>, string, string]>([
    ['under one id', {}, { requestId: 'r1' }, 'data.videos[].requestId', 'Request r1'],
    [
      'without an id',
      { partnerRequestId: null },
      { requestId: undefined },
      'data.videos[]',
      'The request for truck T1, camera front, from 2026-01-31T08:00:00Z to 2026-01-31T09:00:00Z',
    ],
  ])('of thousands of clips %s the first ones are taken, and that is told', (_, its, theirs, path, request) => {
    const part = wanted(its);
    const clips = Array.from({ length: MOST_CLIPS + 1 }, (_, n) => video({ id: `v${n}`, ...theirs }));
    const matching = matchingOf([part], clips);
    expect(matching.found.get(part)).toEqual(clips.slice(0, MOST_CLIPS));
    expect(matching.disbelieved()).toEqual([
      { path, reason: `${request} has more than 1000 clips; the first ones are fetched.` },
    ]);
    expect(matchingOf([part], clips.slice(1)).disbelieved()).toEqual([]);
  });

  test('clips of two requests under one id are counted for each', () => {
    const front = wanted();
    const rear = wanted({ id: 'rear', cameraId: 'rear' });
    const half = Array.from({ length: MOST_CLIPS - 1 }, (_, n) => video({ id: `v${n}`, requestId: 'r1' }));
    const matching = matchingOf([front, rear], [...half, ...half.map((clip) => ({ ...clip, cameraId: 'rear' }))]);
    expect([...matching.found.values()].map(({ length }) => length)).toEqual([MOST_CLIPS - 1, MOST_CLIPS - 1]);
    expect(matching.disbelieved()).toEqual([]);
  });

  test('a reused id is told apart by the range', () => {
    const early = wanted({ id: 'a' });
    const late = wanted({ id: 'b', startTime: '2026-01-31T09:00:00.000000Z', endTime: '2026-01-31T10:00:00.000000Z' });
    const clip = video({ requestId: 'r1', startTime: late.startTime, endTime: late.endTime });
    expect([...matchingOf([early, late], [clip]).found.keys()]).toEqual([late]);
  });
});

describe('whether clips show all of a part', () => {
  const at = (seconds: number) => new Date(Date.parse('2026-01-31T08:00:00Z') + seconds * 1_000).toISOString();
  const range = ([start, end]: readonly [number, number]) => ({ startTime: at(start), endTime: at(end) });
  const pieces = (count: number) => Array.from({ length: count }, (_, n): [number, number] => [n * 4, n * 4 + 4]);

  test.each<[string, number, [number, number][], boolean]>([
    ['one', 300, [[0, 300]], true],
    ['one that key frames have cut', 300, [[10, 290]], true],
    ['one that begins too late', 300, [[11, 300]], false],
    ['one that ends too early', 300, [[0, 289]], false],
    ['one of a short part that lacks a quarter at most', 8, [[2, 6]], true],
    ['one of a short part that lacks more', 8, [[3, 8]], false],
    [
      'two that meet, in any order',
      300,
      [
        [150, 300],
        [0, 150],
      ],
      true,
    ],
    [
      'two with a gap that is too long',
      300,
      [
        [0, 140],
        [151, 300],
      ],
      false,
    ],
    [
      'one within another',
      300,
      [
        [0, 280],
        [20, 40],
        [281, 300],
      ],
      true,
    ],
    [
      'a short one, and gaps that are longer than half of it',
      300,
      [
        [0, 145],
        [147, 149],
        [151, 300],
      ],
      false,
    ],
    ['one of two', 300, [[0, 150]], false],
    ['all pieces', 60, pieces(15), true],
    ['all pieces but the last one', 60, pieces(14), false],
    ['all pieces but one between', 60, pieces(15).toSpliced(7, 1), false],
    ['more than was asked for', 300, [[-60, 400]], true],
  ])('%s', (_, length, clips, expected) => {
    expect(covers(clips.map(range), range([0, length]))).toBe(expected);
  });
});

describe('windows (decision 48)', () => {
  const now = Date.parse('2026-02-10T12:00:00Z');

  test('from the start on in steps of 24 h, the last one ending a minute ago', () => {
    const startTime = now - 60 * HOUR;
    const first = nextWindow({ startTime, readUntil: startTime, lookedAt: undefined }, now);
    expect(first).toEqual({ start: startTime, end: startTime + 24 * HOUR, last: false });
    const last = nextWindow({ startTime, readUntil: startTime + 48 * HOUR, lookedAt: now }, now);
    expect(last).toEqual({ start: now - 12 * HOUR, end: now - MINUTE, last: true });
    const whole = now - MINUTE - 24 * HOUR;
    expect(nextWindow({ startTime: whole, readUntil: whole, lookedAt: undefined }, now)?.last).toBe(true);
  });

  const looked = (msAgo: number) => ({ readUntil: now - msAgo - MINUTE, lookedAt: now - msAgo });

  test.each([
    ['no time', 0],
    ['1 minute', MINUTE],
    ['5 minutes', 5 * MINUTE],
    ['7 hours', 7 * HOUR],
    ['17 hours', 17 * HOUR],
  ])('one begins 6 hours before a look of %s ago, not before the start', (_, msAgo) => {
    expect(nextWindow({ startTime: now - 100 * HOUR, ...looked(msAgo) }, now)).toEqual({
      start: now - msAgo - 6 * HOUR,
      end: now - MINUTE,
      last: true,
    });
    const startTime = now - msAgo - HOUR;
    expect(nextWindow({ startTime, ...looked(msAgo) }, now)?.start).toBe(startTime);
  });

  test('so does the first of several, and they go on where it ended', () => {
    const startTime = now - 100 * HOUR;
    const first = { start: now - 36 * HOUR, end: now - 12 * HOUR, last: false };
    expect(nextWindow({ startTime, ...looked(30 * HOUR) }, now)).toEqual(first);
    expect(nextWindow({ startTime, readUntil: first.end, lookedAt: now }, now)).toEqual({
      start: first.end,
      end: now - MINUTE,
      last: true,
    });
  });

  test('nothing is closed yet', () => {
    for (const startTime of [now + HOUR, now, now - 1, now - MINUTE]) {
      expect(nextWindow({ startTime, readUntil: startTime, lookedAt: undefined }, now)).toBeUndefined();
    }
  });

  test('never longer than 24 h', () => {
    let windows = 0;
    for (let hours = 0; hours < 60; hours += 0.37) {
      const readUntil = now - hours * HOUR;
      for (const lookedAt of [undefined, readUntil + MINUTE, now]) {
        const window = nextWindow({ startTime: now - 50 * HOUR, readUntil, lookedAt }, now);
        if (window === undefined) continue;
        windows++;
        expect(window.end - window.start).toBeLessThanOrEqual(24 * HOUR);
        expect(window.end).toBeGreaterThan(readUntil);
      }
    }
    expect(windows).toBeGreaterThan(100);
  });

  test.each([
    ['failed', 500, 2, false],
    ['failed', 500, 3, true],
    ['breach', 200, 3, true],
    ['unavailable', 504, 2, false],
    ['unavailable', 504, 3, true],
    ['unavailable', 503, 9, false],
    ['circuitOpen', undefined, 9, false],
    ['unreachable', undefined, 9, false],
    ['rejected', 404, 9, false],
    ['timedOut', undefined, 3, true],
    ['notJson', 200, 3, true],
    ['tooLarge', 200, 3, true],
    ['rejected', 422, 3, true],
    ['unauthorized', 401, 9, false],
    ['broken', undefined, 9, false],
    ['redirected', 302, 9, false],
    ['rateLimited', 429, 9, false],
    ['addressRefused', undefined, 9, false],
    ['withdrawn', undefined, 9, false],
  ] as const)('a window that %s with %s at try %i is laid by: %s', (kind, status, attempt, expected) => {
    const failure = new PartnerFailure(kind, 'x', status === undefined ? {} : { status });
    expect(laysBy(failure, attempt)).toBe(expected);
  });

  test('so is one whose list cannot be read to its end', () => {
    expect([2, 3].map((attempt) => laysBy(new UnstableList('x'), attempt))).toEqual([false, true]);
  });
});

test('a link that says nothing of its end is fetched as if it lived an hour (decision 47)', () => {
  const now = Date.parse('2026-01-31T08:00:00Z');
  expect(fetchBy('2026-01-31T08:59:59.999999Z', now)).toEqual(new Date('2026-01-31T08:59:59.999Z'));
  expect(fetchBy(undefined, now)).toEqual(new Date('2026-01-31T09:00:00Z'));
});

describe('what becomes of a download', () => {
  const state: FetchState = { relinks: 0, fruitless: 0, attempt: 1, listedAt: 0, expiresAt: 9 * HOUR };
  const fails = (kind: Parameters<typeof nextStep>[1]['kind'], more: Partial<FetchState> = {}, fruitless = false) =>
    nextStep({ ...state, ...more }, { kind, retryAfterMs: undefined, fruitless }, HOUR);

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
    expect(nextStep(state, { kind: 'retryable', retryAfterMs: 90_000, fruitless: false }, 0)).toEqual({
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
    const [listedAt, failure] = [9 * HOUR, { kind: 'retryable', retryAfterMs: undefined, fruitless: false } as const];
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
    const failure = { kind: 'retryable', retryAfterMs: 30 * HOUR, fruitless: false } as const;
    expect(nextStep({ ...state, expiresAt }, failure, HOUR)).toEqual({ step: 'retry', afterMs });
  });

  test('a body that breaks at the same place again and again is given up', () => {
    expect(fails('retryable', { fruitless: 3 }, true).step).toBe('retry');
    expect(fails('retryable', { fruitless: 4 }, true)).toEqual({ step: 'end', status: 'failed' });
  });

  test.each(['wrong-length', 'empty', 'not-a-film'] as const)('so is one that is %s', (kind) => {
    expect(fails(kind, { fruitless: 3 })).toEqual({ step: 'retry', afterMs: 1_000 });
    expect(fails(kind, { fruitless: 4 })).toEqual({ step: 'end', status: 'failed' });
  });

  test('a host that is away, or gets on, is not given up for what it sent before', () => {
    expect(fails('retryable', { fruitless: 4 }).step).toBe('retry');
  });

  test.each(['address-refused', 'bad-answer', 'too-large'] as const)('%s is the end', (kind) => {
    expect(fails(kind)).toEqual({ step: 'end', status: 'failed' });
  });
});

describe('a chunk that is listed again (decision 48)', () => {
  const chunk = (fields: Partial<Recording> = {}): Recording => ({
    id: 'a',
    customerId: 'c',
    truckId: 'T1',
    cameraId: 'front',
    startTime: '2026-01-31T08:00:00.000000Z',
    endTime: '2026-01-31T08:05:00.000000Z',
    durationSeconds: 300,
    downloadUrl: 'https://x.example/old',
    ...fields,
  });
  const [younger, later] = [
    { downloadUrl: 'https://x.example/young' },
    { startTime: '2026-01-31T08:05:00.000000Z', endTime: '2026-01-31T08:10:00.000000Z' },
  ];
  const half = { startTime: '2026-01-31T08:02:30.000000Z', endTime: '2026-01-31T08:07:30.000000Z' };

  test.each<[string, Partial<Recording>, boolean]>([
    ['itself', {}, true],
    ['its range under another id', { id: 'b' }, true],
    ['its id with a range that overlaps', half, true],
    ['its id with a range behind it', later, false],
    ['its id of another camera', { cameraId: 'rear', ...half }, false],
    ['its id of another truck', { truckId: 'T2' }, false],
    ['its id with a range before it', { startTime: '2026-01-31T07:55:00.000000Z', endTime: chunk().startTime }, false],
    ['another id with a range that overlaps', { id: 'b', ...half }, false],
    ['another id with another start', { id: 'b', startTime: half.startTime }, false],
    ['another id with another end', { id: 'b', endTime: half.endTime }, false],
    ['another id and camera', { id: 'b', cameraId: 'rear' }, false],
  ])('on one page: %s', (_, fields, once) => {
    const [one, other] = [chunk(), chunk({ ...fields, ...younger })];
    expect(distinctChunks([one, other])).toEqual(once ? [other] : [one, other]);
  });

  test('on one page: three times, the last one under another range', () => {
    const last = chunk({ ...half, ...younger });
    expect(distinctChunks([chunk(), chunk({ id: 'b', ...later }), chunk(), last])).toEqual([
      last,
      chunk({ id: 'b', ...later }),
    ]);
  });

  const row = (fields: Partial<Known>): Known => ({
    place: 0,
    id: 'r1',
    status: 'available',
    camera: 'front',
    same_range: true,
    covered: true,
    ...fields,
  });
  const known = (cameras: readonly string[], rows: readonly Known[]) =>
    [
      ...knownByCamera(
        cameras.map((cameraId) => chunk({ cameraId })),
        rows,
      ),
    ].map(([place, { id }]) => [place, id]);

  test.each<[string, string[], Known[], [number, string][]]>([
    ['by its camera', ['front'], [row({})], [[0, 'r1']]],
    ['the first of several', ['front'], [row({}), row({ id: 'r2' })], [[0, 'r1']]],
    ['not by another placement', ['front'], [row({ camera: 'rear' })], []],
    ['by another name of its camera', ['front'], [row({ camera: '1' })], [[0, 'r1']]],
    ['not by a name that is neither placement nor number', ['front'], [row({ camera: 'cam-17' })], []],
    ['not under such a name', ['cam-17'], [row({ camera: '1' })], []],
    ['by its own name rather', ['front'], [row({ camera: '1' }), row({ id: 'r2' })], [[0, 'r2']]],
    [
      'by another name only what no other has under its own',
      ['front', '1'],
      [row({ camera: '1' }), row({ place: 1, camera: '1' })],
      [[1, 'r1']],
    ],
    [
      'by another name one each',
      ['1', '2'],
      [row({}), row({ place: 1 }), row({ place: 1, id: 'r2' })],
      [
        [0, 'r1'],
        [1, 'r2'],
      ],
    ],
  ])('recognised %s', (_, cameras, rows, expected) => expect(known(cameras, rows)).toEqual(expected));

  test.each([
    ['stored', true],
    ['failed', true],
    ['available', false],
    ['downloading', false],
    ['expired', false],
  ])('one that has grown and is %s is another file: %s', (status, outgrown) => {
    expect(isOutgrown(row({ status, covered: false }))).toBe(outgrown);
    expect(isOutgrown(row({ status, covered: true }))).toBe(false);
  });
});

describe('at risk', () => {
  const pace = { fileMs: 10_000, perConnection: 2, inAll: 3 };
  const waiting = (count: number, expiresAt: number | undefined, connectionId = 'a') =>
    Array.from({ length: count }, () => ({ connectionId, expiresAt }));

  test('what the connection cannot begin before its links die', () => {
    expect(atRisk(waiting(6, 20_001), pace, 0)).toBe(0);
    expect(atRisk(waiting(7, 20_001), pace, 0)).toBe(1);
    expect(atRisk(waiting(7, undefined), pace, 0)).toBe(0);
    expect(atRisk(waiting(2, -1), pace, 0)).toBe(2);
    expect(atRisk(waiting(1, 0), pace, 0)).toBe(1);
  });

  test('what is at risk already takes no place', () => {
    expect(atRisk([...waiting(2, -1), ...waiting(2, 5_000)], pace, 0)).toBe(2);
  });

  test('the earliest end comes first, and last what does not say', () => {
    const mixed = [...waiting(1, undefined), ...waiting(2, 5_000), ...waiting(1, undefined), ...waiting(2, 15_000)];
    expect(atRisk(mixed, pace, 0)).toBe(0);
    expect(atRisk(mixed.reverse(), pace, 0)).toBe(0);
  });

  test('what all of them together cannot begin', () => {
    expect(atRisk([...waiting(2, 5_000), ...waiting(2, 5_000, 'b')], pace, 0)).toBe(1);
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

describe('coverage (decision 49)', () => {
  const piece = (start: number, end: number, state: Piece['state'], recordingId?: string): Piece => ({
    start,
    end,
    state,
    ...(recordingId === undefined ? {} : { recordingId }),
  });
  const covered = (pieces: readonly Piece[], from: number, to: number, followed: readonly Followed[] = []) => [
    ...eachCovered([...pieces, ...gapsOf(followed)], from, to),
  ];
  const brief = (pieces: readonly Piece[]) =>
    pieces.map(({ start, end, state, recordingId = '' }) => [start, end, state, recordingId].join(' ').trim());

  test.each<[string, Piece[], string[]]>([
    ['nothing', [], ['0 10 missing']],
    [
      'a gap between',
      [piece(0, 3, 'stored', 'a'), piece(5, 10, 'available', 'b')],
      ['0 3 stored a', '3 5 missing', '5 10 available b'],
    ],
    [
      'what is cut by the ends',
      [piece(-5, 2, 'stored', 'a'), piece(9, 20, 'expired', 'b')],
      ['0 2 stored a', '2 9 missing', '9 10 expired b'],
    ],
    [
      'the better one of two',
      [piece(0, 10, 'expired', 'a'), piece(4, 6, 'stored', 'b')],
      ['0 4 expired a', '4 6 stored b', '6 10 expired a'],
    ],
    [
      'the first of two alike',
      [piece(2, 8, 'stored', 'b'), piece(0, 5, 'stored', 'a')],
      ['0 5 stored a', '5 8 stored b', '8 10 missing'],
    ],
    [
      'the longer one of two that begin together',
      [piece(0, 5, 'stored', 'a'), piece(0, 8, 'stored', 'b')],
      ['0 8 stored b', '8 10 missing'],
    ],
    [
      'the better one of all',
      [
        piece(0, 10, 'missing', 'd'),
        piece(0, 8, 'expired', 'c'),
        piece(0, 4, 'stored', 'a'),
        piece(0, 6, 'available', 'b'),
      ],
      ['0 4 stored a', '4 6 available b', '6 8 expired c', '8 10 missing d'],
    ],
    ['an empty piece', [piece(4, 4, 'stored', 'a')], ['0 10 missing']],
  ])('%s', (_, pieces, expected) => expect(brief(covered(pieces, 0, 10))).toEqual(expected));

  test('covers every moment once, whatever the pieces', () => {
    let seed = 7;
    const random = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most;
    for (let round = 0; round < 50; round++) {
      const pieces = Array.from({ length: random(30) }, (_, i) => {
        const start = random(100);
        return piece(
          start,
          start + random(30),
          (['stored', 'available', 'expired', 'missing'] as const)[random(4)] ?? 'stored',
          `r${i}`,
        );
      });
      const result = covered(pieces, 10, 90);
      expect(result[0]?.start).toBe(10);
      expect(result.at(-1)?.end).toBe(90);
      result.forEach(({ start, end }, i) => {
        expect(end).toBe(result[i + 1]?.start ?? 90);
        expect(start).toBeLessThan(end);
      });
    }
  });

  test('says why nothing is known', () => {
    const followed = [{ start: 10, readUntil: 50, holes: [{ start: 20, end: 30, reason: 'it answered 500.' }] }];
    expect(covered([], 0, 60, followed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '0 10 No subscription follows the truck at this time.',
      '10 20 The partner lists no recording.',
      '20 30 Not read yet: it answered 500.',
      '30 50 The partner lists no recording.',
      '50 60 Not read yet.',
    ]);
  });

  test('tells of a recording that failed before a hole, and of a hole before what another subscription has read', () => {
    const holes = [{ start: 20, end: 30, reason: 'it answered 500.' }];
    const followed = [
      { start: 0, readUntil: 60, holes: [] },
      { start: 10, readUntil: 50, holes },
    ];
    const found = covered([piece(22, 28, 'missing', 'a')], 15, 35, followed);
    expect(found.map(({ start, end, recordingId, reason }) => `${start} ${end} ${recordingId ?? reason}`)).toEqual([
      '15 20 The partner lists no recording.',
      '20 22 Not read yet: it answered 500.',
      '22 28 a',
      '28 30 Not read yet: it answered 500.',
      '30 35 The partner lists no recording.',
    ]);
  });

  test('says why a subscription cannot be read, behind its holes and what it has read', () => {
    const hole = { start: 20, end: 30, reason: 'it answered 500.' };
    const followed = [{ start: 10, readUntil: 50, holes: [hole], reason: 'it answered 404.' }];
    expect(covered([], 0, 60, followed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '0 10 No subscription follows the truck at this time.',
      '10 20 The partner lists no recording.',
      '20 30 Not read yet: it answered 500.',
      '30 50 The partner lists no recording.',
      '50 60 Not read yet: it answered 404.',
    ]);
  });

  test('says of all that is not read that it will not be, once the connection was deleted', () => {
    const hole = { start: 20, end: 30, reason: 'it answered 500.' };
    const followed = [{ start: 10, readUntil: 50, holes: [hole], reason: 'it answered 404.', isOver: true }];
    const over = 'Not read: the connection was deleted, and nothing is read any more.';
    expect(covered([], 10, 60, followed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '10 20 The partner lists no recording.',
      `20 30 ${over}`,
      '30 50 The partner lists no recording.',
      `50 60 ${over}`,
    ]);
  });
});
