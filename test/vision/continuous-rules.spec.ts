import { describe, expect, test } from '@jest/globals';
import type { Recording } from '../../src/contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../src/partner-client/partner-failure.js';
import { UnstableListError } from '../../src/vision/client/read-pages.js';
import { nextWindow, shouldDefer } from '../../src/vision/continuous/window-reading.job.js';
import {
  distinctChunks,
  hasGrown,
  knownByCamera,
  type KnownChunk,
} from '../../src/vision/recordings/recording.rules.js';
import type { NamePair } from '../../src/vision/recordings/camera-names.rules.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('windows (decision 48)', () => {
  const now = Date.parse('2026-02-10T12:00:00Z');

  test('steps of 24 h from the start; the last window ended a minute ago', () => {
    const startTime = now - 60 * HOUR;
    const first = nextWindow({ startTime, readUntil: startTime, lastReadAt: undefined }, now);
    expect(first).toEqual({ start: startTime, end: startTime + 24 * HOUR, isLast: false });
    const last = nextWindow({ startTime, readUntil: startTime + 48 * HOUR, lastReadAt: now }, now);
    expect(last).toEqual({ start: now - 12 * HOUR, end: now - MINUTE, isLast: true });
    const whole = now - MINUTE - 24 * HOUR;
    expect(nextWindow({ startTime: whole, readUntil: whole, lastReadAt: undefined }, now)?.isLast).toBe(true);
  });

  const readAgo = (msAgo: number) => ({ readUntil: now - msAgo - MINUTE, lastReadAt: now - msAgo });

  test.each([
    ['no time', 0],
    ['1 minute', MINUTE],
    ['5 minutes', 5 * MINUTE],
    ['7 hours', 7 * HOUR],
    ['17 hours', 17 * HOUR],
  ])('starts 6 hours before a reading of %s ago, but not before the subscription', (_, msAgo) => {
    expect(nextWindow({ startTime: now - 100 * HOUR, ...readAgo(msAgo) }, now)).toEqual({
      start: now - msAgo - 6 * HOUR,
      end: now - MINUTE,
      isLast: true,
    });
    const startTime = now - msAgo - HOUR;
    expect(nextWindow({ startTime, ...readAgo(msAgo) }, now)?.start).toBe(startTime);
  });

  test('the first of several starts 6 hours earlier, and the next one where it ended', () => {
    const startTime = now - 100 * HOUR;
    const first = { start: now - 36 * HOUR, end: now - 12 * HOUR, isLast: false };
    expect(nextWindow({ startTime, ...readAgo(30 * HOUR) }, now)).toEqual(first);
    expect(nextWindow({ startTime, readUntil: first.end, lastReadAt: now }, now)).toEqual({
      start: first.end,
      end: now - MINUTE,
      isLast: true,
    });
  });

  test('no window has closed yet', () => {
    for (const startTime of [now + HOUR, now, now - 1, now - MINUTE]) {
      expect(nextWindow({ startTime, readUntil: startTime, lastReadAt: undefined }, now)).toBeUndefined();
    }
  });

  test('never longer than 24 h', () => {
    let windows = 0;
    for (let hours = 0; hours < 60; hours += 0.37) {
      const readUntil = now - hours * HOUR;
      for (const lastReadAt of [undefined, readUntil + MINUTE, now]) {
        const window = nextWindow({ startTime: now - 50 * HOUR, readUntil, lastReadAt }, now);
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
    ['connectionChanged', undefined, 9, false],
  ] as const)(
    'a window with the failure %s and status %s at attempt %i is deferred: %s',
    (kind, status, attempt, expected) => {
      const failure = new PartnerFailure(kind, 'x', status === undefined ? {} : { status });
      expect(shouldDefer(failure, attempt)).toBe(expected);
    },
  );

  test('a window whose list cannot be read to its end is deferred', () => {
    expect([2, 3].map((attempt) => shouldDefer(new UnstableListError('x'), attempt))).toEqual([false, true]);
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
    ['its id with a range after it', later, false],
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

  const row = (fields: Partial<KnownChunk>): KnownChunk => ({
    place: 0,
    id: 'r1',
    status: 'available',
    camera: 'front',
    same_range: true,
    covered: true,
    ...fields,
  });
  const known = (cameras: readonly string[], rows: readonly KnownChunk[], names: readonly NamePair[] = []) =>
    [
      ...knownByCamera(
        cameras.map((cameraId) => chunk({ cameraId })),
        rows,
        new Map([[chunk().truckId, names]]),
      ),
    ].map(([place, { id }]) => [place, id]);

  const one: NamePair[] = [{ requested: 'front', returned: '1' }];
  const two: NamePair[] = [...one, { requested: 'front', returned: '2' }];

  test.each<[string, string[], KnownChunk[], [number, string][], NamePair[]]>([
    ['by its camera', ['front'], [row({})], [[0, 'r1']], []],
    ['the first of several', ['front'], [row({}), row({ id: 'r2' })], [[0, 'r1']], []],
    ['not by another placement', ['front'], [row({ camera: 'rear' })], [], []],
    ['by another name of its camera', ['front'], [row({ camera: '1' })], [[0, 'r1']], one],
    ['not by a name that nobody said is its camera', ['front'], [row({ camera: '1' })], [], []],
    ['not by a name of which two are said', ['front'], [row({ camera: '1' })], [], two],
    ['by its own name before another', ['front'], [row({ camera: '1' }), row({ id: 'r2' })], [[0, 'r2']], one],
    [
      'by another name only where no chunk has that name',
      ['front', '1'],
      [row({ camera: '1' }), row({ place: 1, camera: '1' })],
      [[1, 'r1']],
      one,
    ],
  ])('recognised %s', (_, cameras, rows, expected, names) => expect(known(cameras, rows, names)).toEqual(expected));

  test.each([
    ['stored', true],
    ['failed', true],
    ['available', false],
    ['expired', false],
  ])('a longer range of one that is %s is another file: %s', (status, isAnother) => {
    expect(hasGrown(row({ status, covered: false }))).toBe(isAnother);
    expect(hasGrown(row({ status, covered: true }))).toBe(false);
  });
});
