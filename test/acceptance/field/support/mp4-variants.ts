import { box } from '../../../support/sample-video.js';
import { boxesOf } from '../../../nightly/media/sample-files.js';

/** A box of the file by its name, `mdat` in another form, or any other bytes. */
export type Part = 'ftyp' | 'moov' | 'mdat' | 'mdat of 64 bits' | 'mdat to the end' | Buffer;

export const filler = (name: string, bytes = 40): Buffer => box(name, Buffer.alloc(bytes, 0x20));

/** The pictures of an MP4 with its boxes in this order. */
export function arranged(file: Buffer, parts: readonly Part[]): Buffer {
  const contentOf = (name: string) => {
    const { start, size } = boxesOf(file).find((each) => each.name === name) ?? { start: 0, size: 8 };
    return { start: start + 8, bytes: file.subarray(start + 8, start + size) };
  };
  const media = contentOf('mdat');
  const heads: Partial<Record<string, Buffer>> = {
    mdat: head(8 + media.bytes.length),
    'mdat of 64 bits': Buffer.concat([head(1), longSize(16 + media.bytes.length)]),
    'mdat to the end': head(0),
  };
  const bytesOf = (part: Part): Buffer => {
    if (Buffer.isBuffer(part)) return part;
    const own = heads[part];
    return own === undefined ? box(part, contentOf(part).bytes) : Buffer.concat([own, media.bytes]);
  };
  const pieces = parts.map(bytesOf);
  const place = parts.findIndex((part) => typeof part === 'string' && part.startsWith('mdat'));
  const before = pieces.slice(0, place).reduce((sum, { length }) => sum + length, 0);
  const mediaStart = before + (heads[String(parts[place])]?.length ?? 8);
  return movedFrames(Buffer.concat(pieces), mediaStart - media.start);
}

/** The file with another name of the codec of its pictures. */
export function withCodec(file: Buffer, name: string): Buffer {
  const changed = Buffer.from(file);
  changed.write(name, changed.indexOf('avc1', changed.indexOf('stsd')), 'latin1');
  return changed;
}

function head(size: number): Buffer {
  const bytes = Buffer.from('\0\0\0\0mdat', 'latin1');
  bytes.writeUInt32BE(size);
  return bytes;
}

function longSize(size: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(size));
  return bytes;
}

/** Adds to every offset of the tables. */
function movedFrames(file: Buffer, by: number): Buffer {
  const moov = boxesOf(file).find(({ name }) => name === 'moov');
  if (moov === undefined) return file;
  const end = moov.start + moov.size;
  for (const [name, width] of [
    ['stco', 4],
    ['co64', 8],
  ] as const) {
    for (let at = file.indexOf(name, moov.start); at > 0 && at < end; at = file.indexOf(name, at + 4)) {
      for (let entry = 0; entry < file.readUInt32BE(at + 8); entry++) {
        const place = at + 12 + entry * width;
        if (width === 4) file.writeUInt32BE(file.readUInt32BE(place) + by, place);
        else file.writeBigUInt64BE(file.readBigUInt64BE(place) + BigInt(by), place);
      }
    }
  }
  return file;
}
