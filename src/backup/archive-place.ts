import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvError } from '../config/parse.js';
import { PRIVATE_FILE } from '../config/private-modes.js';
import { isErrorLike, NotStoredError, StorageUnavailableError } from '../storage/storage-errors.js';
import type { S3Object } from '../storage/s3-object.js';
import { BackupError } from './backup-error.js';

const BUFFER_BYTES = 1024 * 1024;

/** Where an archive is: a file, or an object of a bucket. */
export interface ArchivePlace {
  /** The archive appears under its name when `chunks` has ended, and not if it throws. Returns its size. */
  write(chunks: AsyncIterable<Buffer>, signal: AbortSignal): Promise<number>;
  /** From the beginning at each call. */
  read(): AsyncGenerator<Buffer>;
  close(): void;
}

/** `option` is the option of the command, for the sentences. */
export async function archivePlace(address: string, option: string): Promise<ArchivePlace> {
  if (!/^s3:/i.test(address)) return filePlace(resolve(address.replace(/^file:(\/\/(?=\/))?/, '')), option);
  // The AWS SDK costs time and memory.
  const { s3Object } = await import('../storage/s3-object.js');
  let object: S3Object | undefined;
  try {
    object = s3Object(address);
  } catch (error) {
    throw error instanceof EnvError ? new BackupError(`${option} ${error.message}`) : error;
  }
  if (object === undefined)
    throw new BackupError(`${option} must name an object, as in s3://bucket/folder/haulbridge.tar`);
  return objectPlace(object, option);
}

function filePlace(path: string, option: string): ArchivePlace {
  const failure = (error: unknown, what: string): unknown =>
    isErrorLike(error) && 'errno' in error ? new BackupError(`${option}: ${path} ${what}: ${error.message}`) : error;
  return {
    write: (chunks, signal) => {
      return writeFile(path, chunks, signal).catch((error: unknown) => {
        throw failure(error, 'cannot be written');
      });
    },
    async *read() {
      try {
        yield* createReadStream(path, { highWaterMark: BUFFER_BYTES }) as AsyncIterable<Buffer>;
      } catch (error) {
        throw failure(error, 'cannot be read');
      }
    },
    close: () => undefined,
  };
}

/** Under another name first, so that neither a failure nor a power cut leaves a part of an archive under this one. */
async function writeFile(path: string, chunks: AsyncIterable<Buffer>, signal: AbortSignal): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) throw new BackupError(`--to: ${path} is a folder; name a file in it`);
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.partial`);
  const file = createWriteStream(draft, { flags: 'wx', mode: PRIVATE_FILE, highWaterMark: BUFFER_BYTES });
  try {
    await pipeline(chunks, file, { signal });
    await syncPath(draft, 'r+');
    await rename(draft, path);
    // Some file systems cannot do it with a folder.
    await syncPath(dirname(path), 'r').catch(() => undefined);
    return file.bytesWritten;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Makes a file, or the names in a folder, durable. */
async function syncPath(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function objectPlace(object: S3Object, option: string): ArchivePlace {
  const failure = (error: unknown): unknown => {
    if (error instanceof NotStoredError) return new BackupError(`${option}: there is no object ${error.file}`);
    if (!(error instanceof StorageUnavailableError)) return error;
    // An archive is no video.
    return new BackupError(`${option}: ${error.message.replace('video storage', 'storage')}`);
  };
  return {
    async write(chunks, signal) {
      let size = 0;
      async function* counted(): AsyncGenerator<Buffer> {
        for await (const chunk of chunks) {
          size += chunk.length;
          yield chunk;
        }
      }
      await object.write(counted(), signal).catch((error: unknown) => {
        throw failure(error);
      });
      return size;
    },
    async *read() {
      try {
        const body: Readable = await object.read();
        yield* body as AsyncIterable<Buffer>;
      } catch (error) {
        throw failure(error);
      }
    },
    close: () => object.close(),
  };
}
