import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cutClip } from '../../../src/reference-partner/vision/media/cut-clip.js';
import { at, B_FRAMES, chunk, demo, durationOfMp4, fileReader, hevcVideo, readPackets, remux } from './sample-files.js';

let folder: string;
let target: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haulbridge-odd-'));
  target = join(folder, 'clip.mp4');
});
afterAll(() => rm(folder, { recursive: true }));

const cut = (source: string, from: number, to: number) =>
  cutClip({ chunks: [chunk(0, 60, source)], range: { startTime: at(from), endTime: at(to) }, target });

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
  expect(await cut(path, 2.5, 4)).toMatchObject({ startTime: at(2), endTime: at(4), missing: [] });
  const [source, clip] = [await readPackets(path), await readPackets(target)];
  expect(clip.video.map(({ sha256 }) => sha256)).toEqual(source.video.slice(20, 40).map(({ sha256 }) => sha256));
});

it('a clip of a variable frame rate shows each picture for its own time', async () => {
  const path = await variableFrameRate(join(folder, 'variable.mp4'));
  expect(await durationOfMp4(fileReader(path))).toBeCloseTo(60, 2);
  expect(await cut(path, 10, 12)).toMatchObject({ startTime: at(10), endTime: at(12), missing: [] });
  const { video } = await readPackets(target);
  expect(video).toHaveLength(20);
  video.forEach(({ seconds }, i) => expect(seconds).toBeCloseTo(Math.floor(i / 10) + ((i % 10) / 10) ** 2, 2));
});

it('an edit list that delays the sound is kept in a clip', async () => {
  const path = await remux(B_FRAMES, join(folder, 'edited.mp4'), { soundShift: 0.5 });
  expect(await cut(path, 0, 4)).toMatchObject({ startTime: at(0), missing: [] });
  const { video, audio } = await readPackets(target);
  expect(video[0]?.seconds).toBeCloseTo(0, 2);
  expect(audio[0]?.seconds).toBeCloseTo(0.5, 1);
});
