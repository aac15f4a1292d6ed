import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable } from 'node:stream';
import { parseStorageUrl } from '../config/storage-url.js';
import { inBackground } from '../errors/background.js';
import { isAbsent, type S3Place, s3Place, SHORT, viaS3, withBody } from './s3-client.js';
import { NotStoredError } from './storage-errors.js';

/** Two parts are in memory during an upload. S3 accepts 10,000 parts, so 320 GB. */
const PART_BYTES = 32 * 1024 * 1024;

/** One object of a bucket, which is no video. */
export interface S3Object {
  /** The object appears when `chunks` has ended, and not if it throws. */
  write(chunks: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>;
  /** Rejects with `NotStoredError`. */
  read(): Promise<Readable>;
  close(): void;
}

/** The object of `s3://bucket/folder/name?endpoint=…&region=…`. Throws `EnvError`; undefined if the address names none. */
export function s3Object(address: string): S3Object | undefined {
  const config = parseStorageUrl(address);
  if (config.kind !== 's3' || config.prefix === '') return undefined;
  const place = s3Place(config);
  const at = { Bucket: place.bucket, Key: config.prefix.slice(0, -1) };
  return {
    async write(chunks, signal) {
      let cause: unknown;
      async function* watched(): AsyncGenerator<Buffer> {
        try {
          yield* chunks;
        } catch (error) {
          cause = error;
          throw error;
        }
      }
      await viaS3(() => upload(place, at, watched(), signal)).catch((error: unknown) => {
        // What failed while the bytes were made is no failure of the bucket.
        throw cause ?? error;
      });
    },
    read: () =>
      viaS3(async () => {
        try {
          return (await place.client.send(new GetObjectCommand(at), SHORT)).Body as Readable;
        } catch (error) {
          throw isAbsent(error) ? new NotStoredError(at.Key) : error;
        }
      }),
    close: () => place.client.destroy(),
  };
}

async function upload(
  place: S3Place,
  at: { readonly Bucket: string; readonly Key: string },
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const { client } = place;
  // A stream cannot be sent twice, so a small object shows whether the bucket takes objects, and with which checksum.
  const probe = { Bucket: at.Bucket, Key: `${at.Key}.probe` };
  await withBody(place, (checksum) =>
    client.send(new PutObjectCommand({ ...probe, ...checksum, Body: 'probe' }), SHORT),
  );
  await client.send(new DeleteObjectCommand(probe), SHORT);
  const params = { ...at, ...place.checksum, ContentType: 'application/x-tar', Body: Readable.from(chunks) };
  const running = new Upload({ client, params, partSize: PART_BYTES, queueSize: 2 });
  const abort = () => inBackground(running.abort());
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    await running.done();
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
