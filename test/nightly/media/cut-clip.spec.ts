import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  gapsIn,
  inOrder,
  joinPiece,
  type RecordedChunk,
} from '../../../src/reference-partner/vision/media/choose-pieces.js';
import { fileStorage } from '../../../src/storage/file-storage.js';
import { storageName } from '../../../src/storage/storage.js';
import { eventually } from '../../support/eventually.js';
import { clipFolder, at, boxesOf, chunk, demo, readPackets, type ReadPacket, remux, streamed } from './sample-files.js';

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
  { name: 'a whole chunk', chunks: [minute(0)], range: [0, 60], takes: [[0, 0, 60]], starts: 0, ends: 60 },
  { name: 'from no key frame', chunks: [minute(0)], range: [10.9, 20], takes: [[0, 10, 20]], starts: 10, ends: 20 },
  { name: 'to no frame', chunks: [minute(0)], range: [10, 20.05], takes: [[0, 10, 20.1]], starts: 10, ends: 20.1 },
  {
    name: 'less than a frame',
    chunks: [minute(0)],
    range: [10.31, 10.32],
    takes: [[0, 10, 10.4]],
    starts: 10,
    ends: 10.4,
  },
  {
    name: 'across a boundary',
    chunks: [minute(0), minute(1)],
    range: [55, 65],
    takes: [
      [0, 55, 60],
      [1, 0, 5],
    ],
    starts: 55,
    ends: 65,
  },
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
  {
    name: 'overlaps one after the other: each up to the end of the earlier',
    chunks: [minute(0), chunk(55, 115, demo(1)), chunk(110, 170, demo(2))],
    range: [50, 130],
    takes: [
      [0, 50, 60],
      [1, 5, 60],
      [2, 5, 20],
    ],
    starts: 50,
    ends: 130,
  },
  {
    name: 'an overlap without a key frame there: up to the key frame before',
    chunks: [minute(0), chunk(55.5, 115.5, demo(1))],
    range: [50, 70],
    takes: [
      [0, 50, 59.5],
      [1, 4, 14.5],
    ],
    starts: 50,
    ends: 70,
  },
  {
    name: 'the same chunk twice, and one within another that is not opened',
    chunks: [minute(0), minute(0), chunk(20, 40, 'no such file')],
    range: [0, 60],
    takes: [[0, 0, 60]],
    starts: 0,
    ends: 60,
  },
  {
    name: 'a video shorter than stated',
    chunks: [chunk(0, 90, demo(0)), chunk(90, 150, demo(1))],
    range: [50, 100],
    takes: [
      [0, 50, 60],
      [1, 0, 10],
    ],
    starts: 50,
    ends: 100,
    missing: [[60, 90]],
  },
  {
    name: 'a video that ends before the range although its stated end is later, and the next one',
    chunks: [chunk(0, 90, demo(0)), chunk(90, 150, demo(1))],
    range: [70, 100],
    takes: [[1, 0, 10]],
    starts: 90,
    ends: 100,
    missing: [[70, 90]],
  },
  {
    name: 'a video longer than stated is used up to its stated end',
    chunks: [chunk(0, 30, demo(0)), chunk(30, 90, demo(1))],
    range: [20, 40],
    takes: [
      [0, 20, 30],
      [1, 0, 10],
    ],
    starts: 20,
    ends: 40,
  },
  {
    name: 'half a second lost between two files is no gap',
    chunks: [minute(0), chunk(60.5, 120.5, demo(1))],
    range: [50, 70.5],
    takes: [
      [0, 50, 60],
      [1, 0, 10],
    ],
    starts: 50,
    ends: 70.5,
  },
];

