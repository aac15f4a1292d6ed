import { S3Client } from '@aws-sdk/client-s3';
import type { S3StorageConfig } from '../config/storage-url.js';
import { errorCode, fullDisk, isErrorLike, isStorageError, StorageUnavailable } from './storage-errors.js';

/** Where the objects of one storage are. */
export interface S3Place {
  readonly client: S3Client;
  readonly bucket: string;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
}

/** Credentials come from the AWS SDK's own places: environment, profile, role of the machine. */
export function s3Place({ bucket, prefix, endpoint, region }: S3StorageConfig): S3Place {
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // Servers other than Amazon's do not all know the newer checksums, and lengths and hashes are ours.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    // 120 s: putting together the parts of a large file may take that long.
    requestHandler: { connectionTimeout: 5000, requestTimeout: 120_000, throwOnRequestTimeout: true },
  });
  return { client, bucket, prefix };
}

const FULL = new Set(['QuotaExceeded', 'InsufficientStorage', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded']);

const statusOf = (error: object): number | undefined =>
  '$metadata' in error ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode : undefined;

const nameOf = (error: unknown): string => (isErrorLike(error) ? String(error.name) : '');

export const isAbsent = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(nameOf(error));

export const isGoneUpload = (error: unknown): boolean => nameOf(error) === 'NoSuchUpload';

/** The server knows no such call. */
export const isUnsupported = (error: unknown): boolean =>
  ['MethodNotAllowed', 'NotImplemented'].includes(nameOf(error));

/** A failure of the S3 server or of the way to it as the storage's own; our own errors stay what they are. */
function s3Failure(error: unknown): unknown {
  if (!isErrorLike(error) || isStorageError(error) || error instanceof TypeError) return error;
  const status = statusOf(error);
  const words = [errorCode(error) ?? nameOf(error), ...(status === undefined ? [] : [`HTTP ${status}`])].join(', ');
  if (FULL.has(nameOf(error)) || status === 507) return fullDisk(words, error);
  return new StorageUnavailable('failed', `The video storage (S3) failed: ${words}.`, error);
}

export const viaS3 = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    throw s3Failure(error);
  });
