import { Counter, Gauge, type Registry } from 'prom-client';
import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { Metrics } from '../core/observability/metrics.js';
import { ExchangeBudget } from './exchange-budget.js';
import { ExchangeQueue } from './exchange-queue.js';
import type { ExchangeRecord } from './exchange-record.js';
import { type ExchangeRow, toRow } from './exchange-row.js';
import { ExchangeWriter, isRowError } from './exchange-writer.js';

/** `no-key`: of calls without a valid key, beyond their budgets (decision 58). */
const LOSS_REASONS = ['queue-full', 'database-unavailable', 'not-writable', 'day-limit', 'no-key'] as const;
type LossReason = (typeof LOSS_REASONS)[number];

/** Exchanges of callers with a key that were not stored, by this instance. */
interface Losses {
  readonly count: number;
  readonly reasons: readonly LossReason[];
  readonly since: Date;
  readonly lastAt: Date;
}

interface Sources {
  readonly storedToday: () => number;
  readonly waiting: () => number;
}

/** The metrics of the exchange log. Each exchange is counted once, as written or lost, or waits. */
class ExchangeMetrics {
  private readonly written: Counter;
  private readonly lost: Counter<'reason'>;
  private readonly bodies: Counter;
  losses: Losses | undefined;

  constructor(registry: Registry, maxBytesPerDay: number, { storedToday, waiting }: Sources) {
    const registers = [registry];
    this.written = new Counter({ name: 'exchanges_written_total', help: 'HTTP exchanges that were stored', registers });
    this.lost = new Counter({
      name: 'exchanges_lost_total',
      help: `HTTP exchanges that were not stored, by reason: ${LOSS_REASONS.join(', ')}`,
      labelNames: ['reason'],
      registers,
    });
    for (const reason of LOSS_REASONS) this.lost.inc({ reason }, 0);
    this.bodies = new Counter({
      name: 'exchanges_without_bodies_total',
      help: 'HTTP exchanges that were stored without their bodies, because most of EXCHANGE_MAX_BYTES_PER_DAY was used',
      registers,
    });
    gauge('exchanges_waiting', 'HTTP exchanges that wait to be stored', waiting);
    gauge(
      'exchanges_bytes_today',
      'Size in the database of the HTTP exchanges of today (UTC), with their indexes',
      storedToday,
    );
    gauge('exchanges_bytes_per_day_limit', 'EXCHANGE_MAX_BYTES_PER_DAY', () => maxBytesPerDay);

    function gauge(name: string, help: string, read: () => number): void {
      const one: Gauge = new Gauge({ name, help, registers, collect: () => one.set(read()) });
    }
  }

  store(count: number): void {
    this.written.inc(count);
  }

  lose(reason: LossReason, count: number): void {
    this.lost.inc({ reason }, count);
    if (count === 0 || reason === 'no-key') return;
    const lastAt = new Date();
    const { count: before = 0, reasons = [], since = lastAt } = this.losses ?? {};
    this.losses = { count: before + count, reasons: [...new Set([...reasons, reason])], since, lastAt };
  }

  dropBodies(): void {
    this.bodies.inc();
  }
}

const GATHER_MS = 200;
const RETRY_MS = 500;
/** How old the bytes of other instances may be by which the budget decides. */
const BYTES_MS = 500;
const SHUTDOWN_MS = 3_000;
/** How long a reader waits for the exchanges that are not written yet. */
const READER_WAIT_MS = 500;

interface Reader {
  /** The end of the queue when it came. */
  readonly position: number;
  readonly done: () => void;
}

/**
 * Accepts exchanges without waiting, and writes them in batches. A batch that may not have been stored is written again until it is, or
 * until the service stops: the database decides by the ids what it has. What the queue drops is lost and counted.
 */
