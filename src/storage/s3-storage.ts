import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsOutput as UploadPage,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { S3StorageConfig } from '../config/storage-url.js';
import { isAbsent, isUnsupported, type S3Place, s3Place, viaS3 } from './s3-client.js';
import { abortUpload, readState } from './s3-state.js';
import { openS3Writer } from './s3-writer.js';
import type { ByteRange, Storage, StorageHealth, StoredFile } from './storage.js';
import { ifNotStored, NotStored, sentenceOf } from './storage-errors.js';
import { isStorageName, PARTIAL, safeFolder, safeName } from './storage-name.js';

interface Found {
  readonly key: string;
  readonly size: number;
  readonly modifiedAt: Date;
}

async function* objects({ client, bucket }: S3Place, prefix: string): AsyncGenerator<Found> {
  let token: string | undefined;
  do {
    const input = { Bucket: bucket, Prefix: prefix, ...(token === undefined ? {} : { ContinuationToken: token }) };
    const page = await viaS3(() => client.send(new ListObjectsV2Command(input)));
    for (const { Key, Size, LastModified } of page.Contents ?? [])
      if (Key !== undefined) yield { key: Key, size: Size ?? 0, modifiedAt: LastModified ?? new Date(0) };
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

async function* listObjects(place: S3Place, folder: string): AsyncGenerator<StoredFile> {
  for await (const { key, size, modifiedAt } of objects(place, `${place.prefix}${safeFolder(folder)}/`)) {
    const name = key.slice(place.prefix.length);
    if (isStorageName(name)) yield { name, size, modifiedAt };
  }
}

async function statObject(place: S3Place, name: string): Promise<StoredFile | undefined> {
  const at = { Bucket: place.bucket, Key: place.prefix + safeName(name) };
  return viaS3(async () => {
    const found = await place.client.send(new HeadObjectCommand(at)).catch(async (error: unknown) => {
      if (!isAbsent(error)) throw error;
      // No body comes with it that would say what is not there, and the whole bucket may be it.
      (await readObject(place, name).catch(ifNotStored))?.destroy();
      return undefined;
    });
    return found && { name, size: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? new Date(0) };
  });
}

async function readObject({ client, bucket, prefix }: S3Place, name: string, range?: ByteRange): Promise<Readable> {
  const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end ?? ''}` };
  const Key = prefix + safeName(name);
  return viaS3(async () => {
    try {
      // In Node.js the body is a readable stream; the type also covers browsers.
      return (await client.send(new GetObjectCommand({ Bucket: bucket, Key, ...Range }))).Body as Readable;
    } catch (error) {
      throw isAbsent(error) ? new NotStored(name) : error;
    }
  });
}

async function checkBucket({ client, bucket, prefix }: S3Place): Promise<StorageHealth> {
  const at = { Bucket: bucket, Key: `${prefix}${PARTIAL}/.probe-${randomBytes(6).toString('hex')}` };
  try {
    await viaS3(async () => {
      await client.send(new PutObjectCommand({ ...at, Body: 'probe' }));
      await client.send(new DeleteObjectCommand(at));
    });
    return { writable: true };
  } catch (error) {
    return { writable: false, reason: sentenceOf(error) };
  }
}

async function uploadsAfter({ client, bucket, prefix }: S3Place, last?: UploadPage): Promise<UploadPage> {
  const after = { KeyMarker: last?.NextKeyMarker, UploadIdMarker: last?.NextUploadIdMarker };
  try {
    return await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...after }));
  } catch (error) {
    if (isUnsupported(error)) return {};
    throw error;
  }
}

/**
 * Uploads that were begun and never told of: their process was killed within that moment. Other applications may share
 * the bucket, so that only the name tells which are ours.
 */
async function* abandonedUploads(place: S3Place, before: number): AsyncGenerator<[key: string, uploadId: string]> {
  let page: UploadPage | undefined;
  do {
    page = await viaS3(() => uploadsAfter(place, page));
    for (const { Key = '', UploadId = '', Initiated } of page.Uploads ?? []) {
      const ours = Key.startsWith(place.prefix) && isStorageName(Key.slice(place.prefix.length));
      if (ours && Initiated !== undefined && Initiated.getTime() < before) yield [Key, UploadId];
    }
  } while (page.IsTruncated === true && page.NextKeyMarker !== undefined);
}

async function sweepBucket(place: S3Place, olderThanMs: number): Promise<number> {
  const before = Date.now() - olderThanMs;
  const living = new Set<string>();
  let removed = 0;
  for await (const { key, modifiedAt } of objects(place, `${place.prefix}${PARTIAL}/`)) {
    const state = await viaS3(() => readState(place, key));
    if (modifiedAt.getTime() > before) {
      if (state !== undefined) living.add(state.uploadId);
      continue;
    }
    await viaS3(async () => {
      if (state !== undefined) await abortUpload(place, state.key, state.uploadId);
      await place.client.send(new DeleteObjectCommand({ Bucket: place.bucket, Key: key }));
    });
    removed += 1;
  }
  for await (const [key, uploadId] of abandonedUploads(place, before)) {
    if (living.has(uploadId)) continue;
    await viaS3(() => abortUpload(place, key, uploadId));
    removed += 1;
  }
  return removed;
}

/** Objects `<prefix>recordings/ab/<uuid>.mp4`; what is under way is told of below `<prefix>.partial/`. */
export function s3Storage(config: S3StorageConfig): Storage {
  const place = s3Place(config);
  return {
    writer: async (name, options) => openS3Writer(place, safeName(name), options),
    stat: (name) => statObject(place, name),
    read: (name, range) => readObject(place, name, range),
    delete: async (name) => {
      const at = { Bucket: place.bucket, Key: place.prefix + safeName(name) };
      await viaS3(() => place.client.send(new DeleteObjectCommand(at)));
    },
    list: (folder) => listObjects(place, folder),
    check: () => checkBucket(place),
    sweep: (olderThanMs) => sweepBucket(place, olderThanMs),
    close: () => place.client.destroy(),
  };
}
