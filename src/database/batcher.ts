import { type AppError, type Overload, unavailable } from '../errors/app-error.js';
import { inBackground } from '../errors/background.js';
import { DeferredEntries } from './deferred-entries.js';
import { FairQueue, type Lane } from './fair-queue.js';

/** One value of a batch. The batch must resolve or reject it once. */
export interface Entry<Value, Result> {
  readonly value: Value;
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** A row that it needs is locked elsewhere: it is tried again, apart from others, until its timeout. */
  defer(): void;
  readonly wasDeferred: boolean;
}

export interface BatchLimits {
  /** Batches that run at the same time. */
  readonly maxRunning: number;
  /** Entries and bytes of one batch. A larger entry is a batch of its own. */
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Entries and bytes that wait for a batch. Beyond them the newest entries of the lane with the most are refused. */
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

/** For entries of a caller that nobody else shares the queue with. */
const ONLY_LANE: Lane = ['', ''];

/**
 * For batches that take one or two statements. A small entry waits for the running batches, which is why they have few
 * bytes: PostgreSQL stores 1 MiB in about 30 ms.
 */
export const BATCH_LIMITS = {
  maxRunning: 2,
  maxEntries: 128,
  maxBytes: MIB / 4,
  maxWaiting: 4000,
  maxWaitingBytes: 24 * MIB,
  maxQueueMs: 3000,
  timeoutMs: 4200,
} as const satisfies Partial<BatchLimits>;

interface QueuedEntry<Value, Result> extends Entry<Value, Result> {
  readonly bytes: number;
  readonly keys: readonly string[];
  /** When it was submitted, and when its timeout ends, by `performance.now()`. */
  readonly since: number;
  readonly endsAt: number;
  isSettled: boolean;
  wasDeferred: boolean;
}

/**
 * Gathers values while a batch runs and makes them the next batch, in which all lanes have the same share. It never waits
 * for more: a single value runs at the end of this turn of the event loop.
 */
export class Batcher<Value, Result> {
  private readonly queue: FairQueue<QueuedEntry<Value, Result>>;
  private readonly deferred: DeferredEntries<QueuedEntry<Value, Result>>;
  private running = 0;
  private runningEntries = 0;
  private isScheduled = false;

  constructor(
    private readonly limits: BatchLimits,
    private readonly run: (entries: readonly Entry<Value, Result>[]) => Promise<void>,
    /** The rows that a value writes; values with a common one wait for the same lock. */
    private readonly keysOf: (value: Value) => readonly string[] = () => [],
  ) {
    this.queue = new FairQueue(limits.maxWaiting, limits.maxWaitingBytes);
    this.deferred = new DeferredEntries((entries) => this.runAll(entries));
  }

  /** Whether an entry of this size may wait. */
  hasRoom(bytes: number, lane = ONLY_LANE): boolean {
    return this.queue.hasRoom(bytes, lane);
  }

  /** Throws `unavailable` if an entry of this size may not wait. */
  expectRoom(bytes: number, lane = ONLY_LANE): void {
    if (!this.hasRoom(bytes, lane)) throw this.overloaded();
  }

  /** Rejects with `unavailable` if too much of this lane is waiting, or if there is no result within the timeout. */
  submit(value: Value, bytes: number, lane = ONLY_LANE): Promise<Result> {
    const result = new Promise<Result>((resolve, reject) => {
      const entry = this.entry(value, bytes, resolve, reject);
      if (this.deferred.includes(entry.keys) && this.deferred.size < this.limits.maxEntries) entry.defer();
      else for (const evicted of this.queue.push(entry, lane)) evicted.reject(this.overloaded());
      this.schedule();
    });
    // A caller that no longer awaits it must not cause an unhandled rejection.
    result.catch(() => undefined);
    return result;
  }

  /** The entries and bytes that wait for a batch. */
  get waiting(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.queue.size, bytes: this.queue.bytes };
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
    const entry: QueuedEntry<Value, Result> = {
      value,
      bytes,
      since,
      endsAt: since + timeoutMs,
      keys: this.keysOf(value),
      isSettled: false,
      wasDeferred: false,
      defer: () => {
        entry.wasDeferred = true;
        this.deferred.add(entry);
      },
      resolve: settle(resolve),
      reject: settle(reject),
    };
    const timer = setTimeout(() => {
      entry.isSettled = true;
      reject(unavailable('the service could not answer in time; try again shortly', { overload }));
    }, timeoutMs).unref();
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
    return this.running < maxRunning && this.queue.size >= minEntries;
  }

  private async runNext(): Promise<void> {
    const entries = this.take();
    if (entries.length === 0) return this.schedule();
    this.running++;
    this.runningEntries += entries.length;
    this.schedule();
    await this.runAll(entries);
    this.running--;
    this.runningEntries -= entries.length;
    this.schedule();
  }

  private async runAll(entries: readonly QueuedEntry<Value, Result>[]): Promise<void> {
    try {
      await this.run(entries);
    } catch (error) {
      // Without effect on those that have their result.
      for (const entry of entries) entry.reject(error);
    }
  }

  /** Takes the next batch from the queue, and rejects the entries that have waited too long. */
  private take(): QueuedEntry<Value, Result>[] {
    const { maxEntries, maxBytes, maxQueueMs } = this.limits;
    const oldest = performance.now() - maxQueueMs;
    const entries: QueuedEntry<Value, Result>[] = [];
    let bytes = 0;
    for (let entry = this.queue.first(); entry !== undefined; entry = this.queue.first()) {
      if (entry.isSettled || entry.since < oldest) entry.reject(this.overloaded());
      if (!entry.isSettled) {
        if (entries.length === maxEntries || (entries.length > 0 && bytes + entry.bytes > maxBytes)) break;
        entries.push(entry);
        bytes += entry.bytes;
      }
      this.queue.shift();
    }
    return entries;
  }

  private overloaded(): AppError {
    return unavailable('the service is overloaded; try again shortly', { overload: this.limits.overload });
  }
}
