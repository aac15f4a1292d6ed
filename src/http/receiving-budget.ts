import { FairQueue, type Lane } from '../database/fair-queue.js';
import { type AppError, unavailable } from '../errors/app-error.js';

/** Bytes of all bodies that are being received or wait for their turn, and of those of one hauler. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_BYTES_PER_CALLER = MAX_BYTES / 4;

/** How long a body waits, unread, until it may be received. After that it could hardly be answered within 5 s. */
const MAX_WAIT_MS = 2_000;
const MAX_WAITING = 2_000;

export type Release = () => void;

interface Waiting {
  readonly bytes: number;
  isSettled: boolean;
  /** False if there is still no room. */
  tryGrant(): boolean;
  refuse(): void;
}

/**
 * Bounds the memory of unfinished bodies, so that one caller with many slow bodies does not stop the others. A caller may
 * have at most as much as is free: so several loud callers leave a share to the next one.
 */
export class ReceivingBudget {
  private bytes = 0;
  private readonly bytesByCaller = new Map<string, number>();
  private readonly waiting = new FairQueue<Waiting>(MAX_WAITING, Infinity);

  /** Returns the function that releases the bytes. Waits for a while until there is room; throws `unavailable` if there is none. */
  acquire(lane: Lane, size: number): Release | Promise<Release> {
    const [caller] = lane;
    return this.tryReserve(caller, size) ?? this.wait(lane, size);
  }

  /** Reserved for all bodies that are being received. */
  get total(): number {
    return this.bytes;
  }

  private tryReserve(caller: string, size: number): Release | undefined {
    // A larger body is possible on admin routes only: one at a time.
    const bytes = Math.min(size, MAX_BYTES_PER_CALLER);
    const ofCaller = (this.bytesByCaller.get(caller) ?? 0) + bytes;
    if (ofCaller > Math.min(MAX_BYTES_PER_CALLER, MAX_BYTES - this.bytes)) return undefined;
    this.add(caller, bytes);
    return () => {
      this.add(caller, -bytes);
      this.admit();
    };
  }

  private add(caller: string, bytes: number): void {
    this.bytes += bytes;
    const ofCaller = (this.bytesByCaller.get(caller) ?? 0) + bytes;
    if (ofCaller === 0) this.bytesByCaller.delete(caller);
    else this.bytesByCaller.set(caller, ofCaller);
  }

  private wait(lane: Lane, size: number): Promise<Release> {
    return new Promise((resolve, reject) => {
      const refuse = () => {
        entry.isSettled = true;
        reject(exhausted());
      };
      const timer = setTimeout(refuse, MAX_WAIT_MS).unref();
      const tryGrant = () => {
        const release = this.tryReserve(lane[0], size);
        if (release === undefined) return false;
        clearTimeout(timer);
        resolve(release);
        return true;
      };
      const entry: Waiting = { bytes: size, isSettled: false, tryGrant, refuse };
      for (const evicted of this.waiting.push(entry, lane)) evicted.refuse();
    });
  }

  /** Grants what waits, in the fair order, as long as it fits. */
  private admit(): void {
    for (let entry = this.waiting.first(); entry !== undefined; entry = this.waiting.first()) {
      if (!entry.isSettled && !entry.tryGrant()) return;
      this.waiting.shift();
    }
  }
}

function exhausted(): AppError {
  return unavailable('too many unfinished request bodies; try again shortly', { overload: 'bodies' });
}
