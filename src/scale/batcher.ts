import { unavailable } from '../errors/app-error.js';
import { BatchPace } from './batch-pace.js';

/** One value of a batch; whoever runs the batch settles each of them, once. */
export interface Entry<Value, Result> {
  readonly value: Value;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export interface BatchLimits {
  /** Batches that run at the same time: the next is being decided while the one before is committed. */
  readonly inFlight: number;
  /** Entries of one batch. */
  readonly batch: number;
  /** Bytes of one batch; one that is larger alone is a batch of its own. */
  readonly batchBytes: number;
  /** Entries and bytes that may wait; beyond that the caller is refused at once. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** How long a caller waits for its result, in milliseconds. */
  readonly patience: number;
}

interface Waiting<Value, Result> extends Entry<Value, Result> {
  readonly bytes: number;
  /** When it was submitted, by `performance.now()`. */
  readonly since: number;
  settled: boolean;
}

/**
 * Natural batching: what arrives while a batch runs is gathered, and is the next batch. No timer delays anyone: a value
 * that comes alone runs at the end of this turn of the event loop.
 */
export class Batcher<Value, Result> {
  private queue: Waiting<Value, Result>[] = [];
  private queuedBytes = 0;
  private running = 0;
  private runningEntries = 0;
  private scheduled = false;
  private readonly pace: BatchPace;

  constructor(
    private readonly limits: BatchLimits,
    private readonly run: (entries: readonly Entry<Value, Result>[]) => Promise<void>,
  ) {
    this.pace = new BatchPace(limits.patience);
  }

  /** `unavailable` where too much waits already, or where there is no result within the patience. */
  submit(value: Value, bytes: number): Promise<Result> {
    const { waiting, waitingBytes } = this.limits;
    if (this.queue.length >= waiting || this.queuedBytes + bytes > waitingBytes) {
      return Promise.reject(overloaded());
    }
    const answer = new Promise<Result>((resolve, reject) => {
      this.queue.push(this.entry(value, bytes, resolve, reject));
      this.queuedBytes += bytes;
      this.schedule();
    });
    // A caller that no longer waits must not bring the process down with a rejection that nobody handles.
    answer.catch(() => undefined);
    return answer;
  }

  private entry(
    value: Value,
    bytes: number,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ): Waiting<Value, Result> {
    const settle =
      <T>(how: (outcome: T) => void) =>
      (outcome: T) => {
        clearTimeout(timer);
        entry.settled = true;
        how(outcome);
      };
    const since = performance.now();
    const entry = { value, bytes, since, settled: false, resolve: settle(resolve), reject: settle(reject) };
    const timer = setTimeout(
      () => entry.reject(unavailable('the service could not answer in time; try again shortly')),
      this.limits.patience,
    ).unref();
    return entry;
  }

  /** The other requests of this turn of the event loop are let in first. */
  private schedule(): void {
    if (this.scheduled || !this.mayStart()) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.runNext();
    });
  }

  /** Beside a running batch only one that is as large: a small one costs nearly as much, and grows if it waits. */
  private mayStart(): boolean {
    const { inFlight, batch } = this.limits;
    const enough = Math.min(Math.max(this.runningEntries, 1), batch);
    return this.running < inFlight && this.queue.length >= enough;
  }

  private async runNext(): Promise<void> {
    const entries = this.take();
    if (entries.length === 0) return this.schedule();
    this.running++;
    this.runningEntries += entries.length;
    const { share } = this.pace;
    this.schedule();
    const started = performance.now();
    let failure: unknown = new Error('an entry was left without a result');
    try {
      await this.run(entries);
    } catch (error) {
      failure = error;
    }
    for (const entry of entries) if (!entry.settled) entry.reject(failure);
    this.pace.learn(performance.now() - started, share);
    this.running--;
    this.runningEntries -= entries.length;
    this.schedule();
  }

  /**
   * From the front. Who has run out of patience was told so; who would before the batch is done is told now. Running
   * those first would make everyone behind them late as well: under overload next to nothing would be answered in time.
   */
  private take(): Waiting<Value, Result>[] {
    const { share, expected } = this.pace;
    const [batch, batchBytes] = [Math.ceil(this.limits.batch * share), this.limits.batchBytes * share];
    const tooLate = performance.now() - (this.limits.patience - expected);
    const entries: Waiting<Value, Result>[] = [];
    let bytes = 0;
    let taken = 0;
    for (const entry of this.queue) {
      if (!entry.settled && entry.since < tooLate) entry.reject(overloaded());
      if (!entry.settled) {
        if (entries.length === batch || (entries.length > 0 && bytes + entry.bytes > batchBytes)) break;
        entries.push(entry);
        bytes += entry.bytes;
      }
      taken++;
      this.queuedBytes -= entry.bytes;
    }
    this.queue = this.queue.slice(taken);
    return entries;
  }
}

const overloaded = () => unavailable('the service is overloaded; try again shortly');