describe('a clip', () => {
  it.each(cases)('$name', async ({ chunks, range, takes, starts, ends, missing = [] }) => {
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

  it.each([
    ['the table of contents at the end', { fastStart: false }],
    ['fragments', { fastStart: 'fragmented' }],
    ['a clock that does not begin at zero', { shift: 3600 }],
  ] as const)('out of files with %s', async (name, how) => {
    const files = [0, 1].map((n) => remux(demo(n), join(folder, `${name} ${n}.mp4`), how));
    // The stated lengths are too long. The length of the video counts, independent of its first timestamp.
    const chunks = (await Promise.all(files)).map((file, n) => chunk(n * 60, n * 60 + 62, file));
    expect(await cut(chunks, 55.2, 65)).toMatchObject({ startTime: at(55), endTime: at(65), missing: [] });
    await expectPlayable([...(await framesOf(0, 55, 60)), ...(await framesOf(1, 0, 5))]);
  });

  it('begins and ends on a frame with any frame rate', async () => {
    const path = await remux(demo(0), join(folder, 'fractions.mp4'), { shift: 3600.1 });
    for (let second = 0; second < 60; second++) {
      const clip = await cut([chunk(0.333, 60.333, path)], second + 0.333, second + 1.333);
      expect(clip).toMatchObject({ startTime: at(second + 0.333), endTime: at(second + 1.333) });
      await expectPlayable(await framesOf(0, second, second + 1));
    }
  });

  it('shares no frame with the next clip if key frames are between two milliseconds', async () => {
    const path = await remux(demo(0), join(folder, 'thirds.mp4'), { stretch: 10 / 3 });
    const keyFrame = (n: number) => Math.round((n * 10_000) / 3) / 1000;
    for (let n = 0; n < 10; n++) {
      const clip = await cut([chunk(0, 200, path)], keyFrame(n), keyFrame(n + 1));
      expect(clip).toMatchObject({ startTime: at(keyFrame(n)), endTime: at(keyFrame(n + 1)) });
      expect((await readPackets(target)).video.map(frameOf)).toEqual(await framesOf(0, n, n + 1));
    }
  });

  it('uses frames before zero only for decoding', async () => {
    const path = await remux(demo(0), join(folder, 'before-zero.mp4'), { shift: -1.2 });
    expect(await cut([chunk(0, 60, path)], 0, 10)).toMatchObject({ startTime: at(-0.2), endTime: at(10) });
    await expectPlayable(await framesOf(0, 1, 11.2));
  });

  it('is the same byte by byte from the streams of a storage, and every stream ends', async () => {
    await cut([minute(0), minute(1)], 50.5, 70);
    const fromFiles = await mediaOf(target);
    const readers = [streamed(demo(0)), streamed(demo(1))];
    await cut(
      readers.map((reader, n) => chunk(n * 60, n * 60 + 60, reader)),
      50.5,
      70,
    );
    expect((await mediaOf(target)).equals(fromFiles)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readers.map(({ open }) => open)).toEqual([0, 0]);
  });

  it('closes the prefetched streams of a long video', async () => {
    const minutes = 100;
    const name = storageName('recordings', randomUUID());
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    const demos = Array.from({ length: minutes }, (_, n) => chunk(n * 60, n * 60 + 60, demo(n % 10)));
    await cut(demos, 0, minutes * 60);
    await rename(target, path);
    const storage = fileStorage(folder);
    const opened: Readable[] = [];
    const read = async (start: number, end: number) => {
      const stream = await storage.read(name, { start, end: end - 1 });
      opened.push(stream);
      return stream;
    };
    const { size } = await stat(path);
    for (let n = 0; n < 30; n++) {
      const from = (n * 677) % (minutes * 50);
      await cut([chunk(0, minutes * 60, { size, read })], from, from + 5 + 19 * n);
    }
    await eventually(() => expect(opened.filter(({ destroyed }) => !destroyed)).toHaveLength(0));
  });

  it('leaves no file open', async () => {
    await cut([minute(0), minute(1)], 50, 70);
    await expect(cut([minute(0), chunk(60, 120, join(folder, 'absent.mp4'))], 50, 70)).rejects.toThrow();
    if (process.platform !== 'linux') return;
    const open = await Promise.all((await readdir('/proc/self/fd')).map((fd) => openPath(fd)));
    expect(open.filter((path) => path.endsWith('.mp4'))).toEqual([]);
  });
});

const openPath = async (fd: string): Promise<string> =>
  (await import('node:fs/promises')).readlink(`/proc/self/fd/${fd}`).catch(() => '');

/** The frames alone: the table of contents holds the time of writing. */
async function mediaOf(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  const mdat = boxesOf(bytes).find(({ name }) => name === 'mdat');
  return bytes.subarray(mdat?.start);
}

const interval = (from: number, to: number) => ({ from, to });
const named = (from: number, to: number, source: string) => ({ startTime: at(from), endTime: at(to), source });

describe('gaps in a range', () => {
  it.each([
    ['covered', [interval(0, 60_000)], []],
    ['nothing covered', [], [[0, 60_000]]],
    [
      'before, between and after',
      [interval(5_000, 20_000), interval(30_000, 50_000)],
      [
        [0, 5_000],
        [20_000, 30_000],
        [50_000, 60_000],
      ],
    ],
    ['covered from before', [interval(-5_000, 59_500)], []],
    ['a second is a gap', [interval(0, 59_000)], [[59_000, 60_000]]],
    ['less than a second is none', [interval(999, 59_001)], []],
    ['covered beyond the end', [interval(0, 70_000)], []],
  ])('%s', (_, covered, gaps) => {
    expect(gapsIn(interval(0, 60_000), covered)).toEqual(gaps.map(([from = 0, to = 0]) => interval(from, to)));
  });
});

describe('chunks in order', () => {
  const range = interval(at(60).getTime(), at(120).getTime());

  it('leaves out what only touches the range, and what has no length', () => {
    const inside = named(119, 180, 'inside');
    const chunks = [named(0, 60, 'ends there'), named(120, 180, 'begins there'), inside, named(70, 70, 'empty')];
    expect(inOrder(chunks, range)).toEqual([inside]);
  });

  it('sorts by start, the longest first', () => {
    const chunks = [named(90, 100, 'c'), named(50, 70, 'b'), named(50, 90, 'a')];
    expect(inOrder(chunks, range).map(({ source }) => source)).toEqual(['a', 'b', 'c']);
  });
});

describe('joining a piece', () => {
  it.each([
    [
      'adjacent',
      interval(60, 120),
      [
        [0, 60],
        [60, 120],
      ],
    ],
    [
      'after a gap',
      interval(70, 120),
      [
        [0, 60],
        [70, 120],
      ],
    ],
    [
      'from a key frame before the end of the last',
      interval(55, 120),
      [
        [0, 55],
        [55, 120],
      ],
    ],
    ['from a key frame before its start', interval(-5, 120), [[-5, 120]]],
    ['from a key frame at its start', interval(0, 120), [[0, 120]]],
  ])('%s', (_, next, joined) => {
    expect(joinPiece([interval(0, 60)], next)).toEqual(joined.map(([from = 0, to = 0]) => interval(from, to)));
  });
});
