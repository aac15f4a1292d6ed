import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Kind, KINDS } from './submitted-records.js';

/** The body of `GET /scale-platform/v1/sites`. */
export interface SiteAnswer {
  /** SHA-256 of the uncompressed body, in hex. The order of the submitted records does not change it. */
  readonly digest: string;
  /** Bytes uncompressed. */
  readonly byteLength: number;
  readonly gzipLength: number;
  /** Number of pieces of the compressed body. */
  readonly pieces: number;
  readonly active: number;
}

const PIECE_BYTES = 256 * 1024;
const TEXT_LENGTH = 64 * 1024;

/**
 * Writes the compressed response piece by piece when the data changes. `elements` are the active records, ordered by kind
 * and id (decision 37).
 */
export async function writeSiteAnswer(
  elements: AsyncIterable<readonly { kind: Kind; text: string }[]>,
  store: (piece: Buffer, position: number) => Promise<void>,
): Promise<SiteAnswer> {
  const hash = createHash('sha256');
  const written = { byteLength: 0, gzipLength: 0, pieces: 0, active: 0 };
  await pipeline(
    Readable.from(
      textOf(elements, () => written.active++),
      { objectMode: true, highWaterMark: 1 },
    ),
    async function* (texts: AsyncIterable<string>) {
      for await (const text of texts) {
        const bytes = Buffer.from(text);
        hash.update(bytes);
        written.byteLength += bytes.length;
        yield bytes;
      }
    },
    createGzip({ chunkSize: PIECE_BYTES }),
    async (output: AsyncIterable<Buffer>) => {
      for await (const piece of gathered(output)) {
        written.gzipLength += piece.length;
        await store(piece, written.pieces++);
      }
    },
  );
  return { ...written, digest: hash.digest('hex') };
}

/** Joins the small pieces that zlib produces for each write. */
async function* gathered(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathering: Buffer[] = [];
  let bytes = 0;
  for await (const part of output) {
    gathering.push(part);
    bytes += part.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(gathering);
    [gathering, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(gathering);
}

async function* textOf(
  elements: AsyncIterable<readonly { kind: Kind; text: string }[]>,
  count: () => void,
): AsyncGenerator<string> {
  let open = 0;
  let text = `{"success":true,"data":{"${KINDS[0]}":[`;
  let separator = '';
  const openKind = (index: number) => {
    for (; open < index; separator = '') text += `],"${KINDS[++open]}":[`;
  };
  for await (const batch of elements) {
    for (const element of batch) {
      openKind(KINDS.indexOf(element.kind));
      text += separator + element.text;
      separator = ',';
      count();
      if (text.length < TEXT_LENGTH) continue;
      yield text;
      text = '';
    }
  }
  openKind(KINDS.length - 1);
  yield `${text}]}}`;
}
