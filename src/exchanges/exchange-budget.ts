import type { Standing } from './exchange-record.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Lines of callers without a key in a minute: of one address, and of all together on this instance. */
const MAX_LINES_OF_ADDRESS = 60;
const MAX_LINES = 1_200;

/** What calls without a valid key may use of a day on one instance, whatever else is stored. */
const KEYLESS_PART = 0.1;
/** From this used on bodies are not stored, so that the rest is left for the lines of calls with a key. */
const BODIES_PART = 0.8;

/** How much of an exchange is stored: all of it, all but its bodies, or nothing. */
export type Admission = 'whole' | 'line' | 'dropped';

/**
 * Decides what is stored (decision 58). As the day's limit comes near, calls without a key are dropped first, then the bodies, and the
 * lines of calls with a key last. What other instances stored may be half a second old.
 */
export class ExchangeBudget {
  /** Of all instances. */
  private total = 0;
  /** Of calls without a valid key, on this instance. */
  private keyless = 0;
  private dayEnds = 0;
  private minute = 0;
  private lines = 0;
  private readonly linesByAddress = new Map<string, number>();

  constructor(private readonly maxBytesPerDay: number) {}

  get storedToday(): number {
    this.beginDay();
    return this.total;
  }

  /** The size of the exchanges of the day (UTC) of a time, in milliseconds since the epoch. */
  stored(time: number, bytes: number): void {
    this.beginDay();
    if (time >= this.dayEnds - DAY_MS) this.total = bytes;
  }

  /** An exchange of a call without a valid key was admitted. */
  addKeyless(bytes: number): void {
    this.keyless += bytes;
  }

  admit(standing: Standing, address: string): Admission {
    this.beginDay();
    const used = this.total / this.maxBytesPerDay;
    if (standing === 'known') return used < BODIES_PART ? 'whole' : used < 1 ? 'line' : 'dropped';
    if (used >= BODIES_PART || this.keyless >= KEYLESS_PART * this.maxBytesPerDay) return 'dropped';
    return standing === 'unverified' || this.takeLine(address) ? 'line' : 'dropped';
  }

  private beginDay(): void {
    const now = Date.now();
    if (now < this.dayEnds) return;
    this.dayEnds = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
    this.total = 0;
    this.keyless = 0;
  }

  private takeLine(address: string): boolean {
    const minute = Math.floor(Date.now() / MINUTE_MS);
    if (minute !== this.minute) {
      this.minute = minute;
      this.lines = 0;
      this.linesByAddress.clear();
    }
    const used = this.linesByAddress.get(address) ?? 0;
    if (this.lines >= MAX_LINES || used >= MAX_LINES_OF_ADDRESS) return false;
    this.lines++;
    this.linesByAddress.set(address, used + 1);
    return true;
  }
}
