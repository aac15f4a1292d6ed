import { describe, expect, it, test } from '@jest/globals';
import type { OverviewDay } from '../../../src/contracts/admin/overview.dto.js';
import type { StoredRecording } from '../../../src/contracts/admin/recordings.routes.js';
import type { CameraCoverage, CoverageBucket, CoverageInterval } from '../../../src/contracts/admin/coverage.routes.js';
import type { SyncRunCounts } from '../../../src/contracts/admin/sync-runs.routes.js';
import { FIGURES, scaleOf } from '../../../src/console/pages/home/home.rules.js';
import {
  describe as describeSegment,
  resolutionOf,
  tracksOf,
  zoomed,
} from '../../../src/console/pages/coverage/coverage.rules.js';
import { cameraLabel, sentenceOf, timeText } from '../../../src/console/pages/coverage/coverage-sentence.rules.js';
import { camerasOf, chunkAt, chunksOf, resumeAt } from '../../../src/console/pages/player/playback.rules.js';
import { changesOf } from '../../../src/console/pages/sync/run.rules.js';
import { dayOf, localTime, momentOf, ticksOf } from '../../../src/console/parts/zone.rules.js';

const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text);

describe('the time zone of a page', () => {
  test.each([
    ['23 hours when summer time starts', '2026-03-08T18:00:00Z', 23],
    ['25 hours when summer time ends', '2026-11-01T18:00:00Z', 25],
    ['24 hours otherwise', '2026-06-01T18:00:00Z', 24],
  ])('has a day of %s', (_, time, hours) => {
    const [start, end] = dayOf(at(time), 'America/Chicago');
    expect((end - start) / HOUR_MS).toBe(hours);
    expect(localTime(start, 'America/Chicago') % (24 * HOUR_MS)).toBe(0);
  });

  it('finds the moment of a local time, also where the clocks skip it or show it twice', () => {
    const moment = (local: string) => new Date(momentOf(at(local), 'America/Chicago')).toISOString();
    expect(moment('2026-03-08T01:30:00Z')).toBe('2026-03-08T07:30:00.000Z');
    expect(moment('2026-03-08T02:30:00Z')).toBe('2026-03-08T08:30:00.000Z');
    expect(moment('2026-11-01T01:30:00Z')).toBe('2026-11-01T06:30:00.000Z');
    expect(moment('2026-11-01T03:30:00Z')).toBe('2026-11-01T09:30:00.000Z');
  });

  it('marks round local times, in zones of half hours too', () => {
    const [from, to] = [at('2026-06-01T00:00:00Z'), at('2026-06-01T04:00:00Z')];
    const times = ticksOf(from, to, 'Asia/Kolkata', 6).map(({ time }) => new Date(time).toISOString().slice(11, 16));
    expect(times).toEqual(['00:30', '01:30', '02:30', '03:30']);
    expect(ticksOf(from, to, 'Asia/Kolkata', 6)[0]?.label).toBe('06:00');
  });
});

describe('tracks of coverage', () => {
  const interval = (from: number, to: number, fields: Partial<CoverageInterval>): CoverageInterval => ({
    cameraId: 'front',
    startTime: new Date(from).toISOString(),
    endTime: new Date(to).toISOString(),
    state: 'stored',
    lost: false,
    ...fields,
  });

  it('join equal intervals, and distinguish a failed recording from a time without one', () => {
    const [track] = tracksOf([
      interval(0, 1_000, { state: 'missing', reason: 'none listed' }),
      interval(1_000, 2_000, { state: 'missing', reason: 'none listed' }),
      interval(2_000, 3_000, { state: 'missing', lost: true, recordingId: 'r', reason: 'damaged' }),
      interval(3_000, 4_000, { state: 'missing', cause: 'unread', reason: 'no list' }),
      interval(4_000, 5_000, { state: 'missing', cause: 'future' }),
    ]);
    expect(track?.segments.map(describeSegment)).toEqual([
      'not recorded: none listed',
      'failed: damaged',
      'not known, because the list was not read: no list',
      'still to come',
    ]);
  });

  it('show the shares of a bucket', () => {
    const bucket: CoverageBucket = {
      cameraId: 'rear',
      startTime: new Date(0).toISOString(),
      endTime: new Date(100_000).toISOString(),
      stored: 75,
      available: 0,
      expired: 5,
      missing: 18,
      failed: 8,
      lost: 13,
      unread: 3,
      future: 2,
    };
    expect(tracksOf([bucket])[0]?.segments.map(describeSegment)).toEqual([
      '75 % stored, 5 % expired, 8 % failed, 3 % not known, because the list was not read, 7 % not recorded, 2 % still to come',
    ]);
  });

  it('zoom around a moment, between a minute and 31 days', () => {
    expect(zoomed(0, 1_000_000, 0.5, 250_000)).toEqual([125_000, 625_000]);
    expect(zoomed(0, 100_000, 0.1, 0)).toEqual([0, 60_000]);
    const [from, to] = zoomed(0, 30 * 24 * HOUR_MS, 4, 0);
    expect(to - from).toBe(31 * 24 * HOUR_MS);
  });

  it('are single intervals for some hours, and at most one bucket for two pixels beyond', () => {
    expect(resolutionOf(0, 6 * HOUR_MS, 1_000)).toBeUndefined();
    expect(resolutionOf(0, 31 * 24 * HOUR_MS, 1_000)).toBe(5_357);
  });
});

