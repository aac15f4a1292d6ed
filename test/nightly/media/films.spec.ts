import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type VideoPart, NotCopiedError, trimMp4 } from '../../../src/reference-partner/vision/media/trim-mp4.js';
import { withCodec } from '../../acceptance/field/support/mp4-variants.js';
import { boxesOf } from '../../support/sample-video.js';
import { B_FRAMES, DEMO, filmFolder, hevcVideo, type ReadPacket, readPackets, remux } from './sample-files.js';

/** Parts of films, copied without decoding. `acceptance/partner/clips` has the requests, `field/other-peoples-videos` the files. */

const folder = filmFolder();
const demo = await readFile(DEMO);
const bFrames = await readFile(B_FRAMES);

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
  test.each<{ name: string; asked: [number, number]; kept: [number, number] }>([
    { name: 'inside', asked: [10, 20], kept: [10, 20] },
    { name: 'from the key frame before its start', asked: [10.7, 20.5], kept: [10, 20.5] },
    { name: 'beyond the end of the film', asked: [50, 90], kept: [50, 60] },
    { name: 'the whole', asked: [0, 60], kept: [0, 60] },
  ])('has its pictures, and begins at zero with a key frame: $name', async ({ asked, kept: [from, to] }) => {
    const { part, bytes } = await trim(demo, ...asked);
    expect(part).toEqual({ from, to });
    const [source, trimmed] = [await readPackets(demo), await readPackets(bytes)];
    expect(sums(trimmed.video)).toEqual(sums(source.video.slice(from * 10, to * 10)));
    expect(trimmed.video[0]).toMatchObject({ type: 'key', seconds: 0 });
    trimmed.video.forEach(({ seconds }, i) => expect(seconds).toBeCloseTo(i / 10, 4));
    expect(trimmed.durationSeconds).toBeCloseTo(to - from, 4);
    expect(
      boxesOf(bytes)
        .slice(0, 2)
        .map(({ name }) => name),
    ).toEqual(['ftyp', 'moov']);
  });

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
    const path = await remux(DEMO, join(folder, 'sideways.mp4'), { rotation: 90 });
    expect((await readPackets((await trim(await readFile(path), 0, 10)).bytes)).rotation).toBe(90);
  });

  test('of H.265 has the same pictures', async () => {
    const film = await readFile(await hevcVideo(join(folder, 'hevc.mp4')));
    const { part, bytes } = await trim(film, 2.5, 4);
    expect(part).toEqual({ from: 2, to: 4 });
    expect(sums((await readPackets(bytes)).video)).toEqual(sums((await readPackets(film)).video.slice(20, 40)));
  });

  test('that begins after the end of the film is none', async () => {
    expect((await trim(demo, 60, 70)).part).toBeUndefined();
  });

  test('is refused where a track cannot be copied, or bytes are missing', async () => {
    await expect(trim(withCodec(demo, 'mp4v'), 10, 20)).rejects.toThrow(NotCopiedError);
    const sound = Buffer.from(bFrames);
    sound.write('alaw', sound.indexOf('mp4a', sound.indexOf('stsd')), 'latin1');
    await expect(trim(sound, 4, 8)).rejects.toThrow(NotCopiedError);
    await expect(trim(demo.subarray(0, 60_000), 30, 60)).rejects.toThrow('cut short');
    expect((await trim(demo.subarray(0, 60_000), 10, 20)).part).toEqual({ from: 10, to: 20 });
  });
});
