import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from '../../support/fast-check.js';
import type { Recording } from '../../../src/contracts/vision/vision.api.js';
import { PartnerFailure } from '../../../src/partner-client/partner-failure.js';
import { UnstableListError } from '../../../src/vision/client/read-pages.js';
import { rereadings } from '../../../src/core/config/parse.js';
import {
  daysOf,
  nextWindow,
  overlapMs,
  rereadWindow,
  shareOf,
  shouldDefer,
} from '../../../src/vision/continuous/windows.rules.js';
import type { Span } from '../../../src/vision/range.js';
import {
  distinctChunks,
  hasGrown,
  knownByCamera,
  type KnownChunk,
} from '../../../src/vision/recordings/recording.rules.js';
import type { NamePair } from '../../../src/vision/recordings/camera-names.rules.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const DAY = 24 * HOUR;
const QUARTER = 15 * MINUTE;

describe('windows (decision 48)', () => {
  const now = Date.parse('2026-02-10T12:00:00Z');

  test('steps of 24 h from the start; the last window ended a minute ago', () => {
    const startTime = now - 60 * HOUR;
    const first = nextWindow({ startTime, readUntil: startTime, lastReadAt: undefined }, now, QUARTER);
    expect(first).toEqual({ start: startTime, end: startTime + 24 * HOUR, isLast: false });
    const last = nextWindow({ startTime, readUntil: startTime + 48 * HOUR, lastReadAt: now }, now, QUARTER);
    expect(last).toEqual({ start: now - 12 * HOUR, end: now - MINUTE, isLast: true });
    const whole = now - MINUTE - 24 * HOUR;
    expect(nextWindow({ startTime: whole, readUntil: whole, lastReadAt: undefined }, now, QUARTER)?.isLast).toBe(true);
  });

  const readAgo = (msAgo: number) => ({ readUntil: now - msAgo - MINUTE, lastReadAt: now - msAgo });

  test.each([
    ['no time', 0],
    ['1 minute', MINUTE],
    ['5 minutes', 5 * MINUTE],
    ['7 hours', 7 * HOUR],
  ])('starts 15 minutes before a reading of %s ago, but not before the subscription', (_, msAgo) => {
    expect(nextWindow({ startTime: now - 100 * HOUR, ...readAgo(msAgo) }, now, QUARTER)).toEqual({
      start: now - msAgo - QUARTER,
      end: now - MINUTE,
      isLast: true,
    });
    const startTime = now - msAgo - 10 * MINUTE;
    expect(nextWindow({ startTime, ...readAgo(msAgo) }, now, QUARTER)?.start).toBe(startTime);
  });

  test('no window has closed yet', () => {
    for (const startTime of [now + HOUR, now, now - 1, now - MINUTE]) {
      expect(nextWindow({ startTime, readUntil: startTime, lastReadAt: undefined }, now, QUARTER)).toBeUndefined();
    }
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

describe('re-reading by age (decision 48)', () => {
  const start = Date.parse('2026-01-01T00:00:00Z');
  /** All windows that are read in this many days of a subscription that is read every five minutes, with the times of reading. */
  function readings(rule: string, days: number): (Span & { readonly at: number })[] {
    const rules = rereadings(rule);
    const read: (Span & { at: number })[] = [];
    let [readUntil, lastReadAt]: [number, number | undefined] = [start, undefined];
    for (let now = start + 5 * MINUTE; now <= start + days * DAY; now += 5 * MINUTE) {
      const position = { startTime: start, readUntil, lastReadAt };
      const window = nextWindow(position, now, overlapMs(rules));
      if (window === undefined) continue;
      const reread = rereadWindow(rules, { ...position, until: window.start, now, share: 0.3 });
      [readUntil, lastReadAt] = [window.end, now];
      const windows = [window, ...(reread === undefined ? [] : daysOf(reread))];
      read.push(...windows.map((each) => ({ start: each.start, end: each.end, at: now })));
    }
    return read;
  }
  const DEFAULT = '15m/0 6h/1h 3d/1d 14d/7d';
  const byAge = readings(DEFAULT, 45);
  const timesListed = (all: readonly Span[], chunk: number) =>
    all.filter((window) => window.start < chunk + 5 * MINUTE && window.end > chunk).length;

  test('a chunk is listed at most 20 times in its life, and not 74 times', () => {
    const chunks = Array.from({ length: 7 }, (_, n) => start + 10 * DAY + n * (DAY / 7) + n * MINUTE);
    const before = readings('6h/0', 12);
    expect(Math.max(...chunks.map((chunk) => timesListed(before, chunk)))).toBe(74);
    expect(Math.max(...chunks.map((chunk) => timesListed(byAge, chunk)))).toBeLessThanOrEqual(20);
  });

  test.each<[string, number, number]>([
    ['14 minutes', 14 * MINUTE, 6 * MINUTE],
    ['5 hours', 5 * HOUR, HOUR + 5 * MINUTE],
    ['6 hours less a minute', 6 * HOUR - MINUTE, HOUR + 5 * MINUTE],
    ['10 hours', 10 * HOUR, DAY + 5 * MINUTE],
    ['3 days less a minute', 3 * DAY - MINUTE, DAY + 5 * MINUTE],
    ['10 days', 10 * DAY, 7 * DAY + 5 * MINUTE],
    ['14 days less a minute', 14 * DAY - MINUTE, 7 * DAY + 5 * MINUTE],
  ])('a chunk that is listed %s late is found, whenever it is', (_, late, within) => {
    for (let chunk = start + DAY; chunk < start + 9 * DAY; chunk += 67 * MINUTE) {
      const listedAt = chunk + late;
      const found = byAge.find((read) => read.at >= listedAt && read.start < chunk + MINUTE && read.end > chunk);
      expect((found?.at ?? Infinity) - listedAt).toBeLessThanOrEqual(within);
    }
  });

  test('windows of re-readings are whole days of UTC at most, and adjacent', () => {
    const window = { start: start + 5 * HOUR, end: start + 2 * DAY + HOUR };
    expect(daysOf(window).map((day) => [day.start - start, day.end - start])).toEqual([
      [5 * HOUR, DAY],
      [DAY, 2 * DAY],
      [2 * DAY, 2 * DAY + HOUR],
    ]);
  });

  test('a thousand subscriptions that are made together are not re-read together', () => {
    const rules = rereadings('14d/7d');
    const ids = Array.from(
      { length: 1_000 },
      (_, n) => `00000000-0000-7000-8000-0000${hash('sha256', String(n)).slice(0, 8)}`,
    );
    const days = ids.map((id) => {
      for (let now = start + DAY; ; now += DAY) {
        const read = { startTime: start - 30 * DAY, lastReadAt: now - DAY, until: now, now, share: shareOf(id) };
        if (rereadWindow(rules, read) !== undefined) return Math.round((now - start) / DAY);
      }
    });
    const byDay = [1, 2, 3, 4, 5, 6, 7].map((day) => days.filter((each) => each === day).length);
    expect(byDay.reduce((sum, count) => sum + count)).toBe(1_000);
    expect(Math.min(...byDay)).toBeGreaterThan(100);
    expect(Math.max(...byDay)).toBeLessThan(190);
  });

  /** Any rules, and readings at any times: intervals change, partners fail, and instances are stopped for weeks. */
  const HISTORIES = fc.record({
    rules: fc.array(
      fc.record({ backMs: fc.integer({ min: 1_000, max: 30 * DAY }), everyMs: fc.integer({ min: 1, max: 40 * DAY }) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    gaps: fc.array(fc.oneof(fc.integer({ min: 30_000, max: HOUR }), fc.integer({ min: HOUR, max: 20 * DAY })), {
      minLength: 2,
      maxLength: 60,
    }),
    share: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    lateShare: fc.double({ min: 0, max: 1, noNaN: true }),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  test('no chunk that is listed within a re-reading of its age is missed, at whatever times the subscription is read', () => {
    fc.assert(
      fc.property(HISTORIES, ({ rules, gaps, share, lateShare, at }) => {
        const times = gaps.reduce<number[]>((all, gap) => [...all, (all.at(-1) ?? start) + gap], []);
        const [first = 0, last = 0] = [times[0], times.at(-1)];
        const listedAt = first + Math.floor(at * (last - first));
        const [rule = { backMs: 0, everyMs: 1 }] = rules;
        const chunk = listedAt - Math.floor(lateShare * rule.backMs);
        const startTime = start - 365 * DAY;
        const found = times.find((now, n) => {
          const lastReadAt = times[n - 1];
          if (now < listedAt) return false;
          // The current reading lists everything from `until` on.
          if (chunk >= now) return true;
          const window = rereadWindow(rules, { startTime, lastReadAt, until: now, now, share });
          return window !== undefined && window.start <= chunk;
        });
        // It is found by the first reading that is an interval later, or none was.
        const latest = times.find((now) => now >= listedAt + rule.everyMs);
        expect(found ?? Infinity).toBeLessThanOrEqual(latest ?? Infinity);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a re-reading is due once in its interval, however often the subscription is read', () => {
    fc.assert(
      fc.property(HISTORIES, ({ rules, gaps, share }) => {
        const [rule = { backMs: 0, everyMs: 1 }] = rules;
        const times = gaps.reduce<number[]>((all, gap) => [...all, (all.at(-1) ?? start) + gap], []);
        const startTime = start - 365 * DAY;
        const due = times.filter((now, n) => {
          const lastReadAt = times[n - 1];
          return rereadWindow([rule], { startTime, lastReadAt, until: now, now, share }) !== undefined;
        });
        const periods = Math.ceil(((times.at(-1) ?? 0) - (times[0] ?? 0)) / rule.everyMs);
        expect(due.length).toBeLessThanOrEqual(periods);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a subscription that was never read is not re-read, and none before its start', () => {
    const rules = rereadings(DEFAULT);
    const now = start + 30 * DAY;
    const position = { startTime: start, until: now, now, share: 0.5 };
    expect(rereadWindow(rules, { ...position, lastReadAt: undefined })).toBeUndefined();
    expect(rereadWindow(rules, { ...position, lastReadAt: start + HOUR })).toEqual({ start, end: now });
    expect(rereadWindow(rules, { ...position, until: start, lastReadAt: start + HOUR })).toBeUndefined();
    expect(rereadWindow(rereadings('6h/0'), { ...position, lastReadAt: start })).toBeUndefined();
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

  const row = (fields: Partial<KnownChunk>): KnownChunk => ({
    place: 0,
    id: 'r1',
    start: '',
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
    ['failed', false],
    ['available', false],
    ['expired', false],
  ])('a longer range of one that is %s is another file: %s', (status, isAnother) => {
    expect(hasGrown(row({ status, covered: false }))).toBe(isAnother);
    expect(hasGrown(row({ status, covered: true }))).toBe(false);
  });
});
