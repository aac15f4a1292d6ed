import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Mp4BoxValidator } from '../../../src/vision/downloads/mp4-box-validator.js';
import { box, sampleVideo, FTYP, MOOV } from '../../support/sample-video.js';

/** The number of trailing bytes, or the message of the error. */
function validate(body: Buffer, step = body.length): number | string {
  const validator = new Mp4BoxValidator();
  try {
    for (let at = 0; at < body.length; at += step) validator.update(body.subarray(at, at + step));
    return validator.end();
  } catch (error) {
    return (error as Error).message;
  }
}

/** A box whose size is in eight bytes. */
function longBox(type: string, content: Buffer, size = 16 + content.length): Buffer {
  const header = Buffer.from(`\0\0\0\x01${type}\0\0\0\0\0\0\0\0`, 'latin1');
  header.writeBigUInt64BE(BigInt(size), 8);
  return Buffer.concat([header, content]);
}

const toTheEnd = (type: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`\0\0\0\0${type}`, 'latin1'), content]);

const rest = Buffer.alloc(300, 'x');
const fragment = Buffer.concat([box('moof', rest), box('mdat', rest)]);
const whole = Buffer.concat([FTYP, MOOV, box('mdat', rest)]);

describe('a valid MP4', () => {
  test.each<[string, Buffer[]]>([
    ['of the usual boxes', [sampleVideo(400)]],
    ['with its moov box at the end', [FTYP, box('free'), box('mdat', rest), MOOV]],
    ['with a size of 64 bits', [FTYP, MOOV, longBox('mdat', rest)]],
    ['with an empty box that has a size of 64 bits', [FTYP, longBox('free', Buffer.alloc(0)), MOOV]],
    ['with the shortest ftyp box', [box('ftyp', Buffer.from('isom\0\0\0\0', 'latin1')), MOOV]],
    ['whose last box continues to the end', [FTYP, MOOV, toTheEnd('mdat', rest)]],
    ['in fragments', [FTYP, MOOV, box('sidx', rest), fragment, fragment, box('mfra', rest)]],
    ['with a box type that has a ©', [FTYP, MOOV, box('\xa9nam', rest)]],
  ])('%s is accepted', (_, boxes) => {
    const body = Buffer.concat(boxes);
    for (const step of [1, 3, 7, 8, 9, 100, body.length]) expect(validate(body, step)).toBe(0);
  });

  const folders = ['../../../src/demo/recordings', '../../reference-partner/media/fixtures'].map((path) =>
    join(import.meta.dirname, path),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.mp4'))
      .map((name) => join(folder, name)),
  );
  test('of a camera or an encoder is accepted', () => {
    expect(files.length).toBeGreaterThan(10);
    for (const path of files) expect([path, validate(readFileSync(path), 65_521)]).toEqual([path, 0]);
  });
});

test.each<[string, Buffer]>([
  ['a byte', Buffer.from('x')],
  ['zeros', Buffer.alloc(64)],
  ['text', Buffer.from('<!-- served by x -->')],
  ['the beginning of a page', Buffer.from('<html><body>')],
  ['a box of an impossible size', Buffer.from('\0\0\0\x07mdat', 'latin1')],
])('%s after the last box of a whole file is counted as trailing bytes', (_, trailing) => {
  const body = Buffer.concat([whole, trailing]);
  for (const step of [1, 5, body.length]) expect(validate(body, step)).toBe(trailing.length);
});

describe('an invalid MP4', () => {
  test.each<[string, Buffer[], string]>([
    ['without a byte', [], 'it is ""'],
    ['of a few bytes', [Buffer.from('abc')], 'it is "abc"'],
    [
      'that is a page',
      [Buffer.from('<!DOCTYPE html><title>Sign in</title>')],
      'it begins with "<!DOCTYPE html><title>Sign in</title>"',
    ],
    ['that is an AVI', [Buffer.from('RIFF\x10\0\0\0AVI LIST', 'latin1')], 'it begins with "RIFF....AVI LIST" instead'],
    ['with a signed link', [Buffer.from('{"url":"https://a.example/f?sig=secret"}')], 'https://a.example/f?[redact'],
    ['without ftyp at its beginning', [MOOV, FTYP], 'instead of an ftyp box'],
    ['with an empty ftyp box', [box('ftyp'), MOOV], 'instead of an ftyp box'],
    ['with a short ftyp box', [box('ftyp', Buffer.from('isom\0\0\0', 'latin1')), MOOV], 'instead of an ftyp box'],
    ['of many bytes', [Buffer.alloc(300, 'y')], `it begins with "${'y'.repeat(40)}" instead`],
    ['without a moov box', [FTYP, box('mdat', rest)], 'it has no moov box'],
    ['of an ftyp box only', [FTYP], 'it has no moov box'],
    [
      'that ends in a box',
      [FTYP, MOOV, box('mdat', rest).subarray(0, 100)],
      'its mdat box ends 208 bytes after the end',
    ],
    ['that ends in its second mdat box', [whole, box('mdat', rest).subarray(0, 100)], 'its mdat box ends 208 bytes'],
    ['that ends in the ftyp box', [FTYP.subarray(0, 20)], 'its ftyp box ends 4 bytes after the end'],
    ['that ends in a header', [FTYP, MOOV, box('mdat').subarray(0, 5)], 'it ends within the header of a box'],
    ['that ends in a long header', [FTYP, MOOV, longBox('mdat', rest).subarray(0, 12)], 'within the header of a box'],
    ['with zeros before its media', [FTYP, MOOV, Buffer.alloc(64)], 'it has no box at byte'],
    ['with an impossible size', [FTYP, MOOV, Buffer.from('\0\0\0\x07mdat', 'latin1')], 'it has no box at byte'],
    ['with an impossible long size', [FTYP, MOOV, longBox('mdat', rest, 15)], 'it has no box at byte'],
    ['with a huge size', [FTYP, MOOV, longBox('mdat', rest, 2 ** 53)], 'after the end of the file'],
  ])('%s is refused with the reason', (_, boxes, reason) => {
    const body = Buffer.concat(boxes);
    expect(validate(body)).toContain(reason);
    expect(validate(body, 1)).toBe(validate(body, 5));
    expect(validate(body, 5)).toEqual(expect.any(String));
  });
});