@Injectable()
export class ExchangeLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Exchanges');
  private readonly queue = new ExchangeQueue();
  private readonly budget: ExchangeBudget;
  private readonly metrics: ExchangeMetrics;
  private writing: Promise<void> | undefined;
  /** Exchanges that were taken from the queue and are not stored yet. */
  private beingWritten = 0;
  private bytesReadAt = -Infinity;
  private readonly readers = new Set<Reader>();
  /** Ends the wait for a full batch. */
  private endGathering: () => void = () => undefined;
  private isStopping = false;
  private isStopped = false;

  constructor(
    @Inject(ENV)
    private readonly env: Pick<ResolvedEnv, 'EXCHANGE_LOG' | 'EXCHANGE_BODY_LIMIT' | 'EXCHANGE_MAX_BYTES_PER_DAY'>,
    private readonly writer: ExchangeWriter,
    { registry }: Metrics,
  ) {
    this.budget = new ExchangeBudget(env.EXCHANGE_MAX_BYTES_PER_DAY);
    this.metrics = new ExchangeMetrics(registry, env.EXCHANGE_MAX_BYTES_PER_DAY, {
      storedToday: () => this.budget.storedToday,
      waiting: () => this.queue.length + this.beingWritten,
    });
  }

  get isOn(): boolean {
    return this.env.EXCHANGE_LOG !== 'off';
  }

  /** Whether it has every exchange, and not failures alone. */
  get isComplete(): boolean {
    return this.env.EXCHANGE_LOG === 'all';
  }

  /** Since this instance began. */
  get losses(): Losses | undefined {
    return this.metrics.losses;
  }

  /** `EXCHANGE_BODY_LIMIT`. */
  get maxBodyBytes(): number {
    return this.env.EXCHANGE_BODY_LIMIT;
  }

  add(record: ExchangeRecord): void {
    const { status, failure, replayOf, standing } = record;
    const isFailure = status === 0 || status >= 400 || failure !== undefined;
    if (this.env.EXCHANGE_LOG === 'failures' && !isFailure && replayOf === undefined) return;
    const admission = this.budget.admit(standing, record.address);
    if (admission === 'dropped') return this.lose(standing === 'known' ? 'day-limit' : 'no-key', 1);
    if (admission === 'line' && standing === 'known') this.metrics.dropBodies();
    // Text waits, because thousands of waiting records would keep the garbage collector busy.
    const row = toRow(record, admission, this.maxBodyBytes);
    if (standing !== 'known') this.budget.addKeyless(row.line.length);
    const { known, others } = this.queue.push(row);
    this.lose('queue-full', known);
    this.lose('no-key', others);
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
  }

  /** Resolves when every exchange so far is written or lost. Later ones are not waited for: on a busy service they never end. */
  flush(): Promise<void> {
    return new Promise((done) => this.addReader({ position: this.queue.end, done }));
  }

  /** Lets a caller find its last call. On a service whose database is slow the call appears a moment later. */
  async flushForReader(): Promise<void> {
    await new Promise<void>((done) => {
      const reader = { position: this.queue.end, done };
      this.addReader(reader);
      setTimeout(() => {
        this.readers.delete(reader);
        done();
      }, READER_WAIT_MS).unref();
    });
  }

  /** Exchanges that are not written within `SHUTDOWN_MS` are lost, and counted. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.race([this.flush(), delay(SHUTDOWN_MS, undefined, { ref: false })]);
    this.isStopped = true;
    const count = this.queue.length + this.beingWritten;
    this.queue.clear();
    if (count === 0) return;
    this.lose('database-unavailable', count);
    this.logger.warn(`${count} exchanges were not stored before the stop`);
  }

  private async writeAll(): Promise<void> {
    while (this.queue.length > 0) {
      // Delays neither a reader nor a shutdown.
      if (!this.queue.hasFullBatch && this.readers.size === 0 && !this.isStopping) await this.gather();
      const rows = this.queue.takeBatch();
      this.beingWritten = rows.length;
      await this.store(rows);
      this.beingWritten = 0;
      this.releaseReaders();
      await this.readBytes();
    }
  }

  /** After the readers, who need not wait for it. */
  private async readBytes(): Promise<void> {
    if (performance.now() - this.bytesReadAt < BYTES_MS) return;
    this.bytesReadAt = performance.now();
    const now = Date.now();
    try {
      this.budget.stored(now, await this.writer.bytesOfDay(now));
    } catch {
      // The next batch finds out whether the database is away.
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

  private addReader(reader: Reader): void {
    if (this.isWritten(reader.position)) return reader.done();
    this.readers.add(reader);
    this.endGathering();
  }

  private releaseReaders(): void {
    for (const reader of this.readers) {
      if (!this.isWritten(reader.position)) continue;
      this.readers.delete(reader);
      reader.done();
    }
  }

  private isWritten(position: number): boolean {
    return this.beingWritten === 0 && this.queue.hasPassed(position);
  }

  /** Returns when the rows are stored or lost. */
  private async store(rows: readonly ExchangeRow[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.writer.write(rows, { isRepeated: attempt > 1 });
        if (!this.isStopped) this.metrics.store(rows.length);
        return;
      } catch (error) {
        if (isRowError(error)) return this.storeHalves(rows, error);
        if (attempt === 1) this.logger.warn({ err: error }, 'exchanges wait: the database did not store them');
        // They have been counted.
        if (this.isStopped) return;
        await delay(RETRY_MS);
      }
    }
  }

  /** Finds the row that PostgreSQL refuses: it alone is lost. */
  private async storeHalves(rows: readonly ExchangeRow[], error: unknown): Promise<void> {
    if (rows.length === 1) {
      this.logger.warn({ err: error }, 'an exchange could not be stored');
      return this.lose('not-writable', 1);
    }
    const half = rows.length >> 1;
    await this.store(rows.slice(0, half));
    await this.store(rows.slice(half));
  }

  private lose(reason: LossReason, count: number): void {
    if (count > 0) this.metrics.lose(reason, count);
  }
}
