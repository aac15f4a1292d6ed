import { Injectable } from '@nestjs/common';
import type { StorageUnavailable } from '../../storage/storage-errors.js';
import { Later } from './later.js';

const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

/** While the storage is full or away no download of this instance begins; then one after the other tries it out. */
@Injectable()
export class StoragePause {
  private until = 0;
  private lengthMs = FIRST_MS;
  private reason = '';

  /** What every download ends with during the pause. */
  current(): Later | undefined {
    const now = Date.now();
    return now < this.until ? this.later(now) : undefined;
  }

  /** Begins or prolongs the pause; returns what the download that met it ends with. */
  begin(failure: StorageUnavailable): Later {
    const now = Date.now();
    // Those that were under way when it began say nothing new.
    if (now >= this.until) {
      this.until = now + this.lengthMs;
      this.lengthMs = Math.min(this.lengthMs * 2, LONGEST_MS);
    }
    this.reason = failure.message;
    return this.later(now);
  }

  end(): void {
    this.lengthMs = FIRST_MS;
  }

  /** Not all of them at the same moment. */
  private later(now: number): Later {
    return new Later(this.reason, this.until - now + Math.random() * 1_000);
  }
}
