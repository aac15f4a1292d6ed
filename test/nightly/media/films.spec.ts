import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  type InputTrack,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import type { CreateVideoResponse, ListVideosResponse } from '../../../src/contracts/vision/vision.api.js';
import { type VideoPart, NotCopiedError, trimMp4 } from '../../../src/reference-partner/vision/media/trim-mp4.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';

/**
 * Parts of films, copied without decoding. `acceptance/partner/clips` has the requests and the pictures of a range,
 * `field/other-peoples-videos` the files.
 */

/** Ten pictures a second, a key frame each second. */
const demo = demoVideo(0);
const bFrames = await readFile(fileURLToPath(new URL('../../fixtures/videos/b-frames.mp4', import.meta.url)));

interface ReadPacket {
  readonly seconds: number;
  readonly sha256: string;
}

interface ReadVideo {
  readonly video: ReadPacket[];
  readonly audio: ReadPacket[];
  readonly rotation: number | undefined;
  readonly durationSeconds: number;
}

/** All packets of a video, in decode order. */
async function readPackets(bytes: Buffer): Promise<ReadVideo> {
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
      sha256: createHash('sha256').update(packet.data).digest('hex'),
    });
  }
  return packets;
}

/** The same pictures in another file. */
async function remuxed(
  film: Buffer,
  how: { readonly fastStart?: 'fragmented'; readonly rotation?: 90 },
): Promise<Buffer> {
  const input = new Input({ formats: [MP4], source: new BufferSource(film) });
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: how.fastStart ?? false }), target });
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
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
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

/** Ten pictures a second for ten seconds, a key frame each second. */
async function hevcVideo(): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat(), target });
  const source = new EncodedVideoPacketSource('hevc');
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = { codec: 'hvc1.1.6.L93.90', codedWidth: 320, codedHeight: 180, description: HEVC_SETTINGS };
  for (let i = 0; i < 100; i++) {
    const isKey = i % 10 === 0;
    const packet = new EncodedPacket(hevcUnit(isKey ? 19 : 1, 100 + i), isKey ? 'key' : 'delta', i / 10, 0.1);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
}

/** The part as the process writes it that trims: from the first byte to the last. */
async function trim(film: Buffer, from: number, to: number): Promise<{ part: VideoPart | undefined; bytes: Buffer }> {
  const written: Buffer[] = [];
  let length = 0;
  const target = new WritableStream<{ data: Uint8Array; position: number }>({
    write: ({ data, position }) => {
      expect(position).toBe(length);
      length += data.length;
      written.push(Buffer.from(data));
    },
  });
  const read = (start: number, end: number) => film.subarray(start, end);
  const part = await trimMp4({ getSize: () => film.length, read }, { from, to }, target);
  return { part, bytes: Buffer.concat(written) };
}

const sums = (packets: readonly ReadPacket[]) => packets.map(({ sha256 }) => sha256);

describe('a part of a film', () => {
  test('keeps pictures that are decoded out of order, and sound in time', async () => {
    const { part, bytes } = await trim(bFrames, 5, 9);
    expect(part).toEqual({ from: 4, to: 9 });
    const [source, trimmed] = [await readPackets(bFrames), await readPackets(bytes)];
    expect(sums(source.video).join()).toContain(sums(trimmed.video).join());
    expect(trimmed.durationSeconds).toBeCloseTo(5, 0);
    for (const { sha256, seconds } of trimmed.audio) {
      const played = source.audio.filter((each) => each.sha256 === sha256).map((each) => each.seconds - 4);
      expect(Math.min(...played.map((each) => Math.abs(each - seconds)))).toBeLessThan(0.001);
    }
    expect(trimmed.audio.length).toBeGreaterThan(150);
  });

  test('keeps the rotation of a camera that is mounted sideways', async () => {
    const film = await remuxed(demo, { rotation: 90 });
    expect((await readPackets((await trim(film, 0, 10)).bytes)).rotation).toBe(90);
  });

  test('of H.265 has the same pictures', async () => {
    const film = await hevcVideo();
    const { part, bytes } = await trim(film, 2.5, 4);
    expect(part).toEqual({ from: 2, to: 4 });
    expect(sums((await readPackets(bytes)).video)).toEqual(sums((await readPackets(film)).video.slice(20, 40)));
  });

  test('is refused where a track cannot be copied, or bytes are missing', async () => {
    const sound = Buffer.from(bFrames);
    sound.write('alaw', sound.indexOf('mp4a', sound.indexOf('stsd')), 'latin1');
    await expect(trim(sound, 4, 8)).rejects.toThrow(NotCopiedError);
    await expect(trim(demo.subarray(0, 60_000), 30, 60)).rejects.toThrow('cut short');
    expect((await trim(demo.subarray(0, 60_000), 10, 20)).part).toEqual({ from: 10, to: 20 });
  });
});

let service: TestApp;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
});
afterAll(() => service.close());

const headers = () => ({ 'API-KEY': key });

async function clipOf(cameraId: string, bytes: Buffer): Promise<ListVideosResponse['data']> {
  expect((await upload(service, 0, { cameraId }, bytes)).status).toBe(201);
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId, startTime: at(0), endTime: at(0.5) };
  const asked = await service.call<CreateVideoResponse>('POST', '/video-platform/v1/videos/requests', {
    headers: headers(),
    body,
  });
  const query = new URLSearchParams({ customerId: CUSTOMER, requestId: asked.body.requestId }).toString();
  return eventually(async () => {
    const { body } = await service.call<ListVideosResponse>('GET', `/video-platform/v1/videos?${query}`, {
      headers: headers(),
    });
    expect(body.data.request?.status).not.toBe('processing');
    return body.data;
  });
}

/** The demo's film with so many samples in its first chunk. */
function withSamples(samples: number): Buffer {
  const bytes = Buffer.from(demo);
  bytes.writeUInt32BE(samples, bytes.indexOf('stsc', bytes.indexOf('moov')) + 16);
  return bytes;
}

test.each([0x10000000, 0xffffffff])(
  'a recording with %d samples in a chunk is listed whole with a reason, and blocks nothing',
  async (samples) => {
    let longestMs = 0;
    const timer = setInterval(() => {
      const started = Date.now();
      void service.call('GET', '/health/live').then(() => (longestMs = Math.max(longestMs, Date.now() - started)));
    }, 50);
    try {
      const { request, videos } = await clipOf(`stsc ${samples}`, withSamples(samples));
      expect([request?.status, request?.message, videos[0]?.durationSeconds]).toEqual([
        ...['ready', expect.stringContaining('listed whole, because it cannot be trimmed'), 60],
      ]);
      expect(longestMs).toBeLessThan(5_000);
    } finally {
      clearInterval(timer);
    }
  },
);

test('a recording that ends its process is listed whole, with the reason', async () => {
  const bytes = await remuxed(bFrames, { fastStart: 'fragmented' });
  const run = bytes.indexOf('trun');
  bytes.writeUInt32BE(0, run + 4);
  bytes.writeUInt32BE(0xffffffff, run + 8);
  const { request } = await clipOf('fragments', bytes);
  expect(request).toMatchObject({ status: 'ready', message: expect.stringMatching(/took too much memory\.$/) });
});
