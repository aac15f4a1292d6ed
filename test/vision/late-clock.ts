/** Runs `work` while the clock of this process is behind by so many milliseconds; the database's is not. */
export async function withLateClock<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  const RealDate = Date;
  class LateDate extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      super(given.length === 0 ? RealDate.now() - byMs : given[0]);
    }

    static override now(): number {
      return RealDate.now() - byMs;
    }

    /** Those that were made before are dates as well. */
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof RealDate;
    }
  }
  globalThis.Date = LateDate as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}
