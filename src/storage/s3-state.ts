import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { isAbsent, isGoneUpload, isUnsupported, type S3Place } from './s3-client.js';
import type { Memo } from './storage.js';

/** Every part but the last has this size: the least that S3 takes, since two of them are held in memory. */
export const PART_BYTES = 5 * 1024 * 1024;

/** An upload that is under way, as the object beside it tells. Not all S3 servers list parts, so they stand here. */
export interface UploadState {
  readonly uploadId: string;
  /** The final key. */
  readonly key: string;
  /** ETags of the parts that are there, in order, each of `PART_BYTES`. */
  readonly parts: readonly string[];
  readonly memo: Memo;
  /** Of a film: how far its boxes were walked at the end of these parts, which cannot be read before they are joined. */
  readonly boxes?: string | undefined;
}

const isUploadState = (value: unknown): value is UploadState =>
  typeof value === 'object' &&
  value !== null &&
  'uploadId' in value &&
  typeof value.uploadId === 'string' &&
  'key' in value &&
  typeof value.key === 'string' &&
  'parts' in value &&
  Array.isArray(value.parts) &&
  'memo' in value &&
  typeof value.memo === 'object';

export async function readState({ client, bucket }: S3Place, stateKey: string): Promise<UploadState | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: stateKey }));
    const state: unknown = JSON.parse((await Body?.transformToString()) ?? 'null');
    return isUploadState(state) ? state : undefined;
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function writeState({ client, bucket }: S3Place, stateKey: string, state: UploadState): Promise<void> {
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: stateKey, Body: JSON.stringify(state) }));
}

/** Where an upload cannot be aborted, its parts are left to the bucket's own rule for incomplete uploads. */
export async function abortUpload({ client, bucket }: S3Place, key: string, uploadId: string): Promise<void> {
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: uploadId }));
  } catch (error) {
    if (!isGoneUpload(error) && !isUnsupported(error)) throw error;
  }
}

/** Removes the state, unless it tells of another upload by now: then it belongs to a successor. */
export async function forgetState(place: S3Place, stateKey: string, uploadId: string): Promise<void> {
  const state = await readState(place, stateKey);
  if (state !== undefined && state.uploadId !== uploadId) return;
  await place.client.send(new DeleteObjectCommand({ Bucket: place.bucket, Key: stateKey }));
}
