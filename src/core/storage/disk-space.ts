import { statfs } from 'node:fs/promises';
import { diskReserveBytes } from '../config/disk-reserve.js';
import { fullDisk } from './storage-errors.js';

/** A file of unknown size reserves this much at a time. */
const STEP_BYTES = 1024 * 1024;

/** Space that one file will still need. */
export interface Reservation {
  /** Call it before each write. Rejects with trouble `full`. */
  use(bytes: number): Promise<void>;
  release(): void;
}

/**
 * Reserves the space of files before their bytes are fetched, so that those that are started together also fit together.
 * It counts the files of this process; the free space that the system reports contains what others have written.
 */
export class DiskSpace {
  #reserved = 0;
  #queue: Promise<void> = Promise.resolve();

  /** `folder` need not exist before the first reservation. */
  constructor(private readonly folder: string) {}

  async reserve(bytes: number): Promise<Reservation> {
    let left = 0;
    const add = async (wanted: number): Promise<void> => {
      await this.#take(wanted);
      left += wanted;
    };
    if (bytes > 0) await add(bytes);
    return {
      use: async (used) => {
        if (used > left) await add(Math.max(used - left, STEP_BYTES));
        left -= used;
        this.#reserved -= used;
      },
      release: () => {
        this.#reserved -= left;
        left = 0;
      },
    };
  }

  /** Runs one after the other: concurrent files must not reserve the same space. */
  #take(bytes: number): Promise<void> {
    const taken = this.#queue.then(async () => {
      const { bavail, blocks, bsize } = await statfs(this.folder);
      const free = Math.max(0, Math.floor(bavail * bsize - diskReserveBytes(blocks * bsize) - this.#reserved));
      // Some mounted buckets and network file systems have no size.
      if (blocks > 0 && bytes > free) throw fullDisk(`${bytes} bytes are needed, ${free} are free for videos`);
      this.#reserved += bytes;
    });
    this.#queue = taken.catch(() => undefined);
    return taken;
  }
}
