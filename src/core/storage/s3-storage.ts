import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import type { S3StorageConfig } from '../config/storage-url.js';
import { DiskSpace } from './disk-space.js';
import { draftCalls, type DraftFolder } from './draft.js';
import { sweepDrafts } from './file-storage.js';
import { makeFolder } from './make-folder.js';
import {
  type Checksum,
  deleteObject,
  deleteVersions,
  expectAnswer,
  isAbsent,
  type S3Place,
  s3Place,
  SHORT,
  statusOf,
  viaS3,
  withBody,
} from './s3-client.js';
import { type ByteRange, KEEPS_VERSIONS, type Storage, type StorageHealth, type StoredFile } from './storage.js';
import { isStorageName, safeFolder, safeName } from './storage-names.js';
import { ifNotStored, NotStoredError, sentenceOf, UnreadableError } from './storage-errors.js';

/** Two parts are in memory while a file is uploaded. S3 accepts 10,000 parts, so 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Stores objects `<prefix>recordings/ab/<uuid>.mp4`. Drafts are local files in `spool`, and a whole draft is uploaded, so that an
 * interrupted download resumes in the same way as with files. A killed upload leaves its parts to the lifecycle rule of the bucket.
 */
export function s3Storage(config: S3StorageConfig, spool: string): Storage {
  const place = s3Place(config);
  const drafts = {
    path: spool,
    space: new DiskSpace(spool),
    async within<T>(work: () => Promise<T>) {
      await makeFolder(spool);
      return work();
    },
    publish: (path: string, name: string) => upload(place, path, name),
  } satisfies DraftFolder;
  return {
    ...draftCalls(drafts),
    stat: (name) => statObject(place, name),
    read: (name, range) => readObject(place, name, range),
    delete: (name) => deleteObject(place, name),
    list: (folder) => listObjects(place, folder),
    check: () => checkBucket(place),
    sweep: (olderThanMs) => sweepDrafts(spool, olderThanMs),
    close: () => place.client.destroy(),
  };
}

async function upload(place: S3Place, path: string, name: string): Promise<void> {
  const { client, bucket, prefix } = place;
  const at = { Bucket: bucket, Key: prefix + name };
  await viaS3(async () => {
    await expectAnswer(client, at);
    const { VersionId } = await withBody(place, (checksum) => {
      const params = { ...at, ...checksum, ContentType: 'video/mp4', Body: createReadStream(path) };
      return new Upload({ client, params, partSize: PART_BYTES, queueSize: 2 }).done();
    });
    // The file replaces an earlier one, which the bucket keeps.
    if (VersionId !== undefined) await deleteVersions(place, at.Key, VersionId);
  });
  await rm(dirname(path), { recursive: true, force: true });
}

async function statObject(place: S3Place, name: string): Promise<StoredFile | undefined> {
  const { client, bucket, prefix } = place;
  return viaS3(async () => {
    try {
      const found = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: prefix + safeName(name) }), SHORT);
      return { name, size: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? new Date(0) };
    } catch (error) {
      if (statusOf(error) === 403) throw new UnreadableError(name, 'access denied (HTTP 403)', error);
      if (!isAbsent(error)) throw error;
    }
    // The response has no body that says what is absent: it may be the whole bucket.
    (await readObject(place, name).catch(ifNotStored))?.destroy();
    return undefined;
  });
}

async function readObject({ client, bucket, prefix }: S3Place, name: string, range?: ByteRange): Promise<Readable> {
  const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end ?? ''}` };
  return viaS3(async () => {
    try {
      // In Node.js the body is a readable stream; the type also covers browsers.
      const command = new GetObjectCommand({ Bucket: bucket, Key: prefix + safeName(name), ...Range });
      return (await client.send(command, SHORT)).Body as Readable;
    } catch (error) {
      throw isAbsent(error) ? new NotStoredError(name) : error;
    }
  });
}

async function* listObjects({ client, bucket, prefix }: S3Place, folder: string): AsyncGenerator<StoredFile> {
  const input = { Bucket: bucket, Prefix: `${prefix}${safeFolder(folder)}/` };
  const pages = paginateListObjectsV2({ client }, input, SHORT);
  for (;;) {
    const { done, value: page } = await viaS3(() => pages.next());
    if (done === true) return;
    for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
      const name = Key.slice(prefix.length);
      if (isStorageName(name)) yield { name, size: Size, modifiedAt: LastModified };
    }
  }
}

async function checkBucket(place: S3Place): Promise<StorageHealth> {
  const { client, bucket, prefix } = place;
  const at = { Bucket: bucket, Key: `${prefix}.probe-${randomBytes(6).toString('hex')}` };
  try {
    const keepsVersions = await viaS3(async () => {
      const put = (checksum: Checksum) =>
        client.send(new PutObjectCommand({ ...at, ...checksum, Body: 'probe' }), SHORT);
      const { VersionId } = await withBody(place, put);
      await client.send(new DeleteObjectCommand(at), SHORT);
      return VersionId !== undefined && !(await deleteVersions(place, at.Key));
    });
    const advice = [
      ...(place.checksum.ChecksumAlgorithm === undefined ? [] : [CHECKSUMS]),
      ...(keepsVersions ? [KEEPS_VERSIONS] : []),
    ];
    return {
      writable: true,
      ...(keepsVersions ? { keepsVersions } : {}),
      ...(advice.length === 0 ? {} : { advice: advice.join(' ') }),
    };
  } catch (error) {
    return { writable: false, reason: sentenceOf(error) };
  }
}

const CHECKSUMS = 'The bucket takes no file without a checksum, so each file is sent with its CRC32.';
