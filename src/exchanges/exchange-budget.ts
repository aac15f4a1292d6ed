import type { Standing } from './exchange-record.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Lines of callers without a key in a minute: of one address, and of all together on this instance. */
const MAX_LINES_OF_ADDRESS = 60;
const MAX_LINES = 1_200;

/** What calls without a valid key may use of a day, whatever else is stored. */
const KEYLESS_SHARE = 0.1;
/** From this share on bodies are not stored, so that the rest is left for the lines of calls with a key. */
const BODIES_SHARE = 0.8;

/** Bytes of the exchanges that all instances stored on a day (UTC). */
export interface DayBytes {
  /** As in ISO 8601. */
  readonly day: string;
  readonly total: number;
  /** Of calls without a valid key. */
  readonly keyless: number;
}

export type BatchBytes = Omit<DayBytes, 'day'>;

/** How much of an exchange is stored: all of it, all but its bodies, or nothing. */
export type Admission = 'whole' | 'line' | 'dropped';

/**
 * Decides what is stored (decision 58). As the day's limit comes near, calls without a key are dropped first, then the bodies, and the
 * lines of calls with a key last. The bytes of other instances may be half a second old.
 */
export class ExchangeBudget {
  private bytes: DayBytes = { day: '', total: 0, keyless: 0 };
  private day = '';
  private dayEnds = 0;
  private minute = 0;
  private lines = 0;
  private readonly linesByAddress = new Map<string, number>();

  constructor(private readonly maxBytesPerDay: number) {}

  get storedToday(): number {
    return this.today().total;
  }

  /** What all instances stored. */
  stored(bytes: DayBytes): void {
    this.bytes = bytes;
  }

  /** What this instance has stored since then. */
  add({ total, keyless }: BatchBytes): void {
    const today = this.today();
    this.bytes = { ...today, total: today.total + total, keyless: today.keyless + keyless };
  }

  admit(standing: Standing, address: string): Admission {
    const { total, keyless } = this.today();
    const share = total / this.maxBytesPerDay;
    if (standing === 'known') return share < BODIES_SHARE ? 'whole' : share < 1 ? 'line' : 'dropped';
    if (share >= BODIES_SHARE || keyless >= KEYLESS_SHARE * this.maxBytesPerDay) return 'dropped';
    return standing === 'unverified' || this.takeLine(address) ? 'line' : 'dropped';
  }

  private today(): DayBytes {
    const now = Date.now();
    // Asked for each exchange: a date as text takes as long as the rest of the decision.
    if (now >= this.dayEnds) {
      this.day = new Date(now).toISOString().slice(0, 10);
      this.dayEnds = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
    }
    return this.bytes.day === this.day ? this.bytes : { day: this.day, total: 0, keyless: 0 };
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
