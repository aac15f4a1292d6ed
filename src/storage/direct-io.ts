import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { writeAll } from './file-durability.js';
import { errorCode } from './storage-errors.js';

/** What a direct write has to be a multiple of, in memory and in the file: no disk in use asks for more. */
const SECTOR_BYTES = 4096;
const WASM_PAGE_BYTES = 64 * 1024;

/** The little that is needed of it: the types of Node.js leave it to those of a browser. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

const alignedMemory = new WeakSet<ArrayBufferLike>();

/**
 * A buffer that begins at a page of memory, as direct writes need it: WebAssembly's memory does in practice, and where it
 * did not, the system would refuse the write. Each has a memory of its own, so that one nobody gives back is collected.
 */
export function alignedBuffer(bytes: number): Buffer<ArrayBuffer> {
  const pages = Math.ceil(bytes / WASM_PAGE_BYTES);
  try {
    const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages });
    alignedMemory.add(buffer);
    return Buffer.from(buffer, 0, bytes);
  } catch {
    // Each takes some GB of addresses, which may be limited; what is written from here goes through the cache.
    return Buffer.allocUnsafeSlow(bytes);
  }
}

/**
 * A second handle of a file, past the system's page cache; undefined where the file system has no such thing. Copying a
 * film into the cache and writing that back takes most of the processor time of a download (docs/benchmarks.md).
 */
export const openDirect = (path: string): Promise<FileHandle | undefined> =>
  // 0 on Windows and macOS, whatever the types say.
  ((constants.O_DIRECT as number | undefined) ?? 0) === 0
    ? Promise.resolve(undefined)
    : open(path, constants.O_WRONLY | constants.O_DIRECT).catch(() => undefined);

/** Writes of the chunk what may go this way, from its beginning on; returns how many bytes. */
export async function writeDirectly(handle: FileHandle, chunk: Buffer, position: number): Promise<number> {
  const aligned = [chunk.byteOffset, position].every((place) => place % SECTOR_BYTES === 0);
  const bytes = chunk.length - (chunk.length % SECTOR_BYTES);
  if (bytes === 0 || !aligned || !alignedMemory.has(chunk.buffer)) return 0;
  try {
    return (await handle.write(chunk, 0, bytes, position)).bytesWritten;
  } catch (error) {
    // The file system wants larger multiples.
    if (errorCode(error) === 'EINVAL') return 0;
    throw error;
  }
}

/** Writes what may go past the page cache there; the rest, mostly the last bytes of a file, the usual way. */
export async function writeBlock(
  usual: FileHandle,
  direct: FileHandle | undefined,
  block: Buffer[],
  position: number,
): Promise<void> {
  const [first, ...more] = block;
  if (first === undefined) return;
  const written = direct === undefined ? 0 : await writeDirectly(direct, first, position);
  if (written === first.length && more.length === 0) return;
  await writeAll(usual, [first.subarray(written), ...more], position + written);
}
