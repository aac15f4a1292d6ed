import { execFile } from 'node:child_process';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ByteRangeReader } from '../../../src/reference-partner/vision/media/stored-mp4.js';
import { cutClip } from '../../../src/reference-partner/vision/media/cut-clip.js';
import {
  type AudioFacts,
  audioDifference,
  type VideoFacts,
  videoDifference,
} from '../../../src/reference-partner/vision/media/track-facts.js';
import { clipFolder, at, B_FRAMES, boxesOf, chunk, demo, remux } from './sample-files.js';

const { folder, target, cut } = clipFolder();
afterEach(() => expect(access(target)).rejects.toMatchObject({ code: 'ENOENT' }));

/** The demo recording, with its first key frames changed to dependent frames. */
function withoutKeys(bytes: Buffer, count: number): Buffer {
  const { start = 0, size = 0 } = boxesOf(bytes).find(({ name }) => name === 'mdat') ?? {};
  let left = count;
  // Each unit of H.264 has its length before it, and its type in five bits.
  for (let at = start + 8; at < start + size; at += 4 + bytes.readUInt32BE(at)) {
    const unit = bytes.readUInt8(at + 4);
    if ((unit & 31) === 5 && left-- > 0) bytes.writeUInt8((unit & ~31) | 1, at + 4);
  }
  return bytes;
}

describe('nothing was recorded', () => {
  it.each([
    ['no chunks', []],
    ['chunks around the range', [chunk(0, 60, demo(0)), chunk(120, 180, demo(2))]],
    ['a video that ends before the range', [chunk(0, 120, demo(0))]],
    ['a chunk that ends before it begins', [chunk(120, 60, demo(0))]],
  ])('%s', async (_, chunks) => {
    await expect(cut(chunks, 60, 120)).rejects.toMatchObject({
      fault: 'nothing-recorded',
      message: 'nothing was recorded in this time',
    });
  });
});

it('nothing was recorded before the first key frame', async () => {
  const path = join(folder, 'late.mp4');
  await writeFile(path, withoutKeys(await readFile(demo(0)), 3));
  for (const end of [1.5, 3])
    await expect(cut([chunk(0, 60, path)], 1, end)).rejects.toMatchObject({ fault: 'nothing-recorded' });
});

describe('differences between two recordings', () => {
  const setup = Uint8Array.of(1, 66, 192, 21);
  const decoder = (description: ArrayBuffer | Uint8Array) => ({ codec: 'avc1.42c015', description });
  const picture = (other: Partial<VideoFacts> = {}): VideoFacts => ({
    ...{ codec: 'avc', width: 320, height: 180, rotation: 0 },
    decoderConfig: decoder(setup),
    ...other,
  });
  it.each<[string, Partial<VideoFacts>, string | null]>([
    ['the same', {}, null],
    ['the same elsewhere in memory', { decoderConfig: decoder(Uint8Array.of(0, ...setup).subarray(1)) }, null],
    ['the same as a buffer', { decoderConfig: decoder(Uint8Array.from(setup).buffer) }, null],
    [
      'codec',
      { codec: 'hevc', decoderConfig: { ...decoder(setup), codec: 'hvc1.1.6.L93.90' } },
      'another codec (hvc1.1.6.L93.90 after avc1.42c015)',
    ],
    ['height', { height: 240 }, 'another picture size (320x240 after 320x180)'],
    ['settings', { decoderConfig: decoder(Uint8Array.of(1, 66, 192, 22)) }, 'other encoder settings'],
    ['form', { decoderConfig: { ...decoder(setup), codec: 'avc3.42c015' } }, 'other encoder settings'],
    ['no settings', { decoderConfig: { codec: 'avc1.42c015' } }, 'other encoder settings'],
  ])('picture: %s', (_, other, difference) => {
    expect(videoDifference(picture(), picture(other))).toBe(difference);
  });

  const sound = (other: Partial<AudioFacts> = {}): AudioFacts => ({
    codec: 'aac',
    decoderConfig: { codec: 'mp4a.40.2', sampleRate: 32_000, numberOfChannels: 1, description: setup },
    ...other,
  });
  it.each<[string, Partial<AudioFacts>, string | null]>([
    ['the same', {}, null],
    [
      'sample rate',
      { decoderConfig: { ...sound().decoderConfig, sampleRate: 48_000 } },
      'another sound (mp4a.40.2, 48000 Hz, 1 channels after mp4a.40.2, 32000 Hz, 1 channels)',
    ],
    [
      'settings',
      { decoderConfig: { ...sound().decoderConfig, description: Uint8Array.of(9) } },
      'other sound settings',
    ],
  ])('sound: %s', (_, other, difference) => {
    expect(audioDifference(sound(), sound(other))).toBe(difference);
  });
});

