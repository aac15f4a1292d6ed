import { Injectable } from '@nestjs/common';
import type { StorageUnavailable } from '../../storage/storage-errors.js';

const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

/** A download that waits: the storage can take nothing just now, or the host has to be asked again later. */
export class Later extends Error {
  readonly expected = true;
  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
    this.name = 'Later';
  }
}

/** While the storage is full or away no download of this instance begins; then one after the other tries it out. */
@Injectable()
export class StoragePause {
  private until = 0;
  private lengthMs = FIRST_MS;
  private reason = '';

  /** What every download ends with during the pause. */
  current(now = Date.now()): Later | undefined {
    return now < this.until ? new Later(this.reason, this.until - now + Math.random() * 1_000) : undefined;
  }

  /** Begins or prolongs the pause; returns what the download that met it ends with. */
  begin(failure: StorageUnavailable, now = Date.now()): Later {
    // Those that were under way when it began say nothing new.
    if (now >= this.until) {
      this.until = now + this.lengthMs;
      this.lengthMs = Math.min(this.lengthMs * 2, LONGEST_MS);
    }
    this.reason = failure.message;
    return new Later(failure.message, this.until - now + Math.random() * 1_000);
  }

  end(): void {
    this.lengthMs = FIRST_MS;
  }
}
