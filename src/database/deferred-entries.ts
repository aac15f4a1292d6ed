import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../errors/app-error.js';
import { inBackground } from '../errors/background.js';

/** How long a group waits after its rows were still locked. */
const RETRY_MS = 100;

/** An entry is refused this long before its timeout: a try that is still running then could write it after the refusal. */
const LAST_TRY_MS = 500;

interface Deferrable {
  /** What the entry writes: entries with a common key wait for the same lock. */
  readonly keys: readonly string[];
  readonly isSettled: boolean;
  /** Its timeout, by `performance.now()`. */
  readonly endsAt: number;
  reject(error: unknown): void;
}

/**
 * Entries whose rows another transaction has locked. Each group with the same first key is tried again, one after the other,
 * until the timeout of its entries: apart from the other entries, so that nobody else waits for the lock.
 */
export class DeferredEntries<E extends Deferrable> {
  private readonly groups = new Map<string, E[]>();
  private readonly entriesOf = new Map<string, number>();
  private isRunning = false;

  constructor(private readonly run: (entries: readonly E[]) => Promise<void>) {}

  /** Whether an entry with one of these keys is deferred. */
  includes(keys: readonly string[]): boolean {
    return this.entriesOf.size > 0 && keys.some((key) => this.entriesOf.has(key));
  }

  get size(): number {
    return [...this.groups.values()].reduce((sum, { length }) => sum + length, 0);
  }

  add(entry: E): void {
    const [name = ''] = entry.keys;
    const group = this.groups.get(name);
    if (group === undefined) this.groups.set(name, [entry]);
    else group.push(entry);
    this.count(entry, 1);
    if (this.isRunning) return;
    this.isRunning = true;
    inBackground(this.retry());
  }

  private async retry(): Promise<void> {
    try {
      await delay(RETRY_MS, undefined, { ref: false });
      for (let next = this.take(); next !== undefined; next = this.take()) {
        const [name, group] = next;
        await this.run(group);
        if (this.groups.has(name)) await delay(RETRY_MS, undefined, { ref: false });
      }
    } finally {
      this.isRunning = false;
    }
  }

  private take(): readonly [string, E[]] | undefined {
    for (const [name, group] of this.groups) {
      this.groups.delete(name);
      for (const entry of group) this.count(entry, -1);
      const waiting = group.filter((entry) => !entry.isSettled && performance.now() < entry.endsAt - LAST_TRY_MS);
      // Nothing was written. The exchange log learns it also of an entry whose caller has its answer.
      for (const entry of group) if (!waiting.includes(entry)) entry.reject(locked());
      if (waiting.length > 0) return [name, waiting];
    }
    return undefined;
  }

  private count({ keys }: E, change: 1 | -1): void {
    for (const key of keys) {
      const count = (this.entriesOf.get(key) ?? 0) + change;
      if (count === 0) this.entriesOf.delete(key);
      else this.entriesOf.set(key, count);
    }
  }
}

const locked = () => unavailable('another transaction holds the record; try again shortly');
