import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export class BodyTooLarge extends Error {
  constructor(readonly maxBytes: number) {
    super(`the body is larger than ${maxBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}

export class UnknownCoding extends Error {
  constructor() {
    super('the body is coded in an unknown way');
    this.name = 'UnknownCoding';
  }
}

/** No object, in which a partner's word might find what every object has. */
const DECODERS: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

const EMPTY = Buffer.alloc(0);

const PORTION_BYTES = 16_777_216;

/** What of a body is kept before `enter`: a partner that is silent, or sends a byte now and then, has no place meanwhile. */
const FREE_BYTES = 1_048_576;

interface Reading {
  readonly contentEncoding: string | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Awaited once before more than a mebibyte of the body is kept. */
  readonly enter: () => Promise<void>;
}

/**
 * The whole body after decompression, or `BodyTooLarge` as soon as it has more than `maxBytes`: what a small body
 * unpacks to is counted as it comes, never kept.
 */
export async function readBody(body: Readable, { contentEncoding, maxBytes, signal, enter }: Reading): Promise<Buffer> {
  const coding = contentEncoding?.trim().toLowerCase() ?? '';
  const decoder = DECODERS.get(coding);
  if (decoder === undefined && coding !== '' && coding !== 'identity') {
    body.destroy();
    throw new UnknownCoding();
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let entered = false;
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes) throw new BodyTooLarge(maxBytes);
      if (size > FREE_BYTES && !entered) {
        await enter();
        entered = true;
      }
      chunks.push(chunk);
    }
  };
  if (decoder === undefined) await pipeline(body, collect, { signal });
  else await pipeline(body, decoder(), collect, { signal });
  return joined(chunks, size);
}

/** Copied in portions: hundreds of megabytes at one go would hold the event loop up. */
async function joined(chunks: Buffer[], size: number): Promise<Buffer> {
  if (size <= PORTION_BYTES) return Buffer.concat(chunks, size);
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let due = PORTION_BYTES;
  for (const [i, chunk] of chunks.entries()) {
    at += chunk.copy(whole, at);
    chunks[i] = EMPTY;
    if (at < due) continue;
    due = at + PORTION_BYTES;
    await setImmediate();
  }
  return whole;
}

/** As `readBody`, but never fails: a body that is too large or cannot be read, such as an error page, counts as empty. */
export async function readIfSmall(body: Readable, reading: Reading): Promise<Buffer> {
  try {
    return await readBody(body, reading);
  } catch {
    return EMPTY;
  }
}
