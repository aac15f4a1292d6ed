import type { JsonFault } from './json-fault.js';
import { FURTHER_FAULTS, type Violation } from './violation.js';

/** The most that are told at once: an answer must not be many times what was sent. */
export const MAX_FAULTS = 100;

/** What is told ends where it comes to so much, in bytes of JSON: a hundred long paths would be megabytes. */
export const MAX_TOLD_BYTES = 65_536;

/** Faults of a JSON text, each path once, and whether there are more than are told. */
export interface TextFaults {
  readonly faults: readonly JsonFault[];
  readonly areMore: boolean;
}

/** Gathers the first faults that there is room for. */
export class ToldFaults implements TextFaults {
  areMore = false;
  private readonly byPath = new Map<string, JsonFault>();
  private told = 0;
  private bytes = 0;

  get faults(): readonly JsonFault[] {
    return [...this.byPath.values()];
  }

  /** A path that was told already counts too: to find it out again costs as much. */
  tell(fault: JsonFault): void {
    if (this.isFull) {
      this.areMore = true;
      return;
    }
    this.told++;
    if (this.byPath.has(fault.path)) return;
    this.byPath.set(fault.path, fault);
    this.bytes += Buffer.byteLength(JSON.stringify(fault.violation));
  }

  private get isFull(): boolean {
    return this.told >= MAX_FAULTS || this.bytes >= MAX_TOLD_BYTES;
  }
}

/** What is wrong with a text, and what else is wrong with its fields; each path once. */
export function allViolations({ faults, areMore }: TextFaults, ofFields: readonly Violation[]): Violation[] {
  const told = new Set(faults.map(({ path }) => path));
  const others = ofFields.filter(({ path }) => !told.has(path));
  return [...faults.map(({ violation }) => violation), ...others, ...(areMore ? [FURTHER_FAULTS] : [])];
}
