import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RecordedChunk } from '../../../src/reference-partner/vision/media/choose-pieces.js';
import {
  at,
  B_FRAMES,
  boxesOf,
  chunk,
  clipFolder,
  demo,
  hevcVideo,
  type ReadPacket,
  readPackets,
  type ReadVideo,
  remux,
} from './sample-files.js';

/** Whole films that are cut of recordings. `acceptance/partner/clips` has the requests, and `other-peoples-videos` the files. */

/** The demo recordings: ten frames per second, a key frame every second. */
const FPS = 10;
const minute = (n: number) => chunk(n * 60, n * 60 + 60, demo(n));

const { folder, target, cut } = clipFolder();
afterEach(() => rm(target, { force: true }));

const frameOf = ({ sha256, type }: ReadPacket) => ({ sha256, type });
type Frame = ReturnType<typeof frameOf>;

/** Each minute of the demo is read once: that takes longer than most of the cuts. */
const demoFrames = new Map<number, Frame[]>();

/** Frames `from` to `to` (seconds of the video) of the n-th minute of the demo, by their bytes and type. */
async function framesOf(n: number, from: number, to: number): Promise<Frame[]> {
  const frames = demoFrames.get(n) ?? (await readPackets(demo(n))).video.map(frameOf);
  demoFrames.set(n, frames);
  return frames.slice(Math.round(from * FPS), Math.round(to * FPS));
}

/** Expects a playable MP4: a key frame at zero, a frame every tenth of a second, the table of contents in front. */
async function expectPlayable(frames: Frame[]): Promise<void> {
  const packets = await readPackets(target);
  expect(packets.video.map(frameOf)).toEqual(frames);
  expect(packets.video[0]).toMatchObject({ type: 'key', seconds: 0 });
  packets.video.forEach(({ seconds }, index) => expect(seconds).toBeCloseTo(index / FPS, 4));
  expect(packets.durationSeconds).toBeCloseTo(frames.length / FPS, 6);
  expect(boxesOf(await readFile(target)).map(({ name }) => name)).toEqual(['ftyp', 'moov', 'free', 'mdat']);
}

interface Case {
  readonly name: string;
  readonly chunks: RecordedChunk[];
  readonly range: [number, number];
  /** Minute of the demo, and seconds in its recording. */
  readonly takes: [number, number, number][];
  readonly starts: number;
  readonly ends: number;
  readonly missing?: [number, number][];
}

const cases: Case[] = [
  { name: 'inside a chunk', chunks: [minute(0)], range: [10, 20], takes: [[0, 10, 20]], starts: 10, ends: 20 },
  {
    name: 'across two, given in disorder, with others around',
    chunks: [minute(3), minute(1), minute(0), minute(2), chunk(180, 240, 'no such file'), chunk(-60, 0, 'nor this')],
    range: [30, 150],
    takes: [
      [0, 30, 60],
      [1, 0, 60],
      [2, 0, 30],
    ],
    starts: 30,
    ends: 150,
  },
  {
    name: 'a gap is closed and reported',
    chunks: [minute(0), minute(2)],
    range: [50.5, 130],
    takes: [
      [0, 50, 60],
      [2, 0, 10],
    ],
    starts: 50,
    ends: 130,
    missing: [[60, 120]],
  },
  {
    name: 'beyond both ends',
    chunks: [minute(1)],
    range: [0, 180],
    takes: [[1, 0, 60]],
    starts: 60,
    ends: 120,
    missing: [
      [0, 60],
      [120, 180],
    ],
  },
  {
    name: 'an overlap is shown once: up to the end of the earlier',
    chunks: [minute(0), chunk(55, 115, demo(1))],
    range: [50, 70],
    takes: [
      [0, 50, 60],
      [1, 5, 15],
    ],
    starts: 50,
    ends: 70,
  },
];

describe('a clip', () => {
  test.each(cases)('shows its range: $name', async ({ chunks, range, takes, starts, ends, missing = [] }) => {
    const frames = (await Promise.all(takes.map((take) => framesOf(...take)))).flat();
    expect(await cut(chunks, ...range)).toEqual({
      startTime: at(starts),
      endTime: at(ends),
      sizeBytes: (await stat(target)).size,
      missing: missing.map(([from, to]) => ({ startTime: at(from), endTime: at(to) })),
      unrecorded: missing.map(([from, to]) => ({ startTime: at(from), endTime: at(to) })),
      leftOut: [],
      soundFaults: [],
    });
    await expectPlayable(frames);
  });
});

