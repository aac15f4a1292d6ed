import type { Published } from '../storage.js';
import type { DownloadLimits } from './limits.js';

/** Injection token of the `Downloader`. */
export const DOWNLOADER = Symbol('DOWNLOADER');

export interface DownloadOrder {
  /** A secret, as it may be signed; it appears in no error. */
  readonly url: string;
  /** Of `storageName`. */
  readonly name: string;
  /** Default true: goes on where an earlier attempt at this name ended, if the host still has the same file. */
  readonly resume?: boolean;
  /** Refuses what is no MP4 film, whole in its boxes. */
  readonly film?: boolean;
  /** Told of every chunk, and when the file is published: its bytes so far, those of earlier attempts included. */
  readonly onReceived?: (bytes: number) => void;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<DownloadLimits>;
}

export interface Downloaded extends Published {
  /** Bytes that came from earlier attempts. */
  readonly resumedFrom: number;
}

/** Decision 47. Rejects with `DownloadFailed` or `StorageUnavailable`; what is half fetched is then kept if it can be. */
export interface Downloader {
  download(order: DownloadOrder): Promise<Downloaded>;
}