describe('the sentence of a camera', () => {
  const seconds = { stored: 0, available: 0, expired: 0, missing: 0, failed: 0, lost: 0, unread: 0, future: 0 };
  const none = { names: [], ...seconds, causes: [] };
  const of = (fields: Partial<CameraCoverage>) =>
    sentenceOf({ cameraId: 'front', ...none, ...fields }, (time) => time.slice(0, 10));

  it('says how much is lost, why, and whose part it is', () => {
    const lost = (cause: 'notListed' | 'linkRefused' | 'unreachable', side: 'partner' | 'network') => {
      return { cause, side, seconds: 1200 };
    };
    const causes = [lost('notListed', 'partner'), lost('linkRefused', 'partner'), lost('unreachable', 'network')];
    expect(of({ stored: 60, expired: 1200, failed: 2400, lost: 3600, causes })).toEqual({
      text: 'Front: 60 min lost: 20 min not listed by the partner, 20 min of dead links, 20 min of a host that was not reached.',
      sides: 'Whose part: the partner 40 min, the network 20 min',
      isBad: true,
    });
  });

  it('calls nothing lost that was not recorded, and names a camera that recorded nothing', () => {
    const parked = { cause: 'notRecorded', side: 'parked', seconds: 12 * 3600 } as const;
    expect(of({ stored: 12 * 3600, causes: [parked] })).toMatchObject({
      text: 'Front: nothing lost of 12 h recorded. The partner lists nothing for 12 h.',
      isBad: false,
    });
    expect(of({ lastRecordedAt: '2026-01-20T05:30:00Z', causes: [parked] })).toMatchObject({
      text: 'Front: nothing recorded in this time; its last recording began 2026-01-20. The partner lists nothing for 12 h.',
      isBad: true,
    });
  });

  it('has times that can be read at once, and names in place of bare numbers', () => {
    expect([45, 3600, 9 * 3600 + 1200, 100 * 3600].map(timeText)).toEqual([
      '45 s',
      '60 min',
      '9 h 20 min',
      '4 days 4 h',
    ]);
    expect(cameraLabel('2')).toBe('Camera 2');
    expect(cameraLabel('2', ['2', 'rear'])).toBe('Rear (2)');
  });
});

describe('the player', () => {
  const recording = (id: string, cameraId: string, from: number, to: number, status = 'stored') =>
    ({
      id,
      cameraId,
      status,
      startTime: new Date(from).toISOString(),
      endTime: new Date(to).toISOString(),
    }) as StoredRecording;
  const chunks = chunksOf([
    recording('b', 'front', 60_000, 120_000),
    recording('a', 'front', 0, 60_000),
    recording('clip', 'front', 50_000, 70_000),
    recording('c', 'rear', 200_000, 260_000),
    recording('d', 'rear', 0, 300_000, 'failed'),
  ]);

  it('goes on with the next file of a camera, and keeps the one that plays while it lasts', () => {
    expect(chunkAt(chunks, 'front', 59_999)?.id).toBe('a');
    expect(chunkAt(chunks, 'front', 60_000)?.id).toBe('clip');
    expect(chunkAt(chunks, 'front', 60_000, 'b')?.id).toBe('b');
    expect(camerasOf(chunks)).toEqual(['front', 'rear']);
  });

  it('jumps over a gap of all cameras, and stops at the end', () => {
    expect(resumeAt(chunks, ['front', 'rear'], 120_000)).toEqual({ time: 200_000, gapMs: 80_000 });
    expect(resumeAt(chunks, ['front'], 120_000)).toBeUndefined();
    expect(resumeAt(chunks, ['rear'], 210_000)).toEqual({ time: 210_000, gapMs: 0 });
  });
});

describe('the changes of a run', () => {
  const none = { received: 0, created: 0, updated: 0, unchanged: 0, deactivated: 0 };
  const empty = { ...none, restored: 0, stale: 0, flagged: 0, held: 0, quarantined: 0 };
  const counts = (fields: Partial<typeof empty>): SyncRunCounts => ({
    sites: { ...empty, ...fields },
    kiosks: empty,
    materials: empty,
  });

  it('are named with their numbers, of all kinds together', () => {
    expect(changesOf({ ...counts({ created: 2, held: 1 }), kiosks: { ...empty, created: 3 } })).toBe(
      '5 created, 1 held',
    );
    expect(changesOf(counts({ unchanged: 7 }))).toBe('none');
  });
});

describe('a chart of days', () => {
  it('has a round scale that no day is above', () => {
    expect([[], [0, 0], [3], [93, 42], [1_204.5], [0.4]].map(scaleOf)).toEqual([0, 0, 5, 100, 2_000, 0.5]);
  });

  it('leads to the list that counts the same: by whole hours of exchanges, and today without an end', () => {
    const day = {
      day: '2026-11-20',
      startTime: '2026-11-19T18:30:00Z',
      endTime: '2026-11-20T18:30:00Z',
    } as OverviewDay;
    const scope = { haulerId: undefined, zone: 'Asia/Kolkata' };
    const links = FIGURES.map(({ link }) => decodeURIComponent(link(day, scope, true)));
    expect(links[0]).toBe('/console/tickets?from=2026-11-19T18:30:00Z');
    expect(links[3]).toMatch(/rehearsed=false&from=2026-11-19T19:00:00.000Z&to=2026-11-20T19:00:00.000Z$/);
  });
});
