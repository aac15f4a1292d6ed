import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { cutClip } from '../../../src/reference-partner/vision/media/cut-clip.js';
import { arranged, fragmentedForms, framesOf, ORDERS, withCodec } from '../../acceptance/field/support/mp4-variants.js';
import { at, clipFolder, demo } from './sample-files.js';

const { target } = clipFolder();
const recorded = await readFile(demo(0));
const fragments = await fragmentedForms(recorded);

/** Cuts a quarter of a minute as the process does that prepares clips. */
async function cut(file: Buffer) {
  const source = {
    size: file.length,
    read: (start: number, end: number) => Promise.resolve(file.subarray(start, end)),
  };
  const chunk = { startTime: at(0), endTime: at(60), source };
  return cutClip({ chunks: [chunk], range: { startTime: at(15), endTime: at(30) }, target });
}

describe('a clip is cut of a recording (decision 65)', () => {
  test.each([
    ...ORDERS.map(({ name, source, parts }) => ({ name, source, file: arranged(recorded, parts) })),
    ...fragments,
  ])('with $name ($source)', async ({ file }) => {
    expect(await cut(file)).toMatchObject({ missing: [] });
    const frames = await framesOf(await readFile(target));
    expect(frames.length).toBeGreaterThan(10);
    expect((await framesOf(recorded)).join()).toContain(frames.join());
  });
});

describe('a recording that cannot be cut is used as a whole (decision 44)', () => {
  test.each([
    ['mp4v', 'MPEG-4 part 2: the recorders of one fleet'],
    ['jpeg', 'motion JPEG: old analogue cameras behind a video server'],
    ['mjp2', 'motion JPEG 2000: a body camera'],
    ['s263', 'H.263: a recorder of 2005'],
    ['vvc1', 'H.266: a codec that is newer than this service'],
  ])('a recording of the codec %s (%s)', async (codec) => {
    const reason = expect.stringContaining(`a codec that cannot be cut (${codec})`);
    expect((await cut(withCodec(recorded, codec))).uncut).toEqual({ place: 0, reason });
  });

  test('a recording in fragments without ftyp (a recorder that streams)', async () => {
    const [{ file } = { file: recorded }] = fragments;
    const reason = expect.stringContaining('fragmented');
    expect((await cut(file.subarray(file.readUInt32BE(0)))).uncut).toEqual({ place: 0, reason });
  });
});
