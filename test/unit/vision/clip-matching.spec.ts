import { describe, expect, test } from '@jest/globals';
import { instantOf } from '../../../src/contracts/common/instant.js';
import type { Video } from '../../../src/contracts/vision/vision.api.js';
import {
  type CameraNames,
  ClipMatcher,
  covers,
  type WantedPart,
} from '../../../src/vision/clips/clip-matching.rules.js';
import type { NamePair } from '../../../src/vision/recordings/camera-names.rules.js';
import { MAX_CLIPS_PER_PART } from '../../../src/vision/recordings/recording.rules.js';

function matchingOf<P extends WantedPart>(
  wanted: readonly P[],
  videos: readonly Video[],
  otherRequests?: ReadonlySet<string>,
  names?: CameraNames,
): ClipMatcher<P> {
  const matcher = new ClipMatcher(wanted, names);
  for (const video of videos) matcher.add(video, otherRequests);
  return matcher;
}

/** What the partner of truck T1 said: its camera 1 is the front one. */
const ONE_IS_FRONT: CameraNames = new Map([['T1', [{ requested: 'front', returned: '1' }]]]);

describe('recognising clips (decision 38)', () => {
  const wanted = (fields: Partial<WantedPart> = {}): WantedPart => ({
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
  const matches = (part: Partial<WantedPart>, clip: Partial<Video>) =>
    matchingOf([wanted(part)], [video(clip)]).found.size === 1;

  test.each<[string, Partial<WantedPart>, Partial<Video>, boolean]>([
    ['by its id', {}, { requestId: 'r1' }, true],
    ['by its id, though the camera has another name', {}, { requestId: 'r1', cameraId: 'cam-17' }, true],
    ['by its id, a part of the range', {}, { requestId: 'r1', endTime: '2026-01-31T08:10:00.000000Z' }, true],
    ['not with the id of another', {}, { requestId: 'r2' }, false],
    ['by range under an id that the 202 did not contain', { partnerRequestId: null }, { requestId: 'r2' }, true],
    [
      'not under such an id by another range',
      { partnerRequestId: null },
      { requestId: 'r2', startTime: '2026-01-31T09:00:00.000000Z', endTime: '2026-01-31T10:00:00.000000Z' },
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
      'by its id, though the truck is spelled differently',
      { truckId: 'T7' },
      { requestId: 'r1', truckId: 'T-0007' },
      true,
    ],
    ['not under its id, of a truck without its number', { truckId: 'T7' }, { requestId: 'r1', truckId: 'T' }, false],
    ['not under its id, of a truck with a number', { truckId: 'T' }, { requestId: 'r1', truckId: 'T7' }, false],
    ['not under its id, of ten times its number', { truckId: 'T7' }, { requestId: 'r1', truckId: 'T70' }, false],
    ['not by such a truck alone', { truckId: 'T7' }, { truckId: 'T-0007' }, false],
    ['by truck, camera and range', {}, {}, true],
    ['not by a truck in other letter case', { truckId: 't1' }, {}, false],
    ['not by a camera in other letter case', {}, { cameraId: 'Front' }, false],
    ['not by a number that nobody said is the placement', {}, { cameraId: '1' }, false],
    ['nor the reverse', { cameraId: '1' }, {}, false],
    ['not by another placement', {}, { cameraId: 'rear' }, false],
    ['by a range cut at key frames', {}, { startTime: '2026-01-31T07:59:55.000000Z' }, true],
    ['by a part of the range', {}, { startTime: '2026-01-31T08:20:00.000000Z' }, true],
    ['by more than the range', {}, { endTime: '2026-01-31T12:00:00.000000Z' }, true],
    [
      'not by another range',
      {},
      { startTime: '2026-01-31T09:00:00.000000Z', endTime: '2026-01-31T10:00:00.000000Z' },
      false,
    ],
    [
      'not by the seconds at its end of the clip of a neighbour',
      {},
      { startTime: '2026-01-31T08:59:55.000000Z', endTime: '2026-01-31T10:00:00.000000Z' },
      false,
    ],
    ['by range where the partner gave no id', { partnerRequestId: null }, {}, true],
  ])('%s', (_, part, clip, expected) => expect(matches(part, clip)).toBe(expected));

  test.each<[string, NamePair[], string, boolean]>([
    ['as it was returned for it', [{ requested: 'front', returned: '1' }], '1', true],
    ['as it was requested by it', [{ requested: '1', returned: 'front' }], '1', true],
    ['not by the number of another camera', [{ requested: 'front', returned: '1' }], '2', false],
    [
      'not where the partner returns two for one',
      [
        { requested: 'front', returned: '1' },
        { requested: 'front', returned: '2' },
      ],
      '1',
      false,
    ],
  ])('by a number that the partner said is the camera: %s', (_, pairs, cameraId, expected) => {
    const names = new Map([['T1', pairs]]);
    expect(matchingOf([wanted()], [video({ cameraId })], new Set(), names).found.size).toBe(expected ? 1 : 0);
  });

  test('a clip of a number is reported, and lands under no camera by a guess', () => {
    const [front, rear] = [wanted({ id: 'front' }), wanted({ id: 'rear', cameraId: 'rear' })];
    const matcher = matchingOf([front, rear], [video({ id: 'x', cameraId: '1' }), video({ id: 'y', cameraId: '2' })]);
    expect(matcher.found.size).toBe(0);
    expect(matcher.findings().map(({ path, reason }) => `${path} ${reason}`)).toEqual([
      'data.videos[].cameraId The clip x has no requestId, and nothing says that camera 1 is camera front.',
      'data.videos[].cameraId The clip y has no requestId, and nothing says that camera 2 is camera front.',
    ]);
  });

  test('an exact camera is better than an alias', () => {
    const [front, one] = [wanted({ id: 'a' }), wanted({ id: 'b', cameraId: '1' })];
    const clips = [video({ id: 'x', cameraId: '1' }), video({ id: 'y' })];
    const { found } = matchingOf([front, one], clips, new Set(), ONE_IS_FRONT);
    expect(found.get(front)?.map(({ id }) => id)).toEqual(['y']);
    expect(found.get(one)?.map(({ id }) => id)).toEqual(['x']);
  });

  test('a clip with the id of another request does not match a request without id', () => {
    const [withoutId, clip] = [wanted({ partnerRequestId: null }), video({ requestId: 'r2' })];
    expect(matchingOf([withoutId], [clip], new Set(['r2'])).found.size).toBe(0);
    expect([...matchingOf([withoutId, wanted({ partnerRequestId: 'r2' })], [clip]).found.keys()]).not.toContain(
      withoutId,
    );
  });

  test('the closest request without an id gets the clip', () => {
    const [front, one] = [wanted({ partnerRequestId: null }), wanted({ partnerRequestId: null, cameraId: '1' })];
    const named = wanted({ partnerRequestId: 'r3' });
    const clips = [video({ requestId: 'r2', cameraId: '1' })];
    expect([...matchingOf([named, front, one], clips).found.keys()]).toEqual([one]);
  });

  test.each<[string, Partial<Video>, boolean]>([
    ['another truck', { truckId: 'T2' }, true],
    ['another day', { startTime: '2026-02-01T08:00:00.000000Z', endTime: '2026-02-01T09:00:00.000000Z' }, true],
    ['the requested range', {}, false],
    ['another id', { requestId: 'r2', truckId: 'T2' }, false],
    ['no id', { requestId: undefined, truckId: 'T2' }, false],
  ])('a clip under our id that shows %s is reported: %s', (_, clip, isReported) => {
    const found = matchingOf([wanted()], [video({ requestId: 'r1', ...clip })]).findings();
    expect(found).toHaveLength(isReported ? 1 : 0);
    for (const { path, reason, raw } of found) {
      expect(path).toBe('data.videos[].requestId');
      expect(raw).toMatchObject(clip);
      expect(reason).toContain('r1');
      expect(reason).toContain((clip.truckId ?? clip.startTime ?? '').slice(0, 10));
      expect(reason).toContain('T1');
    }
  });

  test.each<[string, Partial<WantedPart>, Partial<Video>, string, string]>([
    ['under one id', {}, { requestId: 'r1' }, 'data.videos[].requestId', 'Request r1'],
    [
      'without an id',
      { partnerRequestId: null },
      { requestId: undefined },
      'data.videos[]',
      'The request for truck T1, camera front, from 2026-01-31T08:00:00Z to 2026-01-31T09:00:00Z',
    ],
  ])('of thousands of clips %s the first ones match, and the rest is reported', (_, its, theirs, path, request) => {
    const part = wanted(its);
    const clips = Array.from({ length: MAX_CLIPS_PER_PART + 1 }, (_, n) => video({ id: `v${n}`, ...theirs }));
    const matcher = matchingOf([part], clips);
    expect(matcher.found.get(part)).toEqual(clips.slice(0, MAX_CLIPS_PER_PART));
    expect(matcher.findings()).toEqual([
      { path, reason: `${request} has more than 1000 clips; only the first ones are fetched.` },
    ]);
    expect(matchingOf([part], clips.slice(1)).findings()).toEqual([]);
  });

  test('requests with the same id are distinguished by their ranges', () => {
    const early = wanted({ id: 'a' });
    const late = wanted({ id: 'b', startTime: '2026-01-31T09:00:00.000000Z', endTime: '2026-01-31T10:00:00.000000Z' });
    const clip = video({ requestId: 'r1', startTime: late.startTime, endTime: late.endTime });
    expect([...matchingOf([early, late], [clip]).found.keys()]).toEqual([late]);
  });
});

describe('clips that cover a part', () => {
  const at = (seconds: number) => new Date(Date.parse('2026-01-31T08:00:00Z') + seconds * 1_000).toISOString();
  const range = ([start, end]: readonly [number, number]) => ({ startTime: at(start), endTime: at(end) });
  const pieces = (count: number) => Array.from({ length: count }, (_, n): [number, number] => [n * 4, n * 4 + 4]);

  test.each<[string, number, [number, number][], boolean]>([
    ['one', 300, [[0, 300]], true],
    ['one that was cut at key frames', 300, [[10, 290]], true],
    ['one that begins too late', 300, [[11, 300]], false],
    ['one that ends too early', 300, [[0, 289]], false],
    ['one of a short part without at most a quarter', 8, [[2, 6]], true],
    ['one of a short part without more', 8, [[3, 8]], false],
    [
      'two adjacent ones in any order',
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
    ['all pieces except the last one', 60, pieces(14), false],
    ['all pieces except one in the middle', 60, pieces(15).toSpliced(7, 1), false],
    ['more than the requested range', 300, [[-60, 400]], true],
  ])('%s', (_, length, clips, expected) => {
    expect(covers(clips.map(range), range([0, length]))).toBe(expected);
  });
});

const START = Date.parse('2026-01-31T08:00:00Z');

test('of several parts the one that a clip shows most of gets it, and the shorter one of equals', () => {
  const at = (minutes: number) => instantOf(new Date(START + minutes * 60_000));
  const common = { truckId: 'T7', cameraId: 'front', partnerRequestId: null };
  const part = (from: number, to: number): WantedPart => ({
    id: `${from}-${to}`,
    ...common,
    startTime: at(from),
    endTime: at(to),
  });
  const wanted = [part(0, 60), part(60, 120), part(50, 70), part(60, 61)];
  const partOf = (from: number, to: number) => {
    const clip = { id: 'v', customerId: 'c', durationSeconds: 60, downloadUrl: 'https://x.example' };
    const range = { truckId: 'T7', cameraId: 'front', startTime: at(from), endTime: at(to) };
    return [...matchingOf(wanted, [{ ...clip, ...range }]).found.keys()].map(({ id }) => id);
  };
  expect(partOf(0, 60)).toEqual(['0-60']);
  expect(partOf(59, 120)).toEqual(['60-120']);
  expect(partOf(52, 56)).toEqual(['50-70']);
  expect(partOf(60, 60.5)).toEqual(['60-61']);
  expect(partOf(120, 180)).toEqual([]);
});

test('a thousand parts of one camera and 25,000 clips match in seconds', () => {
  const at = (ms: number) => instantOf(new Date(START + ms));
  const range = (n: number) => ({ startTime: at(n * 300_000), endTime: at((n + 1) * 300_000) });
  const common = { truckId: 'T7', cameraId: 'front' };
  const wanted = Array.from({ length: 1_000 }, (_, n) => ({
    id: `${n}`,
    partnerRequestId: 'r',
    ...common,
    ...range(n),
  }));
  const matcher = new ClipMatcher(wanted);
  const started = process.cpuUsage();
  for (let n = 0; n < 25_000; n++) {
    const clip = { id: `v${n}`, customerId: 'c', durationSeconds: 300, downloadUrl: 'https://x.example' };
    matcher.add({ ...clip, ...common, ...range(n) });
  }
  expect(matcher.found.size).toBe(wanted.length);
  // 25 million comparisons of numbers take 0.3 s; of texts they took 30 s.
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
});
