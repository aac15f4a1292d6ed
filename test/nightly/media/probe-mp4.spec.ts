import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DEMO_CAMERAS } from '../../../src/demo/demo-data.js';
import { readAudioFacts, readVideoFacts } from '../../../src/reference-partner/vision/media/track-facts.js';
import { withMp4Input } from '../../../src/reference-partner/vision/media/mp4-input.js';
import { beginsAsMp4 } from '../../../src/contracts/vision/mp4-start.js';
import type { ByteRangeReader } from '../../../src/reference-partner/vision/media/stored-mp4.js';
import {
  clipFolder,
  B_FRAMES,
  boxesOf,
  durationOfMp4,
  fileReader,
  hugeFile,
  demo,
  remux,
  streamed,
} from './sample-files.js';

const whole = (bytes: Buffer): ByteRangeReader => ({
  size: bytes.length,
  read: (start, end) => bytes.subarray(start, end),
});

/** The stated length, and the content of the tracks. */
async function heldBy(source: ByteRangeReader) {
  return {
    durationSeconds: await durationOfMp4(source),
    ...(await withMp4Input(source, async ({ video, audio }) => ({
      video: video && (await readVideoFacts(video)),
      audio: audio && (await readAudioFacts(audio)),
    }))),
  };
}

const { folder } = clipFolder();

describe("the demo's recordings", () => {
  const minutes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const recordings = DEMO_CAMERAS.flatMap((camera) => minutes.map((minute) => demo(minute, camera)));

  it('are twenty, with less than 2 MB in total', async () => {
    const sizes = await Promise.all([...new Set(recordings)].map(async (path) => (await stat(path)).size));
    expect(sizes).toHaveLength(20);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(2_000_000);
  });

  it.each(recordings)('%s is a minute with a key frame each second', async (path) => {
    expect(await heldBy(fileReader(path))).toMatchObject({
      durationSeconds: 60,
      video: { decoderConfig: { codec: 'avc1.42c015' }, width: 320, height: 180 },
      audio: null,
    });
    const seconds = Array.from({ length: 60 }, (_, second) => second);
    const keyFrames = await withMp4Input(fileReader(path), ({ video }) =>
      Promise.all(video === null ? [] : seconds.map((second) => video.keyFrameAt(second))),
    );
    expect(keyFrames.map((key) => key?.timestamp)).toEqual(seconds);
  });
});

describe('the contents of an MP4', () => {
  const held = {
    durationSeconds: 12,
    video: { decoderConfig: { codec: 'avc1.4d400b' }, width: 160, height: 90 },
    audio: { decoderConfig: { codec: 'mp4a.40.2', sampleRate: 32_000, numberOfChannels: 1 } },
  };

  it('picture and sound', async () => {
    expect(await heldBy(fileReader(B_FRAMES))).toMatchObject(held);
  });

  it.each([
    ['its table of contents at the end', { fastStart: false }],
    ['fragments', { fastStart: 'fragmented' }],
    ['a clock that does not begin at zero', { shift: 3600 }],
  ] as const)('with %s', async (name, how) => {
    const probed = await heldBy(fileReader(await remux(B_FRAMES, join(folder, `${name}.mp4`), how)));
    const toMilliseconds = (seconds: number) => Math.round(seconds * 1000) / 1000;
    expect({ ...probed, durationSeconds: toMilliseconds(probed.durationSeconds) }).toMatchObject(held);
  });

  it('from streams of a storage, which all end', async () => {
    const reader = streamed(B_FRAMES);
    expect(await heldBy(reader)).toMatchObject(held);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(reader.open).toBe(0);
  });

  it('with the brand of QuickTime', async () => {
    const bytes = await readFile(B_FRAMES);
    bytes.write('qt  ', 8);
    expect(await heldBy(whole(bytes))).toMatchObject(held);
  });

  it('of 3 GiB, reading less than 2 MiB of them', async () => {
    const reader = await hugeFile(demo(3));
    expect(await durationOfMp4(reader)).toBe(60);
    expect(reader.asked).toBeLessThan(2 * 1024 ** 2);
  });
});

