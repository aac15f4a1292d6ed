import { AppError, type Overload, unavailable } from '../errors/app-error.js';
import { inBackground } from '../errors/background.js';
import { type Entry, LockedEntries, NEXT_LOCK_TIMEOUT_MS, settleBatch, type Write } from './settle-batch.js';

/** Who has sent an item: a hauler, and one of its keys. */
export type Sender = readonly [hauler: string, key: string];

interface Item {
  readonly bytes: number;
  readonly sender: Sender;
}

/** What an item costs beside its bytes: a small push costs the service as much as these bytes of a large one. */
const ITEM_COST = 8 * 1024;

/** The items of a key, in the order of arrival, and what they cost together. */
interface Line<I> {
  readonly items: I[];
  cost: number;
}

/** What waits of a hauler, by its keys. */
interface Lines<I> {
  readonly byKey: Map<string, Line<I>>;
  cost: number;
}

/**
 * A queue in which haulers take turns, and so do the keys of a hauler: the next hauler gives one item, small or large, and goes to
 * the end. Beyond the limits the newest item of the heaviest key of the heaviest hauler is refused, so that a loud caller cannot
 * take the place of a quiet one.
 */
export class Turns<I extends Item> {
  /** The first entry of a `Map` has its turn; an entry that is deleted and set again is the last one. */
  private readonly haulers = new Map<string, Lines<I>>();
  size = 0;
  bytes = 0;

  constructor(
    private readonly maxItems: number,
    private readonly maxBytes: number,
  ) {}

  /** Returns the items that are refused for this one, which may be itself. */
  push(item: I): I[] {
    const [hauler, key] = item.sender;
    const lines = this.haulers.get(hauler) ?? { byKey: new Map<string, Line<I>>(), cost: 0 };
    const line = lines.byKey.get(key) ?? { items: [], cost: 0 };
    line.items.push(item);
    lines.byKey.set(key, line);
    this.haulers.set(hauler, lines);
    this.count(item, lines, line, 1);
    const refused: I[] = [];
    while (this.size > this.maxItems || this.bytes > this.maxBytes) refused.push(this.evict(item.sender));
    return refused;
  }

  /**
   * Removes and returns at most `maxItems`, in their turns. An item that does not fit keeps its turn: the haulers behind it, and
   * the other keys of its hauler, go on with smaller ones.
   */
  take(maxItems: number, fits: (item: I) => boolean): I[] {
    const taken: I[] = [];
    // A `Map` visits an entry again that is deleted and set meanwhile.
    for (const lines of this.haulers.values()) {
      if (taken.length === maxItems) break;
      for (const {
        items: [item],
      } of lines.byKey.values()) {
        if (item === undefined || !fits(item)) continue;
        this.endTurn(item, lines);
        taken.push(item);
        break;
      }
    }
    return taken;
  }

  /** Removes the first item of its key, and puts key and hauler at the end. */
  private endTurn(item: I, lines: Lines<I>): void {
    const [hauler, key] = item.sender;
    const line = lines.byKey.get(key)!;
    line.items.shift();
    lines.byKey.delete(key);
    if (line.items.length > 0) lines.byKey.set(key, line);
    this.haulers.delete(hauler);
    if (lines.byKey.size > 0) this.haulers.set(hauler, lines);
    this.count(item, lines, line, -1);
  }

  /** Removes the newest item of the heaviest sender. `sender` goes first where others are no heavier. */
  private evict([ownHauler, ownKey]: Sender): I {
    const hauler = heaviest(this.haulers, ownHauler);
    const lines = this.haulers.get(hauler)!;
    const key = heaviest(lines.byKey, ownKey);
    const line = lines.byKey.get(key)!;
    const item = line.items.pop()!;
    if (line.items.length === 0) lines.byKey.delete(key);
    if (lines.byKey.size === 0) this.haulers.delete(hauler);
    this.count(item, lines, line, -1);
    return item;
  }

  private count({ bytes }: I, lines: Lines<I>, line: Line<I>, sign: 1 | -1): void {
    const cost = sign * (bytes + ITEM_COST);
    lines.cost += cost;
    line.cost += cost;
    this.size += sign;
    this.bytes += sign * bytes;
  }
}

/** The key of the entry with the highest cost; of equal ones `own`. */
function heaviest(map: ReadonlyMap<string, { readonly cost: number }>, own: string): string {
  let [found, max] = ['', -1];
  for (const [key, { cost }] of map) {
    if (cost > max || (cost === max && key === own)) [found, max] = [key, cost];
  }
  return found;
}

const MIB = 1024 * 1024;

/** Entries and bytes of one batch. PostgreSQL stores 1 MiB in about 30 ms, and a small entry waits for the running batches. */
const MAX_ENTRIES = 128;
const MAX_BYTES = MIB / 4;

/** A smaller entry goes along with large ones: it costs less than its own batch would. */
const SMALL_BYTES = 8 * 1024;

/** Entries and bytes that wait for a batch. A larger entry would be refused each time: it is 413. */
const MAX_WAITING = 4000;
const MAX_WAITING_BYTES = 24 * MIB;

/** How long an entry may wait for a batch. After that its batch would hardly be done before the timeout. */
const MAX_QUEUE_MS = 3000;

/** How long a caller waits for its result, and how often this is checked, for all entries at once. */
const TIMEOUT_MS = 4200;
const SWEEP_MS = 100;

interface BatchOptions<Value> {
  /** The metric counts refusals under this name. */
  readonly overload: Overload;
  /** Batches that run at the same time. */
  readonly maxRunning: number;
  /** Names of the rows that a value writes: values with a common one wait for the same lock. */
  readonly lockNamesOf: (value: Value) => readonly string[];
}

