import { createHash } from 'node:crypto';
import {
  BufferSource,
  BufferTarget,
  Conversion,
  EncodedPacketSink,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { box, boxesOf } from '../../../support/sample-video.js';

/** The pictures of an MP4, each by its sum, in the order of the file. */
export async function framesOf(bytes: Buffer): Promise<string[]> {
  const input = new Input({ formats: [MP4], source: new BufferSource(bytes) });
  const track = await input.getPrimaryVideoTrack();
  const frames: string[] = [];
  for await (const { data } of track === null ? [] : new EncodedPacketSink(track).packets()) {
    frames.push(createHash('sha256').update(data).digest('hex'));
  }
  input.dispose();
  return frames;
}

/** The same pictures in fragments. */
async function fragmented(bytes: Buffer): Promise<Buffer> {
  const input = new Input({ formats: [MP4], source: new BufferSource(bytes) });
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'fragmented' }), target });
  await (await Conversion.init({ input, output })).execute();
  input.dispose();
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
}

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

interface Order {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  readonly parts: readonly Part[];
}

export const ORDERS: readonly Order[] = [
  {
    name: 'free first',
    source: 'a muxer that reserves room for its index',
    parts: [filler('free'), 'ftyp', 'moov', 'mdat'],
  },
  {
    name: 'several free boxes, one of them empty',
    source: 'an exporter that removed metadata in place',
    parts: [filler('free'), filler('free', 0), filler('free', 70_000), 'ftyp', 'mdat', 'moov'],
  },
  {
    name: 'wide before mdat, no ftyp',
    source: 'QuickTime files of before 2001',
    parts: [filler('wide', 0), 'mdat', 'moov'],
  },
  {
    name: 'skip first',
    source: 'a phone that updates its videos in place',
    parts: [filler('skip'), 'ftyp', 'moov', 'mdat'],
  },
  {
    name: 'mdat first, moov at the end, no ftyp',
    source: 'recorders that write the index last',
    parts: ['mdat', 'moov'],
  },
  { name: 'moov first, no ftyp', source: 'a fast-start tool for QuickTime', parts: ['moov', 'mdat'] },
  { name: 'moov first, then ftyp', source: 'a dash camera of one vendor', parts: ['moov', 'ftyp', 'mdat'] },
  {
    name: 'mdat with a size of 64 bits first',
    source: 'recorders that reserve for 4 GiB',
    parts: ['mdat of 64 bits', 'moov'],
  },
  {
    name: 'mdat to the end of the file',
    source: 'a recorder that does not know its end',
    parts: ['ftyp', 'moov', 'mdat to the end'],
  },
  { name: 'moov first, mdat to the end', source: 'the same without ftyp', parts: ['moov', 'mdat to the end'] },
  {
    name: 'uuid first',
    source: 'an action camera with its telemetry first',
    parts: [filler('uuid'), 'ftyp', 'moov', 'mdat'],
  },
  { name: 'pnot first', source: 'videos with a preview picture', parts: [filler('pnot', 12), 'moov', 'mdat'] },
];

/** The same pictures in fragments, as recorders that stream write them. */
export async function fragmentedForms(file: Buffer): Promise<{ name: string; source: string; file: Buffer }[]> {
  const fragments = await fragmented(file);
  return [
    { name: 'fragments', source: 'a streaming encoder', file: fragments },
    { name: 'fragments with styp first', source: 'a segmenter', file: Buffer.concat([filler('styp', 8), fragments]) },
    {
      name: 'fragments after free',
      source: 'the same with room at its start',
      file: Buffer.concat([filler('free'), fragments]),
    },
  ];
}