describe('not an MP4', () => {
  const ftyp = Buffer.from('0000001866747970697736d00000020069736f6d69736f32', 'hex');
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['seven bytes', ftyp.subarray(0, 7)],
    ['text', Buffer.from('{ "success": false, "error": {} }')],
    ['zeros', Buffer.alloc(4096)],
    ['MPEG-TS', Buffer.alloc(1880, 'G@\0\x10'.padEnd(188, '\xff'), 'latin1')],
    ['Matroska', Buffer.from('1a45dfa3a34286810142f7810142f2810442f381084282847765626d', 'hex')],
    ['a box too small for a brand', Buffer.from('000000086674797000000000', 'hex')],
  ])('%s', async (_, bytes) => {
    expect(beginsAsMp4(bytes)).toBe(false);
    await expect(durationOfMp4(whole(bytes))).rejects.toMatchObject({ name: 'MediaError', fault: 'unreadable' });
    const path = join(folder, 'none.mp4');
    await writeFile(path, bytes);
    await expect(durationOfMp4(fileReader(path))).rejects.toMatchObject({ name: 'MediaError', fault: 'unreadable' });
  });

  it('an ftyp box alone is an MP4 without contents', async () => {
    expect(beginsAsMp4(ftyp)).toBe(true);
    await expect(durationOfMp4(whole(ftyp))).rejects.toMatchObject({ fault: 'unreadable' });
  });

  it.each([100, 1000, 3000])('a table of contents cut at %i bytes is unreadable', async (length) => {
    const bytes = (await readFile(demo(0))).subarray(0, length);
    await expect(durationOfMp4(whole(bytes))).rejects.toMatchObject({ fault: 'unreadable' });
  });

  it('a picture of an unknown codec cannot be cut', async () => {
    const bytes = await readFile(B_FRAMES);
    bytes.write('none', bytes.indexOf('avc1', bytes.indexOf('moov')));
    await expect(durationOfMp4(whole(bytes))).rejects.toMatchObject({
      fault: 'not-cuttable',
      message: 'its pictures are of a codec that cannot be cut (none)',
    });
  });

  it('a sound of an unknown codec does not matter', async () => {
    const bytes = await readFile(B_FRAMES);
    for (const name of ['mp4a', 'esds']) bytes.write('none', bytes.indexOf(name, bytes.indexOf('moov')));
    expect(await durationOfMp4(whole(bytes))).toBe(12);
  });

  it('a table of contents full of noise is unreadable', async () => {
    const bytes = await readFile(demo(0));
    const moov = boxesOf(bytes).find(({ name }) => name === 'moov');
    bytes.fill(0xa5, (moov?.start ?? 0) + 8, (moov?.start ?? 0) + (moov?.size ?? 0));
    const path = join(folder, 'noise.mp4');
    await writeFile(path, bytes);
    await expect(durationOfMp4(fileReader(path))).rejects.toMatchObject({ fault: 'unreadable' });
  });
});

describe('errors of the storage are not wrapped', () => {
  it('a file that becomes shorter', async () => {
    const path = join(folder, 'shorter.mp4');
    await writeFile(path, await readFile(demo(0)));
    const reader = { ...fileReader(path) };
    await truncate(path, 1_000);
    await expect(durationOfMp4(reader)).rejects.toThrow(/^the storage sent \d+ bytes instead of \d+$/);
  });

  it('a file that does not exist', async () => {
    await expect(durationOfMp4(fileReader(join(folder, 'absent.mp4')))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('a storage that refuses in the middle', async () => {
    const refused = new Error('connection refused');
    const bytes = await readFile(demo(0));
    const reader = { size: bytes.length, read: (start: number, end: number) => refuseAfterHead(start, end) };
    const refuseAfterHead = (start: number, end: number) =>
      end <= 12 ? bytes.subarray(start, end) : Promise.reject(refused);
    await expect(durationOfMp4(reader)).rejects.toBe(refused);
  });

  it.each([
    ['bytes', (bytes: Buffer) => bytes],
    [
      'a stream',
      (bytes: Buffer) =>
        (async function* () {
          yield bytes;
        })(),
    ],
  ])('a storage that sends %s short', async (_, as) => {
    const bytes = await readFile(demo(0));
    const reader = {
      size: bytes.length,
      read: (start: number, end: number) =>
        end <= 12 ? bytes.subarray(start, end) : as(bytes.subarray(start, start + 100)),
    };
    await expect(durationOfMp4(reader)).rejects.toThrow(/^the storage sent \d+ bytes instead of \d+$/);
  });
});