/**
 * Gathers values while a batch runs and makes them the next batch, in which haulers take turns. It never waits for more: a single
 * value runs at the end of this turn of the event loop.
 */
export class Batcher<Value, Result> {
  private readonly queue = new Turns<QueuedEntry<Value, Result>>(MAX_WAITING, MAX_WAITING_BYTES);
  private readonly locked = new LockedEntries<QueuedEntry<Value, Result>>((entry) =>
    this.write([entry], NEXT_LOCK_TIMEOUT_MS),
  );
  /** Those without a result, in the order of arrival. */
  private readonly open = new Set<QueuedEntry<Value, Result>>();
  private timer: NodeJS.Timeout | undefined;
  private running = 0;
  private runningEntries = 0;
  private isScheduled = false;

  /** What has no outcome after one of the `steps` goes through the next one, and through the last one repeatedly. */
  constructor(
    private readonly options: BatchOptions<Value>,
    private readonly steps: readonly [Write<Value, Result>, ...Write<Value, Result>[]],
  ) {}

  /**
   * Rejects with `unavailable` if too much of this sender is waiting, if another transaction holds a row for 3 s, or if there is no
   * result in time; with `tooLarge` if it could never wait.
   */
  submit(value: Value, bytes: number, sender: Sender): Promise<Result> {
    if (bytes > MAX_WAITING_BYTES) return Promise.reject(tooLarge());
    const result = new Promise<Result>((resolve, reject) => {
      const entry = new QueuedEntry(
        this,
        { value, bytes, sender, lockNames: this.options.lockNamesOf(value) },
        resolve,
        reject,
      );
      this.open.add(entry);
      this.timer ??= setTimeout(() => this.sweep(), SWEEP_MS).unref();
      if (this.locked.includes(entry.lockNames)) entry.setApart();
      else for (const refused of this.queue.push(entry)) refused.reject(this.overloaded());
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

  setApart(entry: QueuedEntry<Value, Result>): void {
    this.locked.add(entry);
  }

  close(entry: QueuedEntry<Value, Result>): void {
    this.open.delete(entry);
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
    const minEntries = Math.min(Math.max(this.runningEntries, 1), MAX_ENTRIES);
    return this.running < this.options.maxRunning && this.queue.size >= minEntries;
  }

  private async runNext(): Promise<void> {
    const entries = this.take();
    if (entries.length === 0) return this.schedule();
    this.running++;
    this.runningEntries += entries.length;
    this.schedule();
    await this.write(entries);
    this.running--;
    this.runningEntries -= entries.length;
    this.schedule();
  }

  private async write(entries: readonly QueuedEntry<Value, Result>[], lockTimeoutMs?: number): Promise<void> {
    try {
      const [first, ...others] = this.steps;
      let rest = await settleBatch(entries, first, lockTimeoutMs);
      for (let step = 0; rest.length > 0; step++) {
        const next = others[Math.min(step, others.length - 1)] ?? first;
        rest = await settleBatch(rest, next, lockTimeoutMs);
      }
    } catch (error) {
      // Without effect on those that have their result.
      for (const entry of entries) entry.reject(error);
    }
  }

  /** Takes the next batch from the queue, and rejects the entries that have waited too long. */
  private take(): QueuedEntry<Value, Result>[] {
    const oldest = performance.now() - MAX_QUEUE_MS;
    let bytes = 0;
    const taken = this.queue.take(MAX_ENTRIES, (entry) => {
      if (entry.since < oldest) entry.reject(this.overloaded());
      if (entry.isOver) return true;
      if (bytes > 0 && entry.bytes > SMALL_BYTES && bytes + entry.bytes > MAX_BYTES) return false;
      bytes += Math.max(entry.bytes, 1);
      return true;
    });
    return taken.filter(({ isOver }) => !isOver);
  }

  private sweep(): void {
    const oldest = performance.now() - TIMEOUT_MS;
    for (const entry of this.open) {
      if (entry.since > oldest) break;
      const message = 'the service could not answer in time; try again shortly';
      entry.reject(unavailable(message, { overload: this.options.overload }));
    }
    this.timer = this.open.size === 0 ? undefined : setTimeout(() => this.sweep(), SWEEP_MS).unref();
  }

  private overloaded(): AppError {
    return unavailable('the service is overloaded; try again shortly', { overload: this.options.overload });
  }
}

interface Submitted<Value> {
  readonly value: Value;
  readonly bytes: number;
  readonly sender: Sender;
  readonly lockNames: readonly string[];
}

class QueuedEntry<Value, Result> implements Entry<Value, Result> {
  readonly value: Value;
  readonly bytes: number;
  readonly sender: Sender;
  readonly lockNames: readonly string[];
  readonly since = performance.now();
  /** Its caller has an answer. */
  isOver = false;

  constructor(
    private readonly batcher: Batcher<Value, Result>,
    { value, bytes, sender, lockNames }: Submitted<Value>,
    private readonly resolveCaller: (result: Result) => void,
    private readonly rejectCaller: (error: unknown) => void,
  ) {
    this.value = value;
    this.bytes = bytes;
    this.sender = sender;
    this.lockNames = lockNames;
  }

  resolve(result: Result): void {
    this.end();
    this.resolveCaller(result);
  }

  reject(error: unknown): void {
    this.end();
    this.rejectCaller(error);
  }

  setApart(): void {
    this.batcher.setApart(this);
  }

  private end(): void {
    this.isOver = true;
    this.batcher.close(this);
  }
}

/** Never 503, which would ask to send it again. */
const tooLarge = (): AppError =>
  new AppError(
    'tooLarge',
    `the body must not be larger than ${MAX_WAITING_BYTES} bytes, whatever HTTP_BODY_LIMIT allows`,
  );
