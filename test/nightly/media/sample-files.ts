import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import {
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  type InputTrack,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import type { ByteRangeReader } from '../../../src/reference-partner/vision/media/stored-mp4.js';
import { withMp4Input } from '../../../src/reference-partner/vision/media/mp4-input.js';
import { readExtent, readVideoFacts } from '../../../src/reference-partner/vision/media/track-facts.js';
import type { RecordedChunk } from '../../../src/reference-partner/vision/media/choose-pieces.js';
import { type Clip, cutClip } from '../../../src/reference-partner/vision/media/cut-clip.js';
import { DEMO_CAMERAS, demoRecording } from '../../../src/demo/demo-data.js';
import { boxesOf } from '../../support/sample-video.js';

export { boxesOf };

export const B_FRAMES = fileURLToPath(new URL('../../fixtures/videos/b-frames.mp4', import.meta.url));

const START = Date.UTC(2026, 10, 2, 8, 0, 0);

/** So many seconds after 08:00:00. */
export const at = (seconds: number): Date => new Date(START + seconds * 1000);

/** The demo recording of the minute 08:0n:00. */
export const demo = (minute: number, camera: (typeof DEMO_CAMERAS)[number] = 'front'): string =>
  demoRecording(camera, at(minute * 60));

/** A chunk with the stated range `from` to `to`, in seconds after 08:00:00. */
export const chunk = (from: number, to: number, source: string | ByteRangeReader): RecordedChunk => ({
  startTime: at(from),
  endTime: at(to),
  source: typeof source === 'string' ? fileReader(source) : source,
});

/** A new folder, which is removed after the tests of the file, and clips that are cut into it. */
export function clipFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-clips-'));
  afterAll(() => rm(folder, { recursive: true }));
  const target = join(folder, 'clip.mp4');
  /** Cuts a range in seconds after 08:00:00. */
  const cut = (chunks: RecordedChunk[], from: number, to: number): Promise<Clip> =>
    cutClip({ chunks, range: { startTime: at(from), endTime: at(to) }, target });
  return { folder, target, cut };
}

/** A file as a storage reads it. */
export const fileReader = (path: string): ByteRangeReader => ({
  get size() {
    return statSync(path).size;
  },
  read: (start, end) => createReadStream(path, { start, end: end - 1 }),
});

/** The length in seconds, not rounded, of the video track, or of the audio track if there is no video track. */
export function durationOfMp4(source: ByteRangeReader): Promise<number> {
  return withMp4Input(source, async ({ video, audio }) => {
    const { first, end } = await readExtent((video ?? audio)!);
    // Throws for a codec that clips do not support.
    if (video) await readVideoFacts(video);
    return Math.max(0, end - first);
  });
}

export interface ReadPacket {
  readonly seconds: number;
  readonly duration: number;
  readonly type: 'key' | 'delta';
  readonly sha256: string;
}

export interface ReadVideo {
  readonly video: ReadPacket[];
  readonly audio: ReadPacket[];
  readonly rotation: number | undefined;
  readonly durationSeconds: number;
}

/** All packets of a video, in decode order. */
export async function readPackets(path: string): Promise<ReadVideo> {
  const input = new Input({ formats: [MP4], source: new FilePathSource(path) });
  try {
    const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
    return {
      video: await packetsOf(video),
      audio: await packetsOf(audio),
      rotation: await video?.getRotation(),
      durationSeconds: (await video?.computeDuration()) ?? 0,
    };
  } finally {
    input.dispose();
  }
}

async function packetsOf(track: InputTrack | null): Promise<ReadPacket[]> {
  if (!track) return [];
  const packets: ReadPacket[] = [];
  for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, { verifyKeyPackets: true })) {
    packets.push({
      seconds: packet.timestamp,
      duration: packet.duration,
      type: packet.type,
      sha256: createHash('sha256').update(packet.data).digest('hex'),
    });
  }
  return packets;
}

export interface Remux {
  readonly fastStart?: false | 'fragmented';
  readonly rotation?: 90;
}

/** The same pictures in another file. */
export async function remux(from: string, to: string, how: Remux): Promise<string> {
  const input = new Input({ formats: [MP4], source: new FilePathSource(from) });
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: how.fastStart ?? false }),
    target: new FilePathTarget(to),
  });
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  const picture = new EncodedVideoPacketSource('avc');
  const sound = new EncodedAudioPacketSource('aac');
  if (video) output.addVideoTrack(picture, how.rotation && { rotation: how.rotation });
  if (audio) output.addAudioTrack(sound);
  await output.start();
  const [pictureConfig, soundConfig] = [await video?.getDecoderConfig(), await audio?.getDecoderConfig()];
  const meta = <T>(decoderConfig: T | null | undefined) => (decoderConfig ? { decoderConfig } : undefined);
  const sounds = audio ? new EncodedPacketSink(audio).packets() : [];
  for await (const packet of sounds) {
    void sound.add(packet, meta(soundConfig));
  }
  for await (const packet of video ? new EncodedPacketSink(video).packets() : []) {
    void picture.add(packet, meta(pictureConfig));
  }
  await output.finalize();
  input.dispose();
  return to;
}

/** The encoder settings of H.265 in the main profile, level 3.1, without parameter sets: nothing here is decoded. */
const HEVC_SETTINGS = Buffer.from([
  ...[1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93],
  ...[0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, 0],
]);

/** A unit of H.265 with its length before it. */
function hevcUnit(type: number, size: number): Uint8Array {
  const unit = Buffer.alloc(4 + size, 0x55);
  unit.writeUInt32BE(size);
  unit.writeUInt8(type << 1, 4);
  unit.writeUInt8(1, 5);
  return unit;
}

/** Ten pictures a second, ten seconds long by default, a key frame each second. */
export async function hevcVideo(path: string, { pictures = 100, pictureBytes = 100 } = {}): Promise<string> {
  const output = new Output({ format: new Mp4OutputFormat(), target: new FilePathTarget(path) });
  const source = new EncodedVideoPacketSource('hevc');
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = { codec: 'hvc1.1.6.L93.90', codedWidth: 320, codedHeight: 180, description: HEVC_SETTINGS };
  for (let i = 0; i < pictures; i++) {
    const isKey = i % 10 === 0;
    const packet = new EncodedPacket(hevcUnit(isKey ? 19 : 1, pictureBytes + i), isKey ? 'key' : 'delta', i / 10, 0.1);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return path;
}

/** Sets the 32 bits at `offset` after the name of the first box of that name. */
export function patchBox(bytes: Buffer, name: string, offset: number, value: number): Buffer {
  bytes.writeUInt32BE(value, bytes.indexOf(name, bytes.indexOf('moov')) + name.length + offset);
  return bytes;
}
