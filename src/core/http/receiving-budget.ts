import { unavailable } from '../errors/app-error.js';

/** Bytes of all bodies whose requests have no answer yet, and of those of one hauler. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_BYTES_PER_CALLER = MAX_BYTES / 4;

export type Release = () => void;

/**
 * Bounds the memory of large bodies, so that one caller with many or slow ones does not stop the others. A caller may
 * have at most as much as is free: so several loud callers leave a share to the next one.
 */
export class ReceivingBudget {
  private readonly bytesByCaller = new Map<string, number>();
  /** Of all callers. */
  total = 0;

  /** Returns the function that releases the bytes. Throws `unavailable` if there is no room. */
  acquire(caller: string, size: number): Release {
    // A larger body is possible on admin routes only: one at a time.
    const bytes = Math.min(size, MAX_BYTES_PER_CALLER);
    const ofCaller = (this.bytesByCaller.get(caller) ?? 0) + bytes;
    if (ofCaller > Math.min(MAX_BYTES_PER_CALLER, MAX_BYTES - this.total)) {
      throw unavailable('too many unfinished requests with large bodies; try again shortly', { overload: 'bodies' });
    }
    this.add(caller, bytes);
    return () => this.add(caller, -bytes);
  }

  private add(caller: string, bytes: number): void {
    this.total += bytes;
    const ofCaller = (this.bytesByCaller.get(caller) ?? 0) + bytes;
    if (ofCaller === 0) this.bytesByCaller.delete(caller);
    else this.bytesByCaller.set(caller, ofCaller);
  }
}
