import type { Readable } from 'node:stream';
import type { Draft, DraftPoint, Published } from './draft.js';
import type { UnreadableError } from './storage-errors.js';

/** Injection token of the `Storage` that `STORAGE_URL` names. */
export const STORAGE = Symbol('STORAGE');

/** Both ends included, in bytes, as in an HTTP `Range`; without `end` up to the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface StoredFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly modifiedAt: Date;
}

export interface StorageHealth {
  readonly writable: boolean;
  /** A sentence; only when not writable. */
  readonly reason?: string;
  /** What is different about this storage: a sentence. */
  readonly advice?: string;
  /** Deleted and replaced files remain as versions that this service may not delete. */
  readonly keepsVersions?: boolean;
}

/** What to do where `keepsVersions`. */
export const KEEPS_VERSIONS =
  'The bucket keeps the old versions of deleted and replaced files, and the credentials of STORAGE_URL may not list or delete them, ' +
  'so that deleted video remains there. Allow s3:ListBucketVersions and s3:DeleteObjectVersion, and delete the versions that are ' +
  'there: by a lifecycle rule with NoncurrentVersionExpiration, or by `aws s3api list-object-versions` and `delete-object --version-id`.';

export interface Deleted {
  /** The bucket keeps versions of the file that this service may not delete. */
  readonly versionsLeft: boolean;
}

/**
 * Stores video files on disk or in S3. Names are those of `storageName`; any other name throws a `TypeError`. Every method may reject
 * with `StorageUnavailableError`.
 */
export interface Storage {
  /**
   * Creates an empty draft of a file and removes earlier drafts of the same name. Rejects with trouble `full` if `size`
   * bytes do not fit.
   */
  createDraft(name: string, size?: number): Promise<Draft>;
  /** Opens the draft of an interrupted attempt; undefined if its bytes are no longer there. */
  openDraft(name: string, point: DraftPoint): Promise<Draft | undefined>;
  /** Removes all drafts of a name. */
  removeDrafts(name: string): Promise<void>;
  /** Stores a whole stream under a name. Nothing is stored if the stream fails. */
  store(name: string, source: AsyncIterable<Buffer>, size?: number): Promise<Published>;
  /** Returns undefined if there is no such file. Rejects if the whole mount or bucket is missing. */
  stat(name: string): Promise<StoredFile | undefined>;
  /**
   * Rejects with `NotStoredError` if the file is lost, and with `StorageUnavailableError` if its mount is missing. The
   * caller must consume or destroy the stream.
   */
  read(name: string, range?: ByteRange): Promise<Readable>;
  /** With its earlier versions, where they can be deleted. Succeeds if there is no such file, unless its mount is missing. */
  delete(name: string): Promise<Deleted>;
  /**
   * Every published file of a folder (`recordings`), in no particular order. Files and folders of other programs are left out. Calls
   * `onUnreadable` for each part that cannot be read, and goes on; rejects without it, and where the whole folder cannot be read.
   */
  list(folder: string, onUnreadable?: (error: UnreadableError) => void): AsyncIterable<StoredFile>;
  /** Writes and removes a probe file. Rejects only while the database is unavailable. */
  check(): Promise<StorageHealth>;
  /** Removes drafts that were not touched for `olderThanMs`. Returns how many were removed. */
  sweep(olderThanMs: number): Promise<number>;
  /** Ends idle connections. */
  close(): void;
}
