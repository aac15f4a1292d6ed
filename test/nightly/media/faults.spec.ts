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
import { at, B_FRAMES, boxesOf, chunk, clipFolder, demo, readPackets, remux } from './sample-files.js';

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
      const { beginsAsMp4 } = await import('./src/contracts/vision/mp4-start.ts');
      const { withMp4Input } = await import('./src/reference-partner/vision/media/mp4-input.ts');
      const { readFileSync } = await import('node:fs');
      const bytes = readFileSync(${JSON.stringify(demo(0))});
      const reader = { size: bytes.length, read: (start, end) => bytes.subarray(start, end) };
      console.log(beginsAsMp4(bytes), loaded, await withMp4Input(reader, async ({ video }) => video !== null), loaded);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout.trim()).toBe('true 0 true 1');
  });
});

describe('a clip of several recordings', () => {
  const { folder, target, cut } = clipFolder();

  async function changed(name: string, from: string, change: (bytes: Buffer) => Buffer): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, change(await readFile(from)));
    return path;
  }

  /** The last byte of its encoder settings differs. */
  const reconfigured = () =>
    changed('reconfigured.mp4', B_FRAMES, (bytes) => {
      const setup = bytes.indexOf('avcC') - 4;
      const last = setup + bytes.readUInt32BE(setup) - 1;
      bytes.writeUInt8(bytes.readUInt8(last) ^ 1, last);
      return bytes;
    });

  /** A file whose header states audio of 48 kHz. */
  const resounding = () =>
    changed('resounding.mp4', B_FRAMES, (bytes) => {
      bytes.writeUInt8(0x11, bytes.indexOf(Buffer.of(0x12, 0x88), bytes.indexOf('esds')));
      return bytes;
    });

  const range = (from: number, to: number) => ({ startTime: at(from), endTime: at(to) });

  describe('a clip of recordings whose pictures cannot be joined', () => {
    const second = 'the recording that starts at 2026-11-02T08:00:12.000Z';

    it.each([
      ['picture size', () => Promise.resolve(demo(0)), 'another picture size (320x180 after 160x90)'],
      ['encoder settings', reconfigured, 'other encoder settings'],
      [
        'rotation',
        () => remux(B_FRAMES, join(folder, 'r.mp4'), { rotation: 90 }),
        'another rotation (90 after 0 degrees)',
      ],
    ])('is the longer part, and says why the rest is missing: %s', async (_, other, difference) => {
      const clip = await cut([chunk(0, 12, B_FRAMES), chunk(12, 24, await other())], 4, 18);
      expect(clip).toMatchObject({
        startTime: at(4),
        missing: [range(12, 18)],
        unrecorded: [],
        leftOut: [`${second} cannot be joined: it has ${difference}`],
      });
      expect((await readPackets(target)).durationSeconds).toBeCloseTo(8, 1);
    });

    it('leaves out a recording in the middle, and joins the others', async () => {
      const chunks = [chunk(0, 12, B_FRAMES), chunk(12, 24, await reconfigured()), chunk(24, 36, B_FRAMES)];
      const clip = await cut(chunks, 0, 40);
      expect(clip).toMatchObject({ missing: [range(12, 24), range(36, 40)], unrecorded: [range(36, 40)] });
      expect(clip.leftOut).toHaveLength(1);
      expect((await readPackets(target)).durationSeconds).toBeCloseTo(24, 1);
    });

    it('uses the later part if that is longer', async () => {
      const clip = await cut([chunk(0, 12, B_FRAMES), chunk(12, 72, demo(0))], 4, 72);
      expect(clip).toMatchObject({ ...range(12, 72), missing: [range(4, 12)] });
    });
  });

  it('a recording with another sound is used without it, and the clip reports that', async () => {
    const clip = await cut([chunk(0, 12, B_FRAMES), chunk(12, 24, await resounding())], 6, 18);
    expect(clip).toMatchObject({ missing: [], leftOut: [] });
    expect(clip.soundFaults).toEqual([
      'a recording has another sound (mp4a.40.2, 48000 Hz, 1 channels after mp4a.40.2, 32000 Hz, 1 channels)',
    ]);
    const { video, audio } = await readPackets(target);
    expect(video.at(-1)?.seconds).toBeGreaterThan(11);
    expect(audio.at(-1)?.seconds).toBeLessThan(6.5);
  });

  describe('a clip with a damaged recording', () => {
    const second = 'the recording that starts at 2026-11-02T08:01:00.000Z';

    it('uses a recording that is cut short up to its last frame, and goes on with the next', async () => {
      const short = await changed('short.mp4', demo(1), (bytes) => bytes.subarray(0, 60_000));
      const clip = await cut([chunk(0, 60, demo(0)), chunk(60, 120, short), chunk(120, 180, demo(2))], 50, 130);
      expect(clip).toMatchObject({ ...range(50, 130), unrecorded: [], leftOut: [`${second}: the video is cut short`] });
      const [gap] = clip.missing;
      expect(clip.missing).toHaveLength(1);
      expect(gap?.startTime.getTime()).toBeGreaterThan(at(61).getTime());
      expect(gap?.endTime).toEqual(at(120));
      const shown = 10 + (Number(gap?.startTime) - at(60).getTime()) / 1000 + 10;
      expect((await readPackets(target)).durationSeconds).toBeCloseTo(shown, 1);
    });

    it.each<[string, number, string]>([
      ['without frames', 2_000, 'the video holds neither picture nor sound'],
      ['of no byte', 0, 'the video cannot be read as MP4'],
    ])('leaves out one %s', async (_, length, message) => {
      const path = await changed('cut.mp4', demo(1), (bytes) => bytes.subarray(0, length));
      const clip = await cut([chunk(0, 60, demo(0)), chunk(60, 120, path), chunk(120, 180, demo(2))], 50, 130);
      expect(clip).toMatchObject({ missing: [range(60, 120)], unrecorded: [], leftOut: [`${second}: ${message}`] });
    });

    it('does not mention one if another recording shows the same time', async () => {
      const path = await changed('none.mp4', demo(1), () => Buffer.alloc(0));
      const clip = await cut([chunk(0, 60, demo(0)), chunk(10, 20, path)], 0, 60);
      expect(clip).toMatchObject({ ...range(0, 60), missing: [], leftOut: [] });
    });
  });

  describe('a recording that the library reads and cannot write', () => {
    it.each(['Opus', 'ac-3', 'fLaC', 'twos'])('is delivered without its sound: %s', async (codec) => {
      const path = await changed(`${codec}.mp4`, B_FRAMES, (bytes) => {
        bytes.write(codec, bytes.indexOf('mp4a', bytes.indexOf('stsd')), 'latin1');
        return bytes;
      });
      const clip = await cut([chunk(0, 12, path)], 0, 8);
      expect(clip).toMatchObject({
        missing: [],
        leftOut: [],
        soundFaults: ['it is damaged, or of a kind that cannot be copied'],
      });
      const { video, audio } = await readPackets(target);
      expect([video.length > 0, audio]).toEqual([true, []]);
    });

    it('leaves out only its own part if the times of its frames are damaged', async () => {
      const plain = await remux(B_FRAMES, join(folder, 'plain.mp4'), {});
      const path = await changed('times.mp4', plain, (bytes) => {
        // One frame is shown minutes after all others.
        bytes.writeUInt8(153, bytes.indexOf('ctts') + 641);
        return bytes;
      });
      const clip = await cut([chunk(0, 12, B_FRAMES), chunk(12, 24, path), chunk(24, 36, B_FRAMES)], 0, 36);
      const [gap] = clip.missing;
      expect(clip).toMatchObject({
        ...range(0, 36),
        missing: [{ endTime: at(24) }],
        leftOut: ['the recording that starts at 2026-11-02T08:00:12.000Z: the video has a frame with a damaged time'],
      });
      const shown = 12 + (Number(gap?.startTime) - at(12).getTime()) / 1000 + 12;
      expect((await readPackets(target)).durationSeconds).toBeCloseTo(shown, 1);
    });
  });
});
