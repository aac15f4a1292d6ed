import type { Readable } from 'node:stream';
import type { DeleteFailures } from './delete-each.js';
import type { Draft } from './draft.js';
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

/** Size and checksum of a published file. */
export interface Published {
  /** Bytes. */
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** Progress of a draft. */
export interface DraftPoint {
  /** Of the `Draft`. */
  readonly id: string;
  /** Bytes that are durable; the draft may have more. */
  readonly bytes: number;
  /** Bytes of the whole file. */
  readonly total: number;
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
  /** As `delete`, for many. Returns why some could not be deleted; the others are. */
  deleteMany(names: readonly string[]): Promise<DeleteFailures>;
  /**
   * Every published file of a folder (`recordings`), in no particular order. Files and folders of other programs are left out. Calls
   * `onUnreadable` for each part that cannot be read, and goes on; rejects without it, and where the whole folder cannot be read.
   */
  list(folder: string, onUnreadable?: (error: UnreadableError) => void): AsyncIterable<StoredFile>;
  /** Writes and removes a probe file; never rejects. */
  check(): Promise<StorageHealth>;
  /** Removes drafts that were not touched for `olderThanMs`. Returns how many were removed. */
  sweep(olderThanMs: number): Promise<number>;
  /** Ends idle connections. */
  close(): void;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const FOLDER = '[a-z][a-z0-9-]{0,31}';
const FOLDER_NAME = new RegExp(`^${FOLDER}$`);
const NAME = new RegExp(`^${FOLDER}/[0-9a-f]{2}/${UUID}\\.mp4$`);

/** `recordings/ab/<uuid>.mp4`: files are spread by the last two digits of the id, because a UUIDv7 begins with its time. */
export const storageName = (folder: string, id: string): string =>
  safeName(`${folder}/${`${id.slice(-2)}/${id}.mp4`.toLowerCase()}`);

export const isStorageName = (name: string): boolean => NAME.test(name);

/** A folder of files, within that of a table. */
export const isSpreadFolder = (name: string): boolean => /^[0-9a-f]{2}$/.test(name);

/** Returns the name; throws unless it has the form of `storageName`, so that no path leaves the storage's root. */
export function safeName(name: string): string {
  if (!isStorageName(name)) throw new TypeError('not a storage name');
  return name;
}

export const isStorageFolder = (folder: string): boolean => FOLDER_NAME.test(folder);

export function safeFolder(folder: string): string {
  if (!isStorageFolder(folder)) throw new TypeError('not a storage folder');
  return folder;
}
