import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { STORAGE, type Storage } from './storage.js';

const EVERY_MS = 3_600_000;
/** What nobody has touched for so long belongs to nobody: downloads, uploads and clips that a kill has left half written. */
const LEFTOVER_MS = 2 * 86_400_000;

/** Removes temporaries of whichever side uses the storage. */
@Injectable()
export class Leftovers {
  constructor(@Inject(STORAGE) private readonly storage: Storage) {}

  /** How many were removed. */
  @Interval('storage leftovers', EVERY_MS)
  sweep(): Promise<number> {
    return this.storage.sweep(LEFTOVER_MS);
  }
}
