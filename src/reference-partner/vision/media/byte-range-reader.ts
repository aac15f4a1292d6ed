import { open, type FileHandle } from 'node:fs/promises';

/** Random access to a stored film, wherever it lies. */
export interface ByteRangeReader {
  /** Length of the whole film in bytes. */
  readonly size: number;
  /**
   * Bytes `start` (included) to `end` (excluded), all of them, at once or as a stream (a Node `Readable` or a web
   * `ReadableStream`). A stream that is no longer needed is destroyed. May be called twice at the same time.
   */
  read(start: number, end: number): FilmBytes | Promise<FilmBytes>;
}

export type FilmBytes = Uint8Array | AsyncIterable<Uint8Array>;

/** The path of a file, or a reader for anything else. */
export type MediaSource = string | ByteRangeReader;

/** Lends a reader; a file is open only while `use` runs. */
export async function withReader<T>(source: MediaSource, use: (reader: ByteRangeReader) => Promise<T>): Promise<T> {
  if (typeof source !== 'string') return use(source);
  const file = await open(source, 'r');
  try {
    const { size } = await file.stat();
    return await use({ size, read: (start, end) => readFully(file, start, end) });
  } finally {
    await file.close();
  }
}

/** The bytes `start` (included) to `end` (excluded) in memory. */
export async function readBytes(reader: ByteRangeReader, start: number, end: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const bytes = await reader.read(start, end);
  for await (const part of bytes instanceof Uint8Array ? [bytes] : bytes) parts.push(part);
  const read = Buffer.concat(parts);
  if (read.length !== end - start) throw shortRead(end - start, read.length);
  return read;
}

export const shortRead = (expected: number, received: number) =>
  new Error(`the storage sent ${received} bytes where ${expected} were asked for`);

async function readFully(file: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start);
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    done += bytesRead;
  }
  return bytes;
}
