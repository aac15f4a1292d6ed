import { randomBytes } from 'node:crypto';

/** One box of an MP4 file: its length, name and content. */
export function box(name: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const head = Buffer.alloc(8, name, 'latin1');
  head.writeUInt32BE(8 + content.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content]);
}

interface Mp4Box {
  readonly name: string;
  readonly start: number;
  readonly size: number;
}

/** The boxes of an MP4, one after the other. */
export function boxesOf(bytes: Buffer): Mp4Box[] {
  const boxes: Mp4Box[] = [];
  for (let start = 0; start < bytes.length;) {
    const short = bytes.readUInt32BE(start);
    const size = short === 1 ? Number(bytes.readBigUInt64BE(start + 8)) : short || bytes.length - start;
    boxes.push({ name: bytes.toString('latin1', start + 4, start + 8), start, size });
    start += size;
  }
  return boxes;
}

export const FTYP = box('ftyp', Buffer.from('isom\0\0\x02\0isommp41', 'latin1'));

/** An MP4 header (`mvhd`) without tracks: time scale 1,000, length 0. */
function movieHeader(): Buffer {
  const fields = Buffer.alloc(100);
  fields.writeUInt32BE(1_000, 12);
  fields.writeUInt32BE(0x00010000, 20);
  fields.writeUInt16BE(0x0100, 24);
  for (const [at, value] of [
    [36, 0x00010000],
    [52, 0x00010000],
    [68, 0x40000000],
  ] as const)
    fields.writeUInt32BE(value, at);
  fields.writeUInt32BE(1, 96);
  return box('mvhd', fields);
}

export const MOOV = box('moov', movieHeader());

const MIN_BYTES = FTYP.length + MOOV.length + 8;

/**
 * An MP4 file of exactly this many bytes (at least 152). Its boxes are complete and the last one holds random bytes, so
 * that no two files are alike. It has no pictures.
 */
export function sampleVideo(bytes = 50_000): Buffer {
  if (bytes < MIN_BYTES) throw new RangeError(`an MP4 has at least ${MIN_BYTES} bytes`);
  return Buffer.concat([FTYP, MOOV, box('mdat', randomBytes(bytes - MIN_BYTES))]);
}
