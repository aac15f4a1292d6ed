import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import type { S3StorageConfig } from '../config/storage-url.js';
import { NETWORK_CAUSES } from '../../contracts/common/network-causes.values.js';
import { networkCause } from '../../contracts/common/network-cause.js';
import { readLargeHeads } from '../outbound/guarded-agents.js';
import { errorCode, fullDisk, isErrorLike, isStorageError, StorageUnavailableError } from './storage-errors.js';
import type { Deleted } from './storage.js';
import { safeName } from './storage-names.js';

/** For every call but those that move a file. A call has three attempts, so a server that is silent fails in 8 s. */
export const SHORT = { requestTimeout: 2500 };

export interface S3Place {
  readonly client: S3Client;
  readonly bucket: string;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
  /** Sent with each body. Set once the bucket has refused one without. */
  checksum: Checksum;
}

export type Checksum = Pick<PutObjectCommandInput, 'ChecksumAlgorithm'>;

/** As the client's own agents have it. */
const CONNECTIONS = { keepAlive: true, maxSockets: 50 };

/** Credentials come from the usual places of the AWS SDK: environment, profile, role of the machine. */
export function s3Place({ bucket, prefix, endpoint, region }: S3StorageConfig): S3Place {
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // Some S3 servers do not support checksums: `withBody` adds them. Size and SHA-256 are in the database.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    // 120 s, because joining the parts of a large file may take that long.
    requestHandler: {
      connectionTimeout: 5000,
      requestTimeout: 120_000,
      throwOnRequestTimeout: true,
      httpAgent: readLargeHeads(new HttpAgent(CONNECTIONS)),
      httpsAgent: readLargeHeads(new HttpsAgent(CONNECTIONS)),
    },
  });
  return { client, bucket, prefix, checksum: {} };
}

/** Sends a body, once more with a checksum if it was refused: a bucket with Object Lock takes none without. */
export async function withBody<T>(place: S3Place, send: (checksum: Checksum) => Promise<T>): Promise<T> {
  try {
    return await send(place.checksum);
  } catch (error) {
    if (statusOf(error) !== 400 || place.checksum.ChecksumAlgorithm !== undefined) throw error;
    const sent = await send({ ChecksumAlgorithm: 'CRC32' });
    place.checksum = { ChecksumAlgorithm: 'CRC32' };
    return sent;
  }
}

/** The parts of a file may take long, so a silent server is noticed before the first of them. A refusal is an answer. */
export async function expectAnswer(client: S3Client, at: { Bucket: string; Key: string }): Promise<void> {
  await client.send(new HeadObjectCommand(at), SHORT).catch((error: unknown) => {
    if (statusOf(error) === undefined) throw error;
  });
}

const FULL = new Set(['QuotaExceeded', 'InsufficientStorage', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded']);

const KEYS = 'see AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
const REGION = 'the bucket is in another region, see the region in STORAGE_URL';

/** What an operator can change. */
const KNOWN: Readonly<Record<string, string>> = {
  CredentialsProviderError: `there are no credentials, ${KEYS}`,
  InvalidAccessKeyId: `the key is not known, ${KEYS}`,
  SignatureDoesNotMatch: `the secret of the key is another one, ${KEYS}`,
  AccessDenied: 'the credentials do not allow it',
  NoSuchBucket: 'there is no such bucket, see STORAGE_URL',
  PermanentRedirect: REGION,
  AuthorizationHeaderMalformed: REGION,
  ETIMEDOUT: 'it does not answer',
};

const nameOf = (error: unknown): string => (isErrorLike(error) ? String(error.name) : '');

/** Undefined if the server did not answer. */
export const statusOf = (error: unknown): number | undefined =>
  isErrorLike(error) && '$metadata' in error
    ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode
    : undefined;

export const isAbsent = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(nameOf(error));

export const viaS3 = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    throw s3Failure(error);
  });

/** Converts a failure of the S3 server or of the connection to it; errors of our own stay unchanged. */
function s3Failure(error: unknown): unknown {
  if (!isErrorLike(error) || isStorageError(error) || error instanceof TypeError) return error;
  const status = statusOf(error);
  // A system error of the local draft: `Draft` converts it.
  if (status === undefined && 'path' in error) return error;
  const cause = status === undefined ? networkCause(error) : undefined;
  const code = errorCode(error) ?? nameOf(error);
  const known = cause === undefined ? KNOWN[code] : NETWORK_CAUSES[cause];
  const named = [code, ...(status === undefined ? [] : [`HTTP ${status}`])].join(', ');
  const words = known === undefined ? named : `${known} (${named})`;
  if (FULL.has(nameOf(error)) || status === 507) return fullDisk(words, error);
  return new StorageUnavailableError('failed', `The video storage (S3) failed: ${words}.`, error);
}

/** With its versions, in a bucket that keeps them. */
export async function deleteObject(place: S3Place, name: string): Promise<Deleted> {
  const at = { Bucket: place.bucket, Key: place.prefix + safeName(name) };
  return viaS3(async () => {
    const { DeleteMarker } = await place.client.send(new DeleteObjectCommand(at), SHORT);
    return { versionsLeft: DeleteMarker === true && !(await deleteVersions(place, at.Key)) };
  });
}

/** A version of an object, or a marker of its deletion. */
interface ObjectVersion {
  readonly Key: string;
  readonly VersionId: string;
}

/** Credentials or a lock that do not allow the call, or a server that does not know it. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 409, 411, 501]);

/** Undefined where the call is refused: then versions remain. */
const ifAllowed = <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: unknown) => {
    if (!REFUSALS.has(statusOf(error) ?? 0)) throw error;
    return undefined;
  });

/**
 * Deletes the versions of an object in a bucket that keeps them, and the markers of its deletion, but for the version `except`.
 * Returns false if some may remain: the credentials, a lock or the server do not let them be listed or deleted.
 */
export async function deleteVersions(place: S3Place, key: string, except?: string): Promise<boolean> {
  const found = await ifAllowed(versionsOf(place, key));
  if (found === undefined) return false;
  let isWhole = true;
  for (const version of found) {
    if (version.VersionId === except) continue;
    const command = new DeleteObjectCommand({ Bucket: place.bucket, ...version });
    isWhole = (await ifAllowed(place.client.send(command, SHORT))) !== undefined && isWhole;
  }
  return isWhole;
}

async function versionsOf({ client, bucket }: S3Place, key: string): Promise<ObjectVersion[]> {
  const found: ObjectVersion[] = [];
  let after: { readonly KeyMarker?: string; readonly VersionIdMarker?: string } | undefined = {};
  while (after !== undefined) {
    const command: ListObjectVersionsCommand = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: key, ...after });
    const page = await client.send(command, SHORT);
    for (const { Key, VersionId } of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
      if (Key === key && VersionId !== undefined) found.push({ Key, VersionId });
    }
    const { IsTruncated, NextKeyMarker: KeyMarker, NextVersionIdMarker } = page;
    const isOfKey = IsTruncated === true && KeyMarker === key && NextVersionIdMarker !== undefined;
    after = isOfKey ? { KeyMarker, VersionIdMarker: NextVersionIdMarker } : undefined;
  }
  return found;
}
