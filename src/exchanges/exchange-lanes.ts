import { BoundedQueue } from './exchange-queue.js';
import type { Standing } from './exchange-record.js';
import type { ExchangeRow } from './exchange-row.js';

const MIB = 1024 * 1024;
/** Memory of an exchange besides its text. */
const ROW_BYTES = 256;

/** What may wait, and how much of one batch a lane may be. A lane never takes the place of another one. */
const LIMITS: Readonly<Record<Standing, { maxRows: number; maxBytes: number; maxOfBatch: number }>> = {
  known: { maxRows: 50_000, maxBytes: 24 * MIB, maxOfBatch: 1_000 },
  unverified: { maxRows: 20_000, maxBytes: 8 * MIB, maxOfBatch: 200 },
  keyless: { maxRows: 2_000, maxBytes: 2 * MIB, maxOfBatch: 50 },
};

/** The first is written first. */
const LANES: readonly Standing[] = ['known', 'unverified', 'keyless'];

/** Their bytes are in memory three times until a slow database has received them. */
const BATCH_BYTES = 2 * MIB;
const FULL_BATCH = LIMITS.known.maxOfBatch;

/** The numbers of exchanges that have come in each lane. */
export type Position = readonly number[];

/** The exchanges that wait to be written. */
export class ExchangeLanes {
  private readonly queues = LANES.map(
    (lane) => new BoundedQueue<ExchangeRow>(LIMITS[lane].maxRows, LIMITS[lane].maxBytes),
  );

  get length(): number {
    return this.queues.reduce((all, { length }) => all + length, 0);
  }

  get hasFullBatch(): boolean {
    return this.length >= FULL_BATCH;
  }

  /** Returns how many older exchanges of the lane were dropped for it. */
  push(row: ExchangeRow): number {
    return this.queueOf(row.standing).push(row, row.line.length + ROW_BYTES);
  }

  /** The oldest exchanges, at least one if there is any. */
  takeBatch(): ExchangeRow[] {
    return LANES.flatMap((lane) => this.queueOf(lane).shift(LIMITS[lane].maxOfBatch, BATCH_BYTES));
  }

  takeAll(): ExchangeRow[] {
    return this.queues.flatMap((queue) => queue.shift(queue.length));
  }

  /** Behind the exchanges that wait now. */
  get end(): Position {
    return this.queues.map(({ removed, length }) => removed + length);
  }

  /** Whether no exchange before the position waits any more. */
  hasPassed(position: Position): boolean {
    return this.queues.every(({ removed }, i) => removed >= (position[i] ?? 0));
  }

  private queueOf(lane: Standing): BoundedQueue<ExchangeRow> {
    return this.queues[LANES.indexOf(lane)]!;
  }
}
