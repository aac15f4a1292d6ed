import type { DraftPoint, Published } from '../../storage/storage.js';
import type { FileIdentity } from '../../media/file-headers.js';
import type { DownloadLimits } from './link-request.js';

/** Where an interrupted download resumes. */
export type ResumePoint = DraftPoint & FileIdentity;

export interface DownloadOrder {
  /** A secret, because it may be signed. No error contains it. Not needed to publish a file that was received earlier. */
  readonly url: string | undefined;
  /** The name in the storage, from `storageName`. */
  readonly name: string;
  /** From an earlier attempt. The download starts from zero without it, or if the host has another file by now. */
  readonly resume?: ResumePoint | undefined;
  /** Called with the point at which a later attempt can resume, or undefined if none can. */
  readonly onCheckpoint?: (point: ResumePoint | undefined) => Promise<void>;
  /** Called with the number of bytes so far, including earlier attempts. */
  readonly onReceived?: (bytes: number) => void;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<DownloadLimits>;
}

export interface Downloaded extends Published {
  /** Bytes of earlier attempts. */
  readonly resumedFrom: number;
  /** Bytes after the last box of the MP4. */
  readonly trailingBytes: number;
}
