import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';
import { AppError } from '../errors/app-error.js';
import { Metrics } from '../observability/metrics.js';
import type { ExchangeRecord } from './exchange-record.js';
import { BoundedQueue } from './exchange-queue.js';
import { type ExchangeRow, toRow } from './exchange-row.js';
import { ExchangeWriter } from './exchange-writer.js';

/** Bounds of the exchanges that wait to be written. */
const MAX_WAITING = 20_000;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Memory of an exchange besides its text. */
const ROW_BYTES = 256;

/** Exchanges of one transaction. Their bytes are in memory three times until a slow database has received them. */
const BATCH = 1_000;
const BATCH_BYTES = 2 * 1024 * 1024;
const GATHER_MS = 200;
const RETRY_MS = 1_000;
const SHUTDOWN_MS = 3_000;
/** How long a reader waits for the exchanges that are not written yet. */
const READER_WAIT_MS = 500;

type LossReason = 'queue-full' | 'database-unavailable' | 'not-writable';

/**
 * Accepts exchanges without waiting, and writes them in batches. If the queue is full, the oldest are lost and counted. While the
 * database is unavailable, the batch is retried.
 */
@Injectable()
export class ExchangeLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Exchanges');
  private readonly queue = new BoundedQueue<ExchangeRow>(MAX_WAITING, MAX_WAITING_BYTES);
  private writing: Promise<void> | undefined;
  /** Ends the wait for a full batch. */
  private endGathering: () => void = () => undefined;
  private isStopping = false;
  private readonly written: Counter;
  private readonly lost: Counter<'reason'>;

  constructor(
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'EXCHANGE_LOG' | 'EXCHANGE_BODY_LIMIT'>,
    private readonly writer: ExchangeWriter,
    { registry }: Metrics,
  ) {
    const registers = [registry];
    this.written = new Counter({ name: 'exchanges_written_total', help: 'HTTP exchanges that were stored', registers });
    this.lost = new Counter({
      name: 'exchanges_lost_total',
      help: 'HTTP exchanges that were not stored, by reason: queue-full, database-unavailable, not-writable',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of ['queue-full', 'database-unavailable', 'not-writable']) this.lost.inc({ reason }, 0);
  }

  get isOn(): boolean {
    return this.env.EXCHANGE_LOG !== 'off';
  }

  /** `EXCHANGE_BODY_LIMIT`. */
  get maxBodyBytes(): number {
    return this.env.EXCHANGE_BODY_LIMIT;
  }

  add(record: ExchangeRecord): void {
    const isFailure = record.status === 0 || record.status >= 400 || record.failure !== undefined;
    if (this.env.EXCHANGE_LOG === 'failures' && !isFailure && record.replayOf === undefined) return;
    // Text waits, because thousands of waiting records would keep the garbage collector busy.
    const row = toRow(record, this.maxBodyBytes);
    const dropped = this.queue.push(row, row.line.length + ROW_BYTES);
    if (dropped > 0) this.lost.inc({ reason: 'queue-full' }, dropped);
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
  }

  /** Resolves when every exchange so far is written or lost. */
  async flush(): Promise<void> {
    this.endGathering();
    while (this.writing !== undefined) await this.writing;
  }

  /** Lets a caller find its last call. On a busy service the call appears a moment later. */
  async flushForReader(): Promise<void> {
    await Promise.race([this.flush(), delay(READER_WAIT_MS, undefined, { ref: false })]);
  }

  /** Exchanges that are not written within `SHUTDOWN_MS` are lost, and counted. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.race([this.flush(), delay(SHUTDOWN_MS, undefined, { ref: false })]);
    this.lose('database-unavailable', this.queue.shift(this.queue.length).length);
  }

  private async writeAll(): Promise<void> {
    while (this.queue.length > 0) {
      // Does not delay a shutdown.
      if (this.queue.length < BATCH && !this.isStopping) await this.gather();
      await this.write(this.queue.shift(BATCH, BATCH_BYTES));
    }
  }

  private gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.endGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async write(rows: readonly ExchangeRow[]): Promise<void> {
    try {
      await this.writer.write(rows);
      this.written.inc(rows.length);
    } catch (error) {
      if (error instanceof AppError || isDatabaseUnavailable(error)) return this.retry(rows);
      if (rows.length === 1) {
        this.logger.warn({ err: error }, 'an exchange could not be stored');
        return this.lose('not-writable', 1);
      }
      const half = rows.length >> 1;
      await this.write(rows.slice(0, half));
      await this.write(rows.slice(half));
    }
  }

  /** Waits for the database while the queue has space. */
  private async retry(rows: readonly ExchangeRow[]): Promise<void> {
    const isFull = this.queue.length >= MAX_WAITING - BATCH;
    if (isFull || this.isStopping) return this.lose('database-unavailable', rows.length);
    await delay(RETRY_MS);
    await this.write(rows);
  }

  private lose(reason: LossReason, count: number): void {
    if (count > 0) this.lost.inc({ reason }, count);
  }
}
