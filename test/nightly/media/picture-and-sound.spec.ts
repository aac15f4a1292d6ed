import { describe, expect, it } from '@jest/globals';
import {
  type EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordedChunk } from '../../../src/reference-partner/vision/media/choose-pieces.js';
import { videoPackets } from '../../../src/reference-partner/vision/media/mp4-input.js';
import {
  at,
  B_FRAMES,
  chunk,
  demo,
  durationOfMp4,
  fileReader,
  hevcVideo,
  OPEN_GOP,
  type ReadPacket,
  readPackets,
  type ReadVideo,
  remux,
  clipFolder,
} from './sample-files.js';

/** The sample files: 25 frames per second, a key frame every two seconds, a P-frame every fourth frame, AAC at 32 kHz. */
const FRAME = 1 / 25;
const SOUND = 1024 / 32_000;

const { folder, target, cut: cutFile } = clipFolder();

async function cut(chunks: RecordedChunk[], from: number, to: number) {
  const clip = await cutFile(chunks, from, to);
  return { clip, packets: await readPackets(target) };
}

const hashes = (packets: ReadPacket[]) => packets.map(({ sha256 }) => sha256);

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

describe('B-frames', () => {
  it('are copied in the order in which they are decoded, across a join', async () => {
    const source = await readPackets(B_FRAMES);
    const { clip, packets } = await cut([chunk(0, 12, B_FRAMES), chunk(12, 24, B_FRAMES)], 5.3, 19.02);
    const first = source.video.slice(source.video.findIndex(({ seconds }) => seconds >= 4));
    const last = source.video.slice(0, packets.video.length - first.length);
    expect(hashes(packets.video)).toEqual(hashes([...first, ...last]));
    expectSteady(packets, packets.video.length);
    expect(clip).toMatchObject({ startTime: at(4), missing: [] });
    expect(packets.durationSeconds).toBeCloseTo((clip.endTime.getTime() - at(4).getTime()) / 1000, 3);
  });

  it.each([0, 1, 2, 3, 4, 5])(
    'no frame is missing before the end, wherever it falls (%i frames on)',
    async (frames) => {
      const end = 7 + frames * FRAME;
      const { clip, packets } = await cut([chunk(0, 12, B_FRAMES)], 6, end);
      expectSteady(packets, packets.video.length);
      const over = (clip.endTime.getTime() - at(end).getTime()) / 1000;
      expect(over).toBeGreaterThanOrEqual(0);
      expect(over).toBeLessThanOrEqual(4 * FRAME + 0.001);
      expect(packets.durationSeconds).toBeCloseTo(1 + frames * FRAME + over, 2);
    },
  );

  it.each([
    [16, [0, ...Array.from({ length: 16 }, (_, n) => 10 + n), 5]],
    [17, [0]],
  ])('are looked for behind %i that are shown later', async (later, taken) => {
    const times = [0, ...Array.from({ length: later }, (_, n) => 10 + n), 5];
    const frames = times.map((timestamp) => ({ timestamp }) as EncodedPacket);
    const next = async (frame: EncodedPacket) => frames[frames.indexOf(frame) + 1] ?? null;
    const shown: number[] = [];
    for await (const { timestamp } of videoPackets(frames[0]!, 8, next)) shown.push(timestamp);
    expect(shown).toEqual(taken);
  });

  it('that are shown before the first key frame are left out', async () => {
    const source = await readPackets(OPEN_GOP);
    const reachingBack = source.video.filter(
      ({ seconds }, index) => seconds < 4 && index > source.video.findIndex((frame) => frame.seconds >= 4),
    );
    expect(reachingBack.length).toBeGreaterThan(0);
    const { clip, packets } = await cut([chunk(0, 12, OPEN_GOP)], 5.3, 12);
    expect(clip).toMatchObject({ startTime: at(4), endTime: at(12) });
    expectSteady(packets, 200);
    expect(hashes(packets.video)).not.toContain(reachingBack[0]?.sha256);
  });
});

