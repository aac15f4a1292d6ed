import { Injectable } from '@nestjs/common';
import type { StorageUnavailableError } from '../../storage/storage-errors.js';
import { RetryLaterError } from './download-error.js';

/** Of the pauses while the storage is unavailable. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** While the storage is unavailable, this instance starts no downloads. After the pause they start again. */
@Injectable()
export class StoragePause {
  private until = 0;
  private lengthMs = FIRST_PAUSE_MS;
  private reason = '';

  /** The error that ends every download during the pause; undefined if there is no pause. */
  current(): RetryLaterError | undefined {
    const now = Date.now();
    return now < this.until ? this.retryLater(now) : undefined;
  }

  /** Begins the pause, unless one is running; returns the error that ends the download. */
  begin(failure: StorageUnavailableError): RetryLaterError {
    const now = Date.now();
    // Downloads that were running when the pause began fail as well, and do not extend it.
    if (now >= this.until) {
      this.until = now + this.lengthMs;
      this.lengthMs = Math.min(this.lengthMs * 2, MAX_PAUSE_MS);
    }
    this.reason = failure.message;
    return this.retryLater(now);
  }

  end(): void {
    this.lengthMs = FIRST_PAUSE_MS;
  }

  /** With jitter, so that the rows are not due at the same moment. */
  private retryLater(now: number): RetryLaterError {
    return new RetryLaterError(this.reason, this.until - now + Math.random() * 1_000, false);
  }
}
