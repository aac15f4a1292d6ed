import { type AppError, type Overload, unavailable } from '../errors/app-error.js';
import { inBackground } from '../errors/background.js';

/** One value of a batch. The batch must resolve or reject it once. */
export interface Entry<Value, Result> {
  readonly value: Value;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export interface BatchLimits {
  /** Batches that run at the same time. */
  readonly maxRunning: number;
  /** Entries and bytes of one batch. A larger entry is a batch of its own. */
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Entries and bytes that wait for a batch. Further ones are refused at once. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
  /** How long an entry may wait for a batch. After that its batch would hardly be done before the timeout. */
  readonly maxQueueMs: number;
  /** How long a caller waits for its result. */
  readonly timeoutMs: number;
  /** The metric counts refusals under this name. */
  readonly overload: Overload;
}

const MIB = 1024 * 1024;

/** For batches that take one or two statements. */
export const BATCH_LIMITS = {
  maxRunning: 2,
  maxEntries: 128,
  maxBytes: 4 * MIB,
  maxWaiting: 4000,
  maxWaitingBytes: 24 * MIB,
  maxQueueMs: 3000,
  timeoutMs: 4200,
} as const satisfies Partial<BatchLimits>;

interface QueuedEntry<Value, Result> extends Entry<Value, Result> {
  readonly bytes: number;
  /** When it was submitted, by `performance.now()`. */
  readonly since: number;
  isSettled: boolean;
}

/**
 * Gathers values while a batch runs and makes them the next batch. It never waits for more: a single value runs at the
 * end of this turn of the event loop.
 */
export class Batcher<Value, Result> {
  private queue: QueuedEntry<Value, Result>[] = [];
  private queuedBytes = 0;
  private running = 0;
  private runningEntries = 0;
  private isScheduled = false;

  constructor(
    private readonly limits: BatchLimits,
    private readonly run: (entries: readonly Entry<Value, Result>[]) => Promise<void>,
  ) {}

  /** Whether an entry of this size may wait. */
  hasRoom(bytes: number): boolean {
    const { maxWaiting, maxWaitingBytes } = this.limits;
    return this.queue.length < maxWaiting && this.queuedBytes + bytes <= maxWaitingBytes;
  }

  /** Throws `unavailable` if an entry of this size may not wait. */
  expectRoom(bytes: number): void {
    if (!this.hasRoom(bytes)) throw this.overloaded();
  }

  /** Rejects with `unavailable` if too much is waiting already, or if there is no result within the timeout. */
  submit(value: Value, bytes: number): Promise<Result> {
    if (!this.hasRoom(bytes)) return Promise.reject(this.overloaded());
    const result = new Promise<Result>((resolve, reject) => {
      this.queue.push(this.entry(value, bytes, resolve, reject));
      this.queuedBytes += bytes;
      this.schedule();
    });
    // A caller that no longer awaits it must not cause an unhandled rejection.
    result.catch(() => undefined);
    return result;
  }

  /** The entries and bytes that wait for a batch. */
  get waiting(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.queue.length, bytes: this.queuedBytes };
  }

  private entry(
    value: Value,
    bytes: number,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ): QueuedEntry<Value, Result> {
    const settle =
      <T>(how: (outcome: T) => void) =>
      (outcome: T) => {
        clearTimeout(timer);
        entry.isSettled = true;
        how(outcome);
      };
    const since = performance.now();
    const { overload, timeoutMs } = this.limits;
    const entry = { value, bytes, since, isSettled: false, resolve: settle(resolve), reject: settle(reject) };
    const timer = setTimeout(
      () => entry.reject(unavailable('the service could not answer in time; try again shortly', { overload })),
      timeoutMs,
    ).unref();
    return entry;
  }

  /** Starts the next batch after the other requests of this turn of the event loop were submitted. */
  private schedule(): void {
    if (this.isScheduled || !this.canStart()) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      inBackground(this.runNext());
    });
  }

  /** A second batch starts only if it is as large as the running one: a small batch costs nearly as much as a large one. */
  private canStart(): boolean {
    const { maxRunning, maxEntries } = this.limits;
    const minEntries = Math.min(Math.max(this.runningEntries, 1), maxEntries);
    return this.running < maxRunning && this.queue.length >= minEntries;
  }

  private async runNext(): Promise<void> {
    const entries = this.take();
    if (entries.length === 0) return this.schedule();
    this.running++;
    this.runningEntries += entries.length;
    this.schedule();
    try {
      await this.run(entries);
    } catch (error) {
      for (const entry of entries) if (!entry.isSettled) entry.reject(error);
    }
    this.running--;
    this.runningEntries -= entries.length;
    this.schedule();
  }

  /** Takes the next batch from the front of the queue, and rejects the entries that have waited too long. */
  private take(): QueuedEntry<Value, Result>[] {
    const { maxEntries, maxBytes, maxQueueMs } = this.limits;
    const oldest = performance.now() - maxQueueMs;
    const entries: QueuedEntry<Value, Result>[] = [];
    let bytes = 0;
    let taken = 0;
    for (const entry of this.queue) {
      if (!entry.isSettled && entry.since < oldest) entry.reject(this.overloaded());
      if (!entry.isSettled) {
        if (entries.length === maxEntries || (entries.length > 0 && bytes + entry.bytes > maxBytes)) break;
        entries.push(entry);
        bytes += entry.bytes;
      }
      taken++;
      this.queuedBytes -= entry.bytes;
    }
    this.queue = this.queue.slice(taken);
    return entries;
  }

  private overloaded(): AppError {
    return unavailable('the service is overloaded; try again shortly', { overload: this.limits.overload });
  }
}
