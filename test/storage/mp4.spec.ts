import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { BoxWalk } from '../../src/storage/mp4.js';
import { box, film, FTYP, MOOV } from '../support/films.js';

/** The walk's end: nothing, or what is wrong. Each piece is walked by another walk, from the state of the one before. */
function walked(body: Buffer, step = body.length, handOn = false): string | undefined {
  let walk = new BoxWalk();
  try {
    for (let at = 0; at < body.length; at += step) {
      walk.update(body.subarray(at, at + step));
      if (handOn) walk = new BoxWalk(walk.state);
    }
    walk.end();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A box whose length stands in eight bytes. */
function longBox(name: string, content: Buffer, length = 16 + content.length): Buffer {
  const head = Buffer.from(`\0\0\0\x01${name}\0\0\0\0\0\0\0\0`, 'latin1');
  head.writeBigUInt64BE(BigInt(length), 8);
  return Buffer.concat([head, content]);
}

const toTheEnd = (name: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`\0\0\0\0${name}`, 'latin1'), content]);

const rest = Buffer.alloc(300, 'x');
const fragment = Buffer.concat([box('moof', rest), box('mdat', rest)]);

describe('whole in its boxes', () => {
  test.each<[string, Buffer[]]>([
    ['a film', [film(400)]],
    ['its table of contents at the end', [FTYP, box('free'), box('mdat', rest), MOOV]],
    ['a length of 64 bits', [FTYP, MOOV, longBox('mdat', rest)]],
    ['a length of 64 bits with nothing behind it', [FTYP, longBox('free', Buffer.alloc(0)), MOOV]],
    ['an ftyp of the least length', [box('ftyp', Buffer.from('isom\0\0\0\0', 'latin1')), MOOV]],
    ['a last box that goes on to the end', [FTYP, MOOV, toTheEnd('mdat', rest)]],
    ['fragments', [FTYP, MOOV, box('sidx', rest), fragment, fragment, box('mfra', rest)]],
    ['a box of a name with ©', [FTYP, MOOV, box('\xa9nam', rest)]],
  ])('%s', (_, boxes) => {
    const body = Buffer.concat(boxes);
    for (const step of [1, 3, 7, 8, 9, 100, body.length]) {
      expect(walked(body, step)).toBeUndefined();
      expect(walked(body, step, true)).toBeUndefined();
    }
  });

  const folders = ['../../src/demo/recordings', '../vision-media/fixtures'].map((path) =>
    join(import.meta.dirname, path),
  );
  const films = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.mp4'))
      .map((name) => join(folder, name)),
  );
  test('real films of cameras and encoders', () => {
    expect(films.length).toBeGreaterThan(10);
    expect(films.map((path) => [path, walked(readFileSync(path), 65_521)])).toEqual(
      films.map((path) => [path, undefined]),
    );
  });
});

describe('not whole', () => {
  test.each<[string, Buffer[], string]>([
    ['nothing', [], 'it is ""'],
    ['a few bytes', [Buffer.from('abc')], 'it is "abc"'],
    [
      'a page',
      [Buffer.from('<!DOCTYPE html><title>Sign in</title>')],
      'it begins with "<!DOCTYPE html><title>Sign in</title>"',
    ],
    ['another film', [Buffer.from('RIFF\x10\0\0\0AVI LIST', 'latin1')], 'it begins with "RIFF....AVI LIST" instead'],
    ['a link in JSON', [Buffer.from('{"url":"https://a.example/f?sig=secret"}')], 'https://a.example/f?[redact'],
    ['no ftyp first', [MOOV, FTYP], 'instead of an ftyp box'],
    ['an ftyp of nothing', [box('ftyp'), MOOV], 'instead of an ftyp box'],
    ['an ftyp that is too short', [box('ftyp', Buffer.from('isom\0\0\0', 'latin1')), MOOV], 'instead of an ftyp box'],
    ['much of it', [Buffer.alloc(300, 'y')], `it begins with "${'y'.repeat(40)}" instead`],
    ['no moov', [FTYP, box('mdat', rest)], 'it has no moov box'],
    ['nothing but the start', [FTYP], 'it has no moov box'],
    [
      'cut within a box',
      [FTYP, MOOV, box('mdat', rest).subarray(0, 100)],
      'its mdat box ends 208 bytes behind the end',
    ],
    ['cut within the ftyp', [FTYP.subarray(0, 20)], 'its ftyp box ends 4 bytes behind the end'],
    ['cut within a head', [FTYP, MOOV, box('mdat').subarray(0, 5)], 'it ends within the head of a box'],
    ['a byte behind the end', [FTYP, MOOV, Buffer.from('x')], 'it ends within the head of a box'],
    ['cut within a long head', [FTYP, MOOV, longBox('mdat', rest).subarray(0, 12)], 'it ends within the head of a box'],
    ['zeros behind the end', [FTYP, MOOV, Buffer.alloc(64)], 'after its moov box, there is no box'],
    ['text behind the end', [FTYP, MOOV, Buffer.from('<!-- served by x -->')], 'behind the end of the file'],
    ['a length that is none', [FTYP, MOOV, Buffer.from('\0\0\0\x07mdat', 'latin1')], 'there is no box'],
    ['a long length that is none', [FTYP, MOOV, longBox('mdat', rest, 15)], 'there is no box'],
    ['a length beyond all bounds', [FTYP, MOOV, longBox('mdat', rest, 2 ** 53)], 'behind the end of the file'],
  ])('%s', (_, boxes, reason) => {
    const body = Buffer.concat(boxes);
    expect(walked(body)).toContain(reason);
    expect(walked(body, 5)).toBeDefined();
    expect(walked(body, 1)).toBe(walked(body, 5));
    expect(walked(body, 5, true)).toBe(walked(body, 5));
  });
});
