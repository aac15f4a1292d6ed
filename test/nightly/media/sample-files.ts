import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import {
  BufferSource,
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
import { demoRecording } from '../../../src/demo/demo-data.js';

export const B_FRAMES = fileURLToPath(new URL('../../fixtures/videos/b-frames.mp4', import.meta.url));

/** The first minute of the front camera of the demo: ten pictures a second, a key frame each second. */
export const DEMO = demoRecording('front', new Date(0));

/** A new folder, which is removed after the tests of the file. */
export function filmFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-films-'));
  afterAll(() => rm(folder, { recursive: true }));
  return folder;
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
export async function readPackets(bytes: Buffer): Promise<ReadVideo> {
  const input = new Input({ formats: [MP4], source: new BufferSource(bytes) });
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
