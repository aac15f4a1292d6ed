/** Random access to the bytes of a stored video. */
export interface ByteRangeReader {
  /** Length of the whole video in bytes. */
  readonly size: number;
  /**
   * The bytes `start` (included) to `end` (excluded), as one array or as a stream (a Node `Readable` or a web
   * `ReadableStream`). The caller destroys a stream that it no longer needs. Concurrent calls are allowed.
   */
  read(start: number, end: number): RangeBytes | Promise<RangeBytes>;
}

type RangeBytes = Uint8Array | AsyncIterable<Uint8Array>;

/** The bytes `start` (included) to `end` (excluded) in memory. */
async function readBytes(reader: ByteRangeReader, start: number, end: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const bytes = await reader.read(start, end);
  for await (const part of bytes instanceof Uint8Array ? [bytes] : bytes) parts.push(part);
  const read = Buffer.concat(parts);
  if (read.length !== end - start) throw shortRead(end - start, read.length);
  return read;
}

export const shortRead = (expected: number, received: number) =>
  new Error(`the storage sent ${received} bytes instead of ${expected}`);

/**
 * Why a video cannot be used. A retry does not help.
 * - `unreadable`: damaged, truncated, encrypted, or in a format that the library does not know.
 * - `no-video`: no video track.
 * - `not-cuttable`: whole, but of a kind that cannot be cut without decoding it, or that the library cannot write.
 * - `nothing-recorded`: no chunk has a frame in the requested range.
 */
export type MediaFault = 'unreadable' | 'no-video' | 'not-cuttable' | 'nothing-recorded';

/**
 * An error of the video itself. `message` may be shown to a partner: it names a chunk by its start and never a path.
 * Errors of the storage (a missing file, a full disk, a refused connection) are not wrapped, because they may be temporary.
 */
export class MediaError extends Error {
  override readonly name = 'MediaError';

  constructor(
    readonly fault: MediaFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A day with 60 frames per second has tables of about 60 MiB. */
const MAX_MOOV_BYTES = 64 * 1024 ** 2;
/** The `moov` box is before or after the media data, and before all fragments. */
const MAX_BOXES_BEFORE_MOOV = 64;
const CONTAINERS = new Set(['trak', 'mdia', 'minf', 'stbl']);

interface Box {
  readonly name: string;
  /** Start and end of its content. */
  readonly start: number;
  readonly end: number;
}

/**
 * Refuses a video whose tables claim more samples than the file can have. The media library trusts the tables, and loops
 * over or stores every sample. The library detects other damage itself. Returns the video as the library recognises it.
 * @throws MediaError `unreadable`, `not-cuttable`; errors of the storage are not wrapped.
 */
export async function checkedMp4(reader: ByteRangeReader): Promise<ByteRangeReader> {
  const boxes = await boxesToMoov(reader);
  const [first, moov] = [boxes[0], boxes.find(({ name }) => name === 'moov')];
  if (first === undefined || moov === undefined) return reader;
  if (moov.end - moov.start > MAX_MOOV_BYTES) throw implausible('it is larger than 64 MiB');
  const tables = await readBytes(reader, moov.start, moov.end);
  assertTables(tables, reader.size);
  if (first.name === 'ftyp' || first.name === 'styp') return reader;
  if (first !== moov)
    return withBytes(reader, first.start === 8 ? FTYP_NAME : { at: 0, bytes: ftypAndFree(first.end) });
  const next = await boxAt(reader, moov.end);
  if (next?.name === 'moof') throw new MediaError('not-cuttable', 'the video is fragmented and has no ftyp box');
  const head = await readBytes(reader, 0, moov.start);
  return withBytes(reader, { at: 0, bytes: Buffer.concat([EMPTY_FTYP, head, tables]) });
}

/** In place of a header with a size of 64 bits. */
function ftypAndFree(end: number): Buffer {
  const free = Buffer.from('\0\0\0\0free', 'latin1');
  free.writeUInt32BE(end - EMPTY_FTYP.length);
  return Buffer.concat([EMPTY_FTYP, free]);
}

const FTYP_NAME: Patch = { at: 4, bytes: Buffer.from('ftyp') };
const EMPTY_FTYP = Buffer.from('\0\0\0\x08ftyp', 'latin1');

interface Patch {
  readonly at: number;
  readonly bytes: Buffer;
}

/**
 * The library recognises a video by an `ftyp` box at its start, although it reads the other boxes in any order. Decision 65
 * does not require that box, so another first box gets its name. A `moov` that comes first moves by 8 bytes, over the
 * head of the box after it: the tables have the offsets of all frames, so that the library does not read that head.
 */
function withBytes(reader: ByteRangeReader, { at, bytes }: Patch): ByteRangeReader {
  return {
    size: reader.size,
    read: async (start, end) => {
      const [from, to] = [Math.max(start, at), Math.min(end, at + bytes.length)];
      if (from >= to) return reader.read(start, end);
      const read = await readBytes(reader, start, end);
      bytes.copy(read, from - start, from - at, to - at);
      return read;
    },
  };
}

/** The boxes up to `moov`; the last one is another if there is no `moov`. */
async function boxesToMoov(reader: ByteRangeReader): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = 0; boxes.length < MAX_BOXES_BEFORE_MOOV && boxes.at(-1)?.name !== 'moov';) {
    const box = await boxAt(reader, at);
    if (box === undefined) break;
    boxes.push(box);
    at = box.end;
  }
  return boxes;
}