describe('a broken recording without others', () => {
  const name = 'the recording that starts at 2026-11-02T08:01:00.000Z';
  const broken = async (file: string, change: (bytes: Buffer) => Buffer) => {
    const path = join(folder, `${file}.mp4`);
    await writeFile(path, change(await readFile(demo(1))));
    return path;
  };

  it('cut short in its table of contents', async () => {
    const path = await broken('short', (bytes) => bytes.subarray(0, 2_000));
    const message = `${name}: the video holds neither picture nor sound`;
    await expect(cut([chunk(60, 120, path)], 60, 120)).rejects.toMatchObject({ fault: 'unreadable', message });
  });

  it('cut short before its first frame', async () => {
    const path = await broken('frameless', (bytes) => {
      const { start = 0 } = boxesOf(bytes).find((box) => box.name === 'mdat') ?? {};
      return bytes.subarray(0, start + 16);
    });
    await expect(cut([chunk(60, 120, path)], 60, 120)).rejects.toMatchObject({ fault: 'unreadable' });
  });

  it('without any key frame', async () => {
    const path = await broken('keyless', (bytes) => withoutKeys(bytes, 60));
    const message = `${name}: the video has no key frame`;
    await expect(cut([chunk(60, 120, path)], 60, 70)).rejects.toMatchObject({ fault: 'unreadable', message });
  });

  it('of sound alone', async () => {
    const path = await remux(B_FRAMES, join(folder, 'sound.mp4'), { without: 'video' });
    const message = `${name}: the video has no pictures`;
    await expect(cut([chunk(60, 72, path)], 60, 70)).rejects.toMatchObject({ fault: 'no-video', message });
  });
});

describe('errors of the storage are not wrapped', () => {
  const refused = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });

  /** Reads the file, but throws for frames from the middle on. */
  async function failing(fail: () => never): Promise<ByteRangeReader> {
    const bytes = await readFile(demo(1));
    const frames = boxesOf(bytes).find(({ name }) => name === 'mdat')?.start ?? 0;
    return {
      size: bytes.length,
      async *read(start: number, end: number) {
        for (let from = start; from < end; from += 1000) {
          if (from > frames + 30_000) fail();
          yield bytes.subarray(from, Math.min(from + 1000, end));
        }
      },
    };
  }

  it('in the middle of the frames', async () => {
    const reader = await failing(() => {
      throw refused;
    });
    await expect(cut([chunk(0, 60, demo(0)), chunk(60, 120, reader)], 50, 120)).rejects.toBe(refused);
  });

  it('a chunk that does not exist', async () => {
    await expect(cut([chunk(0, 60, join(folder, 'gone.mp4'))], 0, 60)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('a target that cannot be written', async () => {
    const range = { startTime: at(0), endTime: at(60) };
    const order = { chunks: [chunk(0, 60, demo(0))], range, target: join(folder, 'no', 'such', 'folder.mp4') };
    await expect(cutClip(order)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a service that cuts nothing', () => {
  it('never loads the media library', async () => {
    const script = `
      import { registerHooks } from 'node:module';
      import { registerTypeScript } from './test/support/typescript-hook.mjs';
      let loaded = 0;
      registerTypeScript();
      registerHooks({ resolve: (name, context, next) => ((loaded += name === 'mediabunny'), next(name, context)) });
      await import('./src/reference-partner/vision/media/cut-clip.ts');
      const { beginsAsMp4 } = await import('./src/reference-partner/vision/media/stored-mp4.ts');
      const { withMp4Input } = await import('./src/reference-partner/vision/media/mp4-input.ts');
      const { readFileSync } = await import('node:fs');
      const bytes = readFileSync(${JSON.stringify(demo(0))});
      const reader = { size: bytes.length, read: (start, end) => bytes.subarray(start, end) };
      console.log(beginsAsMp4(bytes), loaded, await withMp4Input(reader, async ({ video }) => video !== null), loaded);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout.trim()).toBe('true 0 true 1');
  });
});
