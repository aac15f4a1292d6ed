import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
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
  MovOutputFormat,
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
export const OPEN_GOP = fileURLToPath(new URL('../../fixtures/videos/open-gop.mp4', import.meta.url));

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
  readonly without?: 'video' | 'audio';
  readonly rotation?: 90;
  /** Delay of every packet in seconds. */
  readonly shift?: number;
  /** The same for the audio packets only. */
  readonly soundShift?: number;
  /** Factor by which every packet lasts longer. */
  readonly stretch?: number;
}

/** The same pictures in another file. */
export async function remux(from: string, to: string, how: Remux): Promise<string> {
  const input = new Input({ formats: [MP4], source: new FilePathSource(from) });
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: how.fastStart ?? false }),
    target: new FilePathTarget(to),
  });
  const video = how.without === 'video' ? null : await input.getPrimaryVideoTrack();
  const audio = how.without === 'audio' ? null : await input.getPrimaryAudioTrack();
  const picture = new EncodedVideoPacketSource('avc');
  const sound = new EncodedAudioPacketSource('aac');
  if (video) output.addVideoTrack(picture, how.rotation && { rotation: how.rotation });
  if (audio) output.addAudioTrack(sound);
  await output.start();
  const [pictureConfig, soundConfig] = [await video?.getDecoderConfig(), await audio?.getDecoderConfig()];
  const meta = <T>(decoderConfig: T | null | undefined) => (decoderConfig ? { decoderConfig } : undefined);
  const sounds = audio ? new EncodedPacketSink(audio).packets() : [];
  for await (const packet of sounds) {
    void sound.add(retimed(packet, { ...how, shift: how.soundShift ?? how.shift ?? 0 }), meta(soundConfig));
  }
  for await (const packet of video ? new EncodedPacketSink(video).packets() : []) {
    void picture.add(retimed(packet, how), meta(pictureConfig));
  }
  await output.finalize();
  input.dispose();
  return to;
}

const retimed = (packet: EncodedPacket, { shift = 0, stretch = 1 }: Remux) =>
  packet.clone({ timestamp: packet.timestamp * stretch + shift, duration: packet.duration * stretch });

/** The same pictures with a second of silence in µ-law, the usual sound of cameras, which MP4 has no place for. */
export async function withMuLaw(from: string, to: string): Promise<string> {
  const input = new Input({ formats: [MP4], source: new FilePathSource(from) });
  const output = new Output({ format: new MovOutputFormat({ fastStart: false }), target: new FilePathTarget(to) });
  const video = await input.getPrimaryVideoTrack();
  if (!video) throw new Error('there is no video track');
  const [picture, sound] = [new EncodedVideoPacketSource('avc'), new EncodedAudioPacketSource('ulaw')];
  output.addVideoTrack(picture);
  output.addAudioTrack(sound);
  await output.start();
  const decoderConfig = { codec: 'ulaw', sampleRate: 8_000, numberOfChannels: 1 };
  for (let part = 0; part < 10; part++) {
    const data = new Uint8Array(800).fill(0xff);
    void sound.add(new EncodedPacket(data, 'key', part / 10, 0.1), { decoderConfig });
  }
  const pictureConfig = await video.getDecoderConfig();
  for await (const packet of new EncodedPacketSink(video).packets()) {
    void picture.add(packet, pictureConfig ? { decoderConfig: pictureConfig } : undefined);
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

/** A file as a storage reads it. Counts the requested bytes and the open streams. */
export function streamed(path: string): ByteRangeReader & { asked: number; open: number } {
  const reader = {
    size: statSync(path).size,
    asked: 0,
    open: 0,
    read(start: number, end: number) {
      reader.asked += end - start;
      reader.open += 1;
      return createReadStream(path, { start, end: end - 1, highWaterMark: 4096 }).on('close', () => (reader.open -= 1));
    },
  };
  return reader;
}

/** A virtual file of 3 GiB: the demo recording with a `free` box of 3 GiB before its frames. */
export async function hugeFile(path: string): Promise<ByteRangeReader & { asked: number }> {
  const file = await readFile(path);
  const [ftyp, moov] = ['ftyp', 'moov'].map((name) => boxesOf(file).find((box) => box.name === name));
  if (!ftyp || !moov) throw new Error('not a fast-start MP4');
  const gap = 3 * 1024 ** 3;
  const cut = moov.start + moov.size;
  const free = Buffer.alloc(16);
  free.writeUInt32BE(1, 0);
  free.write('free', 4);
  free.writeBigUInt64BE(BigInt(gap), 8);
  const table = file.indexOf('stco');
  for (let entry = 0; entry < file.readUInt32BE(table + 8); entry++) {
    const place = table + 12 + 4 * entry;
    file.writeUInt32BE(file.readUInt32BE(place) + gap, place);
  }
  const [head, tail] = [Buffer.concat([file.subarray(0, cut), free]), file.subarray(cut)];
  const reader = {
    size: file.length + gap,
    asked: 0,
    read(start: number, end: number) {
      reader.asked += end - start;
      const bytes = Buffer.alloc(end - start);
      if (start < head.length) head.copy(bytes, 0, start);
      const tailStart = cut + gap;
      if (end > tailStart) tail.copy(bytes, Math.max(0, tailStart - start), Math.max(0, start - tailStart));
      return bytes;
    },
  };
  return reader;
}