describe('key frames', () => {
  it('are found in the frame data if the file marks every frame as a key frame', async () => {
    const bytes = await readFile(B_FRAMES);
    bytes.write('free', bytes.indexOf('stss'));
    const path = join(folder, 'all-key.mp4');
    await writeFile(path, bytes);
    const [source, { clip, packets }] = [await readPackets(B_FRAMES), await cut([chunk(0, 12, path)], 5.3, 12)];
    expect(clip.startTime).toEqual(at(4));
    expectSteady(packets, 200);
    expect(packets.video.map(({ type }) => type)).toEqual(source.video.slice(100).map(({ type }) => type));
    expect(packets.video.filter(({ type }) => type === 'key')).toHaveLength(4);
  });
});

describe('sound', () => {
  it('stays in time with the picture, also after a join', async () => {
    const source = await readPackets(B_FRAMES);
    const { packets } = await cut([chunk(0, 12, B_FRAMES), chunk(12, 24, B_FRAMES)], 4, 20);
    expectNoOverlap(packets);
    expect(packets.audio[0]?.seconds).toBeLessThanOrEqual(SOUND);
    expect(packets.audio.at(-1)?.seconds).toBeGreaterThan(16 - 2 * SOUND);
    expect(packets.audio.at(-1)?.seconds).toBeLessThan(16);
    const [before, after] = [playedAt(packets, source, 9.5), playedAt(packets, source, 3.5)];
    expect(before.map((seconds) => seconds - 5.5).every((late) => Math.abs(late) < SOUND)).toBe(true);
    expect(after.map((seconds) => seconds - 11.5).every((late) => Math.abs(late) < SOUND)).toBe(true);
    expect([before.length, after.length]).toEqual([1, 1]);
  });

  it.each([0, 5, 11, 16, 21, 27])('neither overlaps nor drifts if two chunks overlap (%i ms)', async (milliseconds) => {
    const source = await readPackets(B_FRAMES);
    const begins = 7 + milliseconds / 1000;
    const { packets } = await cut([chunk(0, 12, B_FRAMES), chunk(begins, begins + 12, B_FRAMES)], 6.5, 19);
    expectNoOverlap(packets);
    const begin = packets.audio[0]?.seconds ?? -1;
    expect(begin).toBeGreaterThanOrEqual(0);
    expect(begin).toBeLessThan(SOUND);
    const picture = source.video.find(({ type, seconds }) => type === 'key' && seconds === 6);
    const shown = packets.video.filter(({ sha256 }) => sha256 === picture?.sha256).at(-1)?.seconds ?? 0;
    const played = playedAt(packets, source, 6).at(-1) ?? 0;
    expect(Math.abs(played - shown - SOUND / 2)).toBeLessThanOrEqual(SOUND / 2 + 0.001);
  });

  it('pauses if a chunk has none, and continues in time', async () => {
    const silent = await remux(B_FRAMES, join(folder, 'silent.mp4'), { without: 'audio' });
    const chunks = [chunk(0, 12, B_FRAMES), chunk(12, 24, silent), chunk(24, 36, B_FRAMES)];
    const { packets } = await cut(chunks, 0, 36);
    expectSteady(packets, 900);
    expectNoOverlap(packets);
    const pause = packets.audio.filter(({ seconds }) => seconds > 12 && seconds < 24 - SOUND);
    expect(pause).toEqual([]);
    const source = await readPackets(B_FRAMES);
    const back = playedAt(packets, source, 3.5).at(-1) ?? 0;
    expect(Math.abs(back - 27.5)).toBeLessThan(SOUND);
  });

  it('may begin with a later chunk', async () => {
    const silent = await remux(B_FRAMES, join(folder, 'silent-first.mp4'), { without: 'audio' });
    const { packets } = await cut([chunk(0, 12, silent), chunk(12, 24, B_FRAMES)], 0, 24);
    expectSteady(packets, 600);
    expect(packets.audio[0]?.seconds).toBeGreaterThan(12 - SOUND);
    expect(packets.audio[0]?.seconds).toBeLessThan(12 + SOUND);
  });

  it('is in time if it begins after the picture', async () => {
    const late = await remux(B_FRAMES, join(folder, 'late-sound.mp4'), { soundShift: 3 });
    const [source, { packets }] = [await readPackets(B_FRAMES), await cut([chunk(0, 12, late)], 2, 10)];
    const [played = 0] = playedAt(packets, source, 3.5);
    expect(Math.abs(played - 4.5)).toBeLessThan(SOUND);
    expect(packets.audio[0]?.seconds).toBeGreaterThan(1 - 2 * SOUND);
  });

  it('is absent if no chunk has any', async () => {
    const { packets } = await cut([chunk(0, 60, demo(0))], 0, 10);
    expect(packets.audio).toEqual([]);
  });
});

