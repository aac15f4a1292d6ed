import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { formatInstant, type Instant } from '../../contracts/common/instant.js';
import type { SubmittedSiteData } from './submitted-site-data.js';

/** The prepared body of `GET /scale-platform/v1/sites`. */
export interface SiteAnswer {
  /** SHA-256 of the uncompressed body, in hex. The order of the submitted records does not change it. */
  readonly digest: string;
  /** Bytes uncompressed. */
  readonly byteLength: number;
  readonly gzipLength: number;
  /** The compressed body in order, in pieces of about `PIECE_BYTES`. */
  readonly gzip: readonly Buffer[];
  readonly active: number;
}

interface SubmittedRecord {
  readonly id: string;
  readonly active?: boolean;
  readonly updatedAt?: Instant;
}

const PIECE_BYTES = 256 * 1024;
const TEXT_LENGTH = 64 * 1024;

/** Prepares the response when the data changes. It has the active records only, ordered by id (decision 37). */
export async function writeSiteAnswer(data: SubmittedSiteData): Promise<SiteAnswer> {
  const hash = createHash('sha256');
  const written = { byteLength: 0, gzipLength: 0, active: 0 };
  const gzip: Buffer[] = [];
  await pipeline(
    Readable.from(
      textOf(data, () => written.active++),
      { objectMode: true },
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
        gzip.push(piece);
        written.gzipLength += piece.length;
      }
    },
  );
  return { ...written, digest: hash.digest('hex'), gzip };
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

async function* textOf(data: SubmittedSiteData, count: () => void): AsyncGenerator<string> {
  let text = '{"success":true,"data":{';
  for (const [kind, records] of Object.entries(data) as [string, readonly SubmittedRecord[]][]) {
    text += `${text.endsWith('{') ? '' : ','}"${kind}":[`;
    let separator = '';
    for (const bucket of bucketsById(records.filter(({ active }) => active !== false))) {
      for (const record of bucket.sort((a, b) => (a.id < b.id ? -1 : 1))) {
        text += separator + JSON.stringify(responseRecord(record));
        separator = ',';
        count();
        if (text.length < TEXT_LENGTH) continue;
        yield text;
        text = '';
      }
      await setImmediate();
    }
    text += ']';
  }
  yield `${text}}}`;
}

/** Splits records by the first byte of the id: one sort of a million ids would block the event loop for a second. */
function bucketsById(records: readonly SubmittedRecord[]): SubmittedRecord[][] {
  const buckets = Array.from({ length: 256 }, (): SubmittedRecord[] => []);
  for (const record of records) buckets[Number.parseInt(record.id.slice(0, 2), 16)]?.push(record);
  return buckets;
}

function responseRecord(record: SubmittedRecord): object {
  return record.updatedAt === undefined ? record : { ...record, updatedAt: formatInstant(record.updatedAt) };
}
