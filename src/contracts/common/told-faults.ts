import type { JsonFault } from './json-fault.js';

/** The most that are told at once: an answer must not be many times what was sent. */
export const MAX_FAULTS = 100;

/** What is told ends where it comes to so much, in bytes of JSON: a hundred long paths would be megabytes. */
export const MAX_TOLD_BYTES = 65_536;

/** Faults of a JSON text as an answer tells them: each path once, the first that there is room for. */
export class ToldFaults {
  private readonly faults = new Map<string, JsonFault>();
  private told = 0;
  private bytes = 0;

  /** A path that was told already counts too: to find it out again costs as much. */
  tell(fault: JsonFault): void {
    this.told++;
    if (this.faults.has(fault.path)) return;
    this.faults.set(fault.path, fault);
    this.bytes += Buffer.byteLength(JSON.stringify(fault.violation));
  }

  get isFull(): boolean {
    return this.told >= MAX_FAULTS || this.bytes >= MAX_TOLD_BYTES;
  }

  all(): JsonFault[] {
    return [...this.faults.values()];
  }
}