describe('a camera mounted sideways', () => {
  it('keeps its rotation', async () => {
    const path = await remux(demo(0), join(folder, 'sideways.mp4'), { rotation: 90 });
    const { packets } = await cut([chunk(0, 60, path)], 0, 10);
    expect(packets.rotation).toBe(90);
  });
});

const cutOne = (source: string, from: number, to: number) => cutFile([chunk(0, 60, source)], from, to);

/** The demo's pictures, each shown longer than the one before within its second. */
async function variableFrameRate(path: string): Promise<string> {
  const input = new Input({ formats: [MP4], source: new FilePathSource(demo(0)) });
  const output = new Output({ format: new Mp4OutputFormat(), target: new FilePathTarget(path) });
  const video = await input.getPrimaryVideoTrack();
  if (!video) throw new Error('there is no picture');
  const source = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = (await video.getDecoderConfig())!;
  const shown = (frame: number) => Math.floor(frame / 10) + ((frame % 10) / 10) ** 2;
  let frame = 0;
  for await (const packet of new EncodedPacketSink(video).packets()) {
    const [timestamp, next] = [shown(frame), shown(frame + 1)];
    await source.add(packet.clone({ timestamp, duration: next - timestamp }), { decoderConfig });
    frame += 1;
  }
  await output.finalize();
  input.dispose();
  return path;
}

it('a clip of H.265 has the same pictures', async () => {
  const path = await hevcVideo(join(folder, 'hevc.mp4'));
  expect(await durationOfMp4(fileReader(path))).toBeCloseTo(10, 3);
  expect(await cutOne(path, 2.5, 4)).toMatchObject({ startTime: at(2), endTime: at(4), missing: [] });
  const [source, clip] = [await readPackets(path), await readPackets(target)];
  expect(clip.video.map(({ sha256 }) => sha256)).toEqual(source.video.slice(20, 40).map(({ sha256 }) => sha256));
});

it('a clip of a variable frame rate shows each picture for its own time', async () => {
  const path = await variableFrameRate(join(folder, 'variable.mp4'));
  expect(await durationOfMp4(fileReader(path))).toBeCloseTo(60, 2);
  expect(await cutOne(path, 10, 12)).toMatchObject({ startTime: at(10), endTime: at(12), missing: [] });
  const { video } = await readPackets(target);
  expect(video).toHaveLength(20);
  video.forEach(({ seconds }, i) => expect(seconds).toBeCloseTo(Math.floor(i / 10) + ((i % 10) / 10) ** 2, 2));
});

it('an edit list that delays the sound is kept in a clip', async () => {
  const path = await remux(B_FRAMES, join(folder, 'edited.mp4'), { soundShift: 0.5 });
  expect(await cutOne(path, 0, 4)).toMatchObject({ startTime: at(0), missing: [] });
  const { video, audio } = await readPackets(target);
  expect(video[0]?.seconds).toBeCloseTo(0, 2);
  expect(audio[0]?.seconds).toBeCloseTo(0.5, 1);
});