async function boxAt(reader: ByteRangeReader, at: number): Promise<Box | undefined> {
  if (at + 8 > reader.size) return undefined;
  const head = await readBytes(reader, at, Math.min(at + 16, reader.size));
  const box = readBox(head, 0, reader.size - at);
  return box && { name: box.name, start: at + box.start, end: at + box.end };
}

/** The box at `at`, cut at `limit`; undefined if there is none. */
function readBox(bytes: Buffer, at: number, limit: number): Box | undefined {
  if (at + 8 > bytes.length) return undefined;
  const size = bytes.readUInt32BE(at);
  const isLong = size === 1;
  if (isLong && at + 16 > bytes.length) return undefined;
  const length = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : size === 0 ? limit - at : size;
  const start = at + (isLong ? 16 : 8);
  const end = Math.min(at + length, limit);
  return end < start ? undefined : { name: bytes.toString('latin1', at + 4, at + 8), start, end };
}

/** `bytes` is the content of a `moov` box. */
function assertTables(bytes: Buffer, fileSize: number): void {
  const samples = new Map<string, number>();
  for (const box of boxesWithin(bytes, 0, bytes.length)) {
    if (box.name === 'stbl') samples.clear();
    const word = (offset: number) => (box.start + offset + 4 <= box.end ? bytes.readUInt32BE(box.start + offset) : 0);
    if (box.name === 'stsz' || box.name === 'stz2') samples.set('count', word(8));
    if (box.name === 'stsc') samples.set('chunk', maxOf(box, 12, 4, word));
    if (box.name === 'stts' || box.name === 'ctts') samples.set(box.name, total(box, 8, 0, word));
    for (const claimed of samples.values()) {
      if (claimed > fileSize) throw implausible(`it claims ${claimed} samples in a file of ${fileSize} bytes`);
    }
    const [count, chunk] = [samples.get('count'), samples.get('chunk')];
    if (count !== undefined && chunk !== undefined && chunk > count) {
      throw implausible(`it claims a chunk of ${chunk} samples, and ${count} samples in all`);
    }
  }
}

/** All boxes, including those inside the containers of the sample tables. */
function* boxesWithin(bytes: Buffer, from: number, to: number): Generator<Box> {
  for (let at = from; at < to;) {
    const box = readBox(bytes, at, to);
    if (box === undefined) return;
    yield box;
    if (CONTAINERS.has(box.name)) yield* boxesWithin(bytes, box.start, box.end);
    at = box.end;
  }
}

function* entries(box: Box, entryBytes: number, offset: number, word: (offset: number) => number): Generator<number> {
  const count = Math.min(word(4), Math.floor((box.end - box.start - 8) / entryBytes));
  for (let entry = 0; entry < count; entry++) yield word(8 + entry * entryBytes + offset);
}

type Entries = Parameters<typeof entries>;
const maxOf = (...table: Entries): number => entries(...table).reduce((max, value) => Math.max(max, value), 0);
const total = (...table: Entries): number => entries(...table).reduce((sum, value) => sum + value, 0);

const implausible = (reason: string) =>
  new MediaError('unreadable', `the video has a damaged table of contents: ${reason}`);
