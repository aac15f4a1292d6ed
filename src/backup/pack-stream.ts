import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { partName, type StreamSum } from './archive-format.js';
import { tarEntry } from './tar.js';

/** Bytes of a part before its compression. Three parts are in memory at once. */
export const PART_BYTES = 8 * 1024 * 1024;

const compress = promisify(zstdCompress);
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Yields the bytes of the archive for one stream, in compressed parts of bounded size, and returns their sum. */
export async function* packStream(folder: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, StreamSum> {
  const hash = createHash('sha256');
  let [parts, bytes] = [0, 0];
  function* entryOf(content: Buffer): Generator<Buffer> {
    parts += 1;
    bytes += content.length;
    hash.update(content);
    yield* tarEntry({ name: partName(folder, parts), content });
  }
  // The next part is gathered while a thread compresses this one.
  let ahead: Promise<Buffer> | undefined;
  for await (const block of blocksOf(chunks)) {
    const next = compress(block, OPTIONS);
    if (ahead !== undefined) yield* entryOf(await ahead);
    ahead = next;
  }
  if (ahead !== undefined) yield* entryOf(await ahead);
  return { parts, bytes, sha256: hash.digest('hex') };
}

/** The same bytes in blocks of `PART_BYTES`. */
async function* blocksOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [gathered, size]: [Buffer[], number] = [[], 0];
  for await (const chunk of chunks) {
    let rest = chunk;
    while (size + rest.length >= PART_BYTES) {
      const taken = rest.subarray(0, PART_BYTES - size);
      yield Buffer.concat([...gathered, taken]);
      rest = rest.subarray(taken.length);
      [gathered, size] = [[], 0];
    }
    if (rest.length > 0) gathered.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(gathered);
}
