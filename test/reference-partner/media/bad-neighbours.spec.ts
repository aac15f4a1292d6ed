import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { clipFolder, at, B_FRAMES, chunk, demo, readPackets, remux } from './sample-files.js';

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
