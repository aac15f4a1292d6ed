import { describe, expect, test } from '@jest/globals';
import { coverageOf, missingPieces, type Piece, type Subscribed } from '../../../src/vision/coverage/coverage.rules.js';
import { gapsOf } from '../../../src/vision/recordings/recording.rules.js';

describe('the gaps of a clip', () => {
  const listed = { startTime: '2026-01-31T00:00:00.000000Z', endTime: '2026-01-31T00:00:30.000000Z' };
  const clip = {
    ...listed,
    id: 'a',
    customerId: 'c',
    truckId: 't',
    cameraId: 'front',
    downloadUrl: 'https://x.example',
  };

  test.each<[string, number, string[]]>([
    ['a clip as long as its range', 30, []],
    ['a clip that is half a second off', 29, []],
    ['a clip of unknown length', 0, []],
    ['a shorter clip', 20, ['00:00:20']],
  ])('%s, of a partner that names no gaps', (_, durationSeconds, starts) => {
    expect(gapsOf({ ...clip, durationSeconds }).map(({ startTime }) => startTime.slice(11, 19))).toEqual(starts);
  });

  test('are cut at the range of the clip', () => {
    const gap = { startTime: '2026-01-30T00:00:00.000000Z', endTime: '2026-01-31T00:00:10.000000Z' };
    const outside = { startTime: '2026-01-31T00:01:00.000000Z', endTime: '2026-01-31T00:02:00.000000Z' };
    expect(gapsOf({ ...clip, durationSeconds: 20, gaps: [gap, outside] })).toMatchObject([
      { startTime: listed.startTime, endTime: gap.endTime },
    ]);
  });
});

describe('coverage (decision 49)', () => {
  const piece = (start: number, end: number, state: Piece['state'], recordingId?: string): Piece => ({
    start,
    end,
    state,
    ...(recordingId === undefined ? {} : { recordingId }),
  });
  const covered = (pieces: readonly Piece[], from: number, to: number, subscribed: readonly Subscribed[] = []) =>
    coverageOf([...pieces, ...missingPieces(subscribed)], from, to);
  const brief = (pieces: readonly Piece[]) =>
    pieces.map(({ start, end, state, recordingId = '' }) => [start, end, state, recordingId].join(' ').trim());

  test.each<[string, Piece[], string[]]>([
    ['nothing', [], ['0 10 missing']],
    [
      'a gap',
      [piece(0, 3, 'stored', 'a'), piece(5, 10, 'available', 'b')],
      ['0 3 stored a', '3 5 missing', '5 10 available b'],
    ],
    [
      'pieces that are cut at the ends',
      [piece(-5, 2, 'stored', 'a'), piece(9, 20, 'expired', 'b')],
      ['0 2 stored a', '2 9 missing', '9 10 expired b'],
    ],
    [
      'the better one of two',
      [piece(0, 10, 'expired', 'a'), piece(4, 6, 'stored', 'b')],
      ['0 4 expired a', '4 6 stored b', '6 10 expired a'],
    ],
    [
      'the first of two equal ones',
      [piece(2, 8, 'stored', 'b'), piece(0, 5, 'stored', 'a')],
      ['0 5 stored a', '5 8 stored b', '8 10 missing'],
    ],
    [
      'the longer of two with the same start',
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

  test('covers every moment once', () => {
    let seed = 7;
    const random = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
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

  test('gives the reason for missing recordings', () => {
    const subscribed = [{ start: 10, readUntil: 50, unread: [{ start: 20, end: 30, reason: 'it answered 500.' }] }];
    expect(covered([], 0, 60, subscribed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '0 10 No subscription includes the truck at this time.',
      '10 20 The partner lists no recording.',
      '20 30 Not read yet: it answered 500.',
      '30 50 The partner lists no recording.',
      '50 60 Not read yet.',
    ]);
  });

  test('shows a failed recording before an unread window, and that before what another subscription has read', () => {
    const unread = [{ start: 20, end: 30, reason: 'it answered 500.' }];
    const subscribed = [
      { start: 0, readUntil: 60, unread: [] },
      { start: 10, readUntil: 50, unread },
    ];
    const found = covered([piece(22, 28, 'missing', 'a')], 15, 35, subscribed);
    expect(found.map(({ start, end, recordingId, reason }) => `${start} ${end} ${recordingId ?? reason}`)).toEqual([
      '15 20 The partner lists no recording.',
      '20 22 Not read yet: it answered 500.',
      '22 28 a',
      '28 30 Not read yet: it answered 500.',
      '30 35 The partner lists no recording.',
    ]);
  });

  test('shows the failure of the last reading after what was read', () => {
    const window = { start: 20, end: 30, reason: 'it answered 500.' };
    const subscribed = [{ start: 10, readUntil: 50, unread: [window], reason: 'it answered 404.' }];
    expect(covered([], 0, 60, subscribed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '0 10 No subscription includes the truck at this time.',
      '10 20 The partner lists no recording.',
      '20 30 Not read yet: it answered 500.',
      '30 50 The partner lists no recording.',
      '50 60 Not read yet: it answered 404.',
    ]);
  });

  test('says after the deletion of the connection that nothing more will be read', () => {
    const window = { start: 20, end: 30, reason: 'it answered 500.' };
    const subscribed = [{ start: 10, readUntil: 50, unread: [window], reason: 'it answered 404.', isEnded: true }];
    const ended = 'Not read: the connection was deleted, and nothing more will be read.';
    expect(covered([], 10, 60, subscribed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '10 20 The partner lists no recording.',
      `20 30 ${ended}`,
      '30 50 The partner lists no recording.',
      `50 60 ${ended}`,
    ]);
  });
});
