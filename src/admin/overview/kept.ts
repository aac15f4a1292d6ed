/** Reading takes at most this part of the time of one connection. */
const MIN_TIMES = 20;
const MAX_VALUES = 5_000;

/** Keeps what was read for some time: at least twenty times as long as it took to read. Callers at the same time share one reading. */
export class Kept {
  private readonly values = new Map<string, { until: number; readonly value: Promise<unknown> }>();

  has(key: string): boolean {
    return (this.values.get(key)?.until ?? 0) > Date.now();
  }

  get<T>(key: string, keepMs: number, read: () => Promise<T>): Promise<T> {
    if (this.has(key)) return this.values.get(key)?.value as Promise<T>;
    const begin = Date.now();
    const value = read();
    const kept = { until: Number.POSITIVE_INFINITY, value };
    this.values.delete(key);
    this.values.set(key, kept);
    const [oldest] = this.values.keys();
    if (this.values.size > MAX_VALUES && oldest !== undefined) this.values.delete(oldest);
    value.then(
      () => (kept.until = Date.now() + Math.max(keepMs, MIN_TIMES * (Date.now() - begin))),
      () => this.values.delete(key),
    );
    return value;
  }
}
