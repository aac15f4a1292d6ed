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
export async function readBytes(reader: ByteRangeReader, start: number, end: number): Promise<Buffer> {
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
