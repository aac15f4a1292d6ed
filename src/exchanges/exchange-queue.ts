import type { ExchangeRow } from './exchange-row.js';

const MIB = 1024 * 1024;
/** Memory of an exchange besides its text. */
const ROW_BYTES = 256;

const MAX_BATCH_ROWS = 1_000;
/** They are in memory three times until a slow database has received them. */
const MAX_BATCH_BYTES = 2 * MIB;

/** Exchanges that wait. */
interface Backlog {
  readonly maxRows: number;
  readonly maxBytes: number;
  rows: number;
  bytes: number;
}

/** How many exchanges were dropped. */
export interface Dropped {
  readonly known: number;
  readonly others: number;
}

/**
 * The exchanges that wait to be written, in the order in which they came. When calls with a key fill their part, the oldest exchanges
 * are dropped. When all others fill theirs, the new one is dropped: they never take the place of a call with a key (decision 58).
 */
export class ExchangeQueue {
  private rows: ExchangeRow[] = [];
  private head = 0;
  private removed = 0;
  private readonly known: Backlog = { maxRows: 50_000, maxBytes: 24 * MIB, rows: 0, bytes: 0 };
  private readonly others: Backlog = { maxRows: 20_000, maxBytes: 8 * MIB, rows: 0, bytes: 0 };

  get length(): number {
    return this.rows.length - this.head;
  }

  get hasFullBatch(): boolean {
    return this.length >= MAX_BATCH_ROWS;
  }

  /** The number of exchanges that came before the end of the queue. */
  get end(): number {
    return this.removed + this.length;
  }

  /** Whether no exchange before a former `end` waits any more. */
  hasPassed(end: number): boolean {
    return this.removed >= end;
  }

  push(row: ExchangeRow): Dropped {
    const backlog = this.backlogOf(row);
    if (backlog === this.others && isFull(backlog)) return { known: 0, others: 1 };
    this.rows.push(row);
    backlog.rows++;
    backlog.bytes += bytesOf(row);
    const before = { known: this.known.rows, others: this.others.rows };
    while (this.length > 1 && isFull(this.known)) this.removeFirst();
    this.compact();
    return { known: before.known - this.known.rows, others: before.others - this.others.rows };
  }

  /** Removes the oldest exchanges, at least one if there is any. */
  takeBatch(): ExchangeRow[] {
    const batch: ExchangeRow[] = [];
    let bytes = 0;
    for (let next = this.rows[this.head]; next !== undefined; next = this.rows[this.head]) {
      bytes += bytesOf(next);
      if (batch.length === MAX_BATCH_ROWS || (batch.length > 0 && bytes > MAX_BATCH_BYTES)) break;
      batch.push(next);
      this.removeFirst();
    }
    this.compact();
    return batch;
  }

  clear(): void {
    while (this.length > 0) this.removeFirst();
    this.compact();
  }

  private removeFirst(): void {
    const row = this.rows[this.head++];
    if (row === undefined) return;
    this.removed++;
    const backlog = this.backlogOf(row);
    backlog.rows--;
    backlog.bytes -= bytesOf(row);
  }

  /** An array whose first elements are removed one by one takes time in proportion to its length. */
  private compact(): void {
    if (this.head < MAX_BATCH_ROWS && this.head < this.rows.length) return;
    this.rows = this.rows.slice(this.head);
    this.head = 0;
  }

  private backlogOf({ standing }: ExchangeRow): Backlog {
    return standing === 'known' ? this.known : this.others;
  }
}

const bytesOf = ({ line }: ExchangeRow): number => line.length + ROW_BYTES;

const isFull = ({ rows, bytes, maxRows, maxBytes }: Backlog): boolean => rows >= maxRows || bytes >= maxBytes;
