import { randomBytes } from 'node:crypto';

/** One box of an MP4 file: its length, its name, what it holds. */
export function box(name: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const head = Buffer.alloc(8, name, 'latin1');
  head.writeUInt32BE(8 + content.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content]);
}

export const FTYP = box('ftyp', Buffer.from('isom\0\0\x02\0isommp41', 'latin1'));

/** Of a film without tracks: a time scale of 1,000, a length of 0. */
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

const LEAST_BYTES = FTYP.length + MOOV.length + 8;

/**
 * An MP4 film of just so many bytes, 152 at least: whole in its boxes, random in its last one, so that no two are alike.
 * There is nothing to see in it.
 */
export function film(bytes = 50_000): Buffer {
  if (bytes < LEAST_BYTES) throw new RangeError(`a film has at least ${LEAST_BYTES} bytes`);
  return Buffer.concat([FTYP, MOOV, box('mdat', randomBytes(bytes - LEAST_BYTES))]);
}
