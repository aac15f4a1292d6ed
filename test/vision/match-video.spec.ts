import { afterEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { epochMillis, formatInstant, instantOf } from '../../src/contracts/common/instant.js';
import type { Video } from '../../src/contracts/vision/vision.dto.js';
import { covers } from '../../src/vision/requests/covers.js';
import { Matching, MOST_CLIPS, type Wanted } from '../../src/vision/requests/match-video.js';
import { comparableName, isSameCamera, mayBeAliases, mayBeOneTruck } from '../../src/vision/spelling.js';
import { matchingOf } from '../support/matching.js';

const START = Date.parse('2026-01-31T08:00:00Z');

afterEach(() => void jest.restoreAllMocks());

/** Each clip with each part, as decision 38 reads. */
function plainly(wanted: readonly Wanted[], videos: readonly Video[], taken: ReadonlySet<string>) {
  const found = new Map<Wanted, Video[]>();
  const strange: string[] = [];
  for (const video of videos) {
    const named = wanted.filter((part) => part.partnerRequestId === video.requestId);
    const [only] = named;
    let part: Wanted | undefined;
    if (video.requestId === undefined) part = plainlyClosest(wanted, video);
    else if (only === undefined) {
      const nameless = wanted.filter(({ partnerRequestId }) => partnerRequestId === null);
      part = taken.has(video.requestId) ? undefined : plainlyClosest(nameless, video);
    } else if (named.length > 1) part = plainlyClosest(named, video);
    else if (plainlyBelieved(only, video)) part = only;
    else
      strange.push(`The clip ${video.id} under request ${video.requestId} shows ${shown(video)}, not ${shown(only)}.`);
    if (part !== undefined) found.set(part, [...(found.get(part) ?? []), video]);
  }
  return { found: [...found].map(([part, clips]) => [part, clips.slice(0, MOST_CLIPS)]), strange };
}

function plainlyBelieved(part: Wanted, video: Video): boolean {
  if (comparableName(part.truckId) !== comparableName(video.truckId)) {
    return mayBeOneTruck(part.truckId, video.truckId) && distanceOf(part, video) !== undefined;
  }
  return video.startTime < part.endTime && video.endTime > part.startTime;
}

function plainlyClosest(candidates: readonly Wanted[], video: Video): Wanted | undefined {
  let best: { part: Wanted; distance: number } | undefined;
  for (const part of candidates) {
    const distance =
      comparableName(part.truckId) === comparableName(video.truckId) ? distanceOf(part, video) : undefined;
    if (distance !== undefined && (best === undefined || distance < best.distance)) best = { part, distance };
  }
  return best?.part;
}

function distanceOf(part: Wanted, video: Video): number | undefined {
  const alias = mayBeAliases(part.cameraId, video.cameraId);
  if (!alias && !isSameCamera(part.cameraId, video.cameraId)) return undefined;
  const [start, end] = [epochMillis(part.startTime), epochMillis(part.endTime)];
  const [before, behind] = [epochMillis(video.startTime) - start, epochMillis(video.endTime) - end].map(Math.abs);
  const most = Math.min(10_000, (end - start) * 0.25);
  if (before === undefined || behind === undefined || before > most || behind > most) return undefined;
  return (alias ? 1_000_000 : 0) + before + behind;
}

const shown = ({
  truckId,
  cameraId,
  startTime,
  endTime,
}: Pick<Wanted, 'truckId' | 'cameraId' | 'startTime' | 'endTime'>) =>
  `truck ${truckId}, camera ${cameraId}, from ${formatInstant(startTime)} to ${formatInstant(endTime)}`;

/** Near each other and near the tolerance, and often the same. */
const range = fc
  .record({
    hour: fc.constantFrom(0, 0, 0, 1),
    off: fc.constantFrom(0, 0, 0, 0, 0, 1, 999, 1_000, 1_001, 2_500, 5_000, 9_999, 10_000, 10_001),
    length: fc.constantFrom(1, 4_000, 4_001, 3_600_000, 3_600_000),
    longer: fc.constantFrom(0, 0, 0, 1, 1_000, 10_000),
  })
  .map(({ hour, off, length, longer }) => {
    const start = START + hour * 3_600_000 + off;
    return { startTime: instantOf(new Date(start)), endTime: instantOf(new Date(start + length + longer)) };
  });
const truckId = fc.constantFrom('T7', 'T7', 't7 ', 'T-0007', 'T8', 'Joe');
const cameraId = fc.constantFrom('front', 'front', 'Front ', 'rear', '1', '2', 'cam-17');
const ids = ['r1', 'r2', 'r3', 'r4'];

const parts = fc
  .array(fc.record({ truckId, cameraId, range, partnerRequestId: fc.constantFrom(null, ...ids) }), { maxLength: 12 })
  .map((given) => given.map(({ range, ...part }, n): Wanted => ({ id: `${n}`, ...part, ...range })));
const videos = fc.array(
  fc
    .record({ truckId, cameraId, range, requestId: fc.constantFrom(undefined, ...ids, 'r5') })
    .map(({ range, requestId, ...clip }): Video => ({
      id: 'v',
      customerId: 'c',
      durationSeconds: 1,
      downloadUrl: 'https://x.example',
      ...(requestId === undefined ? {} : { requestId }),
      ...clip,
      ...range,
    })),
  { maxLength: 25 },
);

test('clips are matched as each with each would be', () => {
  fc.assert(
    fc.property(parts, videos, fc.subarray([...ids, 'r5']), (wanted, listed, known) => {
      const taken = new Set(known);
      const expected = plainly(wanted, listed, taken);
      const matching = matchingOf(wanted, listed, taken);
      expect([...matching.found]).toEqual(expected.found);
      expect(matching.disbelieved().map(({ reason }) => reason)).toEqual(expected.strange);
    }),
    { seed: 38, numRuns: 3_000 },
  );
});

test('what is recognised by its range shows all of its part', () => {
  fc.assert(
    fc.property(parts, videos, (wanted, listed) => {
      const nameless = wanted.map((part) => ({ ...part, partnerRequestId: null }));
      for (const [part, clips] of matchingOf(nameless, listed).found) expect(covers(clips, part)).toBe(true);
    }),
    { seed: 38, numRuns: 3_000 },
  );
});

test('of parts as near as each other the first one gets the clip, whichever begins first', () => {
  const at = (ms: number) => ({
    startTime: instantOf(new Date(START + ms)),
    endTime: instantOf(new Date(START + ms + 60_000)),
  });
  const common = { truckId: 'T7', cameraId: 'front', partnerRequestId: null };
  const [late, early] = [5_000, -5_000].map((ms): Wanted => ({ id: `${ms}`, ...common, ...at(ms) }));
  const clip = { id: 'v', customerId: 'c', durationSeconds: 60, downloadUrl: 'https://x.example', ...common, ...at(0) };
  if (late === undefined || early === undefined) throw new Error('two parts are needed');
  expect([...matchingOf([late, early], [clip]).found.keys()]).toEqual([late]);
  expect([...matchingOf([early, late], [clip]).found.keys()]).toEqual([early]);
});

test.each<[string, string | null, string | undefined]>([
  ['without ids', 'r', undefined],
  ['under one id', 'r', 'r'],
  ['whose 202 told no id', null, 'other'],
])('a time is read once for each of a thousand parts and of 25,000 clips %s', (_, partnerRequestId, requestId) => {
  const at = (ms: number) => instantOf(new Date(START + ms));
  const times = (n: number, ms: number) => ({ startTime: at(n * ms), endTime: at((n + 1) * ms) });
  const common = { truckId: 'T7', cameraId: 'front' };
  const wanted = Array.from({ length: 1_000 }, (_unused, n): Wanted => ({
    id: `${n}`,
    partnerRequestId,
    ...common,
    ...times(n, 300_000),
  }));
  const parse = jest.spyOn(Date, 'parse');
  const matching = new Matching(wanted);
  // Two ends of each part, in the index of all and in that of its id.
  expect(parse.mock.calls.length).toBeLessThanOrEqual(4 * wanted.length);
  const before = parse.mock.calls.length;
  for (let n = 0; n < 25_000; n++) {
    const clip = { id: `v${n}`, customerId: 'c', durationSeconds: 300, downloadUrl: 'https://x.example' };
    matching.take({ ...clip, ...common, ...(requestId === undefined ? {} : { requestId }), ...times(n, 300_000) });
  }
  expect(matching.found.size).toBe(wanted.length);
  expect(parse.mock.calls.length - before).toBeLessThanOrEqual(2 * (25_000 + wanted.length));
});
