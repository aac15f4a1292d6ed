import type { Readable } from 'node:stream';

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
}

/** A whole file, as it lies in the storage. */
export interface Published {
  /** Bytes. */
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** What a writer's owner wants to know again after an interruption, for instance the `ETag` of a half fetched file. */
export type Memo = Readonly<Record<string, string | number>>;

/**
 * The writing of one file, at a temporary place until `publish`. A killed process leaves the bytes up to its last
 * checkpoint for the next writer of the same name. After `suspend`, `discard` or `publish` the writer is spent.
 * Every method may reject with `StorageUnavailable`, or with `WriterSuperseded` where another writer of that name went
 * on and this one's bytes are gone; `append` and `publish` of a film also with `NotAFilm`.
 */
export interface StorageWriter {
  /** Bytes accepted so far, those of an earlier attempt included: the offset of the next byte. */
  readonly length: number;
  /** Of the attempt that is continued; absent when this writer starts from zero. */
  readonly memo: Memo | undefined;
  /**
   * Starts from zero: what is there is thrown away. `memo` is kept with the bytes; without one they cannot be taken up
   * again. `size`, where known, is checked against the free space.
   */
  begin(memo?: Memo, size?: number): Promise<void>;
  /**
   * Resolves when more may come, not when the bytes are durable. The chunk must not be changed before `release` is
   * called; a writer that fails may never call it.
   */
  append(chunk: Buffer, release?: () => void): Promise<void>;
  /** Lays the bytes down for a later writer; without a memo it is the same as `discard`. */
  suspend(): Promise<void>;
  discard(): Promise<void>;
  /** Makes the whole file appear under its name at once, durably; a file of that name is replaced. */
  publish(): Promise<Published>;
}

export interface WriterOptions {
  /** Default true: continues an interrupted writing of that name, if there is one with a memo. */
  readonly resume?: boolean;
  /** Publishes nothing but an MP4 film that is whole in its boxes. */
  readonly film?: boolean;
}

/** Video bytes, in files or S3; names are those of `storageName` only. Rejects with `StorageUnavailable`. */
export interface Storage {
  writer(name: string, options?: WriterOptions): Promise<StorageWriter>;
  /**
   * Undefined when there is no such file, or no such folder, which may never have been made: only `read` and `delete`
   * take a missing folder for a missing mount.
   */
  stat(name: string): Promise<StoredFile | undefined>;
  /**
   * Of a file that has to be there: rejects with `NotStored` when it is lost, and with `StorageUnavailable` where its mount
   * is missing. The reader must consume or destroy the stream.
   */
  read(name: string, range?: ByteRange): Promise<Readable>;
  /** Nothing happens when there is no such file, unless its mount is missing. */
  delete(name: string): Promise<void>;
  /** Every published file of a folder (`recordings`), in no promised order. */
  list(folder: string): AsyncIterable<StoredFile>;
  /** Writes and removes a probe; never rejects. */
  check(): Promise<StorageHealth>;
  /** Removes temporaries that nobody has touched for so many milliseconds; the number removed. */
  sweep(olderThanMs: number): Promise<number>;
  /** Ends idle connections. */
  close(): void;
}