/** The sample files: 25 frames per second, a key frame every two seconds, a P-frame every fourth frame, AAC at 32 kHz. */
const FRAME = 1 / 25;
const SOUND = 1024 / 32_000;

/** Each frame time from zero on has its frame, and the first to be decoded is a key frame. */
function expectSteady({ video }: ReadVideo, frames: number): void {
  const shown = video.map(({ seconds }) => seconds).sort((a, b) => a - b);
  expect(shown).toHaveLength(frames);
  shown.forEach((seconds, index) => expect(seconds).toBeCloseTo(index * FRAME, 4));
  expect(video[0]).toMatchObject({ type: 'key', seconds: 0 });
}

function expectNoOverlap({ audio }: ReadVideo): void {
  const steps = audio.slice(1).map(({ seconds }, index) => seconds - (audio[index]?.seconds ?? 0));
  expect(Math.min(...steps)).toBeGreaterThan(SOUND - 0.001);
}

/** When the clip plays the audio packet that the source plays at `seconds`. */
function playedAt(packets: ReadVideo, source: ReadVideo, seconds: number): number[] {
  const wanted = source.audio.find((packet) => packet.seconds >= seconds);
  return packets.audio.filter(({ sha256 }) => sha256 === wanted?.sha256).map((packet) => packet.seconds);
}

test('pictures that are decoded out of order and sound stay in time, also after a join', async () => {
  const source = await readPackets(B_FRAMES);
  expect(await cut([chunk(0, 12, B_FRAMES), chunk(12, 24, B_FRAMES)], 4, 20)).toMatchObject({ missing: [] });
  const packets = await readPackets(target);
  const first = source.video.slice(source.video.findIndex(({ seconds }) => seconds >= 4));
  const last = source.video.slice(0, packets.video.length - first.length);
  expect(packets.video.map(({ sha256 }) => sha256)).toEqual([...first, ...last].map(({ sha256 }) => sha256));
  expectSteady(packets, packets.video.length);
  expectNoOverlap(packets);
  expect(packets.audio[0]?.seconds).toBeLessThanOrEqual(SOUND);
  expect(packets.audio.at(-1)?.seconds).toBeGreaterThan(16 - 2 * SOUND);
  expect(packets.audio.at(-1)?.seconds).toBeLessThan(16);
  const [before, after] = [playedAt(packets, source, 9.5), playedAt(packets, source, 3.5)];
  expect(before.map((seconds) => seconds - 5.5).every((late) => Math.abs(late) < SOUND)).toBe(true);
  expect(after.map((seconds) => seconds - 11.5).every((late) => Math.abs(late) < SOUND)).toBe(true);
  expect([before.length, after.length]).toEqual([1, 1]);
});

test('the pictures of a camera that is mounted sideways keep their rotation', async () => {
  const path = await remux(demo(0), join(folder, 'sideways.mp4'), { rotation: 90 });
  await cut([chunk(0, 60, path)], 0, 10);
  expect((await readPackets(target)).rotation).toBe(90);
});

test('a clip of H.265 has the same pictures', async () => {
  const path = await hevcVideo(join(folder, 'hevc.mp4'));
  expect(await cut([chunk(0, 60, path)], 2.5, 4)).toMatchObject({ startTime: at(2), endTime: at(4), missing: [] });
  const [source, clip] = [await readPackets(path), await readPackets(target)];
  expect(clip.video.map(({ sha256 }) => sha256)).toEqual(source.video.slice(20, 40).map(({ sha256 }) => sha256));
});

test('a clip of recordings whose pictures cannot be joined is the longer part, and says why the rest is missing', async () => {
  const clip = await cut([chunk(0, 12, B_FRAMES), chunk(12, 24, demo(0))], 4, 18);
  expect(clip).toMatchObject({
    startTime: at(4),
    missing: [{ startTime: at(12), endTime: at(18) }],
    unrecorded: [],
    leftOut: [
      'the recording that starts at 2026-11-02T08:00:12.000Z cannot be joined: it has another picture size (320x180 after 160x90)',
    ],
  });
  expect((await readPackets(target)).durationSeconds).toBeCloseTo(8, 1);
});
