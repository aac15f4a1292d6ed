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
 * - `nothing-recorded`: no chunk has a frame in the requested range.
 */
export type MediaFault = 'unreadable' | 'no-video' | 'nothing-recorded';

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

/** Length and name of a box, and the brand that follows in an `ftyp` box. */
export const MP4_HEAD_BYTES = 12;

/** Whether the first bytes of a file (at least `MP4_HEAD_BYTES`) are those of an `ftyp` box. */
export const beginsAsMp4 = (head: Buffer): boolean =>
  head.length >= MP4_HEAD_BYTES && head.toString('latin1', 4, 8) === 'ftyp' && head.readUInt32BE(0) >= MP4_HEAD_BYTES;

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
 * over or stores every sample. The library detects other damage itself.
 * @throws MediaError `unreadable`; errors of the storage are not wrapped.
 */
export async function assertPlausibleTables(reader: ByteRangeReader): Promise<void> {
  const moov = await findMoov(reader);
  if (moov === undefined) return;
  if (moov.end - moov.start > MAX_MOOV_BYTES) throw implausible('it is larger than 64 MiB');
  assertTables(await readBytes(reader, moov.start, moov.end), reader.size);
}

async function findMoov(reader: ByteRangeReader): Promise<Box | undefined> {
  let at = 0;
  for (let count = 0; count < MAX_BOXES_BEFORE_MOOV && at + 8 <= reader.size; count++) {
    const head = await readBytes(reader, at, Math.min(at + 16, reader.size));
    const box = readBox(head, 0, reader.size - at);
    if (box === undefined) return undefined;
    if (box.name === 'moov') return { name: box.name, start: at + box.start, end: at + box.end };
    at += box.end;
  }
  return undefined;
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
