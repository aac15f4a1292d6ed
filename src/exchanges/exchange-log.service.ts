import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { Metrics } from '../observability/metrics.js';
import { ExchangeBudget } from './exchange-budget.js';
import { ExchangeLanes, type Position } from './exchange-lanes.js';
import { ExchangeMetrics, type Losses, type LossReason } from './exchange-metrics.js';
import type { ExchangeRecord } from './exchange-record.js';
import { type ExchangeRow, toRow } from './exchange-row.js';
import { ExchangeWriter, isRowError } from './exchange-writer.js';
import { SpanExporter, type SpanSettings } from './span-exporter.js';

const GATHER_MS = 200;
const RETRY_MS = 500;
/** How old the bytes of other instances may be by which the budget decides. */
const BYTES_MS = 500;
const SHUTDOWN_MS = 3_000;
const SPANS_SHUTDOWN_MS = 1_000;
/** How long a reader waits for the exchanges that are not written yet. */
const READER_WAIT_MS = 500;

interface Reader {
  readonly position: Position;
  readonly done: () => void;
}

/**
 * Accepts exchanges without waiting, and writes them in batches. A batch that may not have been stored is written again until it is, or
 * until the service stops: the database decides by the ids what it has. If a queue is full, its oldest exchanges are lost and counted.
 */
@Injectable()
export class ExchangeLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Exchanges');
  private readonly lanes = new ExchangeLanes();
  private readonly budget: ExchangeBudget;
  private readonly metrics: ExchangeMetrics;
  /** Undefined without a collector. */
  private readonly spans: SpanExporter | undefined;
  private writing: Promise<void> | undefined;
  /** Exchanges that were taken from the queues and are not stored yet. */
  private beingWritten = 0;
  private bytesReadAt = -Infinity;
  private readers: Reader[] = [];
  /** Ends the wait for a full batch. */
  private endGathering: () => void = () => undefined;
  private isStopping = false;
  private isStopped = false;

  constructor(
    @Inject(ENV)
    private readonly env: Pick<ResolvedEnv, 'EXCHANGE_LOG' | 'EXCHANGE_BODY_LIMIT' | 'EXCHANGE_MAX_BYTES_PER_DAY'> &
      SpanSettings,
    private readonly writer: ExchangeWriter,
    { registry }: Metrics,
  ) {
    this.budget = new ExchangeBudget(env.EXCHANGE_MAX_BYTES_PER_DAY);
    this.metrics = new ExchangeMetrics(registry, env.EXCHANGE_MAX_BYTES_PER_DAY, {
      storedToday: () => this.budget.storedToday,
      waiting: () => this.lanes.length + this.beingWritten,
    });
    if (env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) this.spans = new SpanExporter(env, registry);
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
    this.spans?.add(record);
    // Text waits, because thousands of waiting records would keep the garbage collector busy.
    this.lose(
      standing === 'known' ? 'queue-full' : 'no-key',
      this.lanes.push(toRow(record, admission, this.maxBodyBytes)),
    );
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
  }

  /** Resolves when every exchange so far is written or lost. Later ones are not waited for: on a busy service they never end. */
  async flush(): Promise<void> {
    const position = this.lanes.end;
    if (this.isWritten(position)) return;
    await new Promise<void>((done) => {
      this.readers.push({ position, done });
      this.endGathering();
    });
  }

  /** Lets a caller find its last call. On a service whose database is slow the call appears a moment later. */
  async flushForReader(): Promise<void> {
    await Promise.race([this.flush(), delay(READER_WAIT_MS, undefined, { ref: false })]);
  }

  /** Exchanges that are not written within `SHUTDOWN_MS` are lost, and counted. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.race([this.flush(), delay(SHUTDOWN_MS, undefined, { ref: false })]);
    await this.spans?.close(SPANS_SHUTDOWN_MS);
    this.isStopped = true;
    const count = this.lanes.takeAll().length + this.beingWritten;
    if (count === 0) return;
    this.lose('database-unavailable', count);
    this.logger.warn(`${count} exchanges were not stored before the stop`);
  }

  private async writeAll(): Promise<void> {
    while (this.lanes.length > 0) {
      // Delays neither a reader nor a shutdown.
      if (!this.lanes.hasFullBatch && this.readers.length === 0 && !this.isStopping) await this.gather();
      const rows = this.lanes.takeBatch();
      this.beingWritten = rows.length;
      this.spans?.post();
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
    try {
      this.budget.stored(await this.writer.bytesOfToday());
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

  private releaseReaders(): void {
    const done = this.readers.filter(({ position }) => this.isWritten(position));
    this.readers = this.readers.filter((reader) => !done.includes(reader));
    for (const reader of done) reader.done();
  }

  private isWritten(position: Position): boolean {
    return this.beingWritten === 0 && this.lanes.hasPassed(position);
  }

  /** Returns when the rows are stored or lost. */
  private async store(rows: readonly ExchangeRow[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.budget.add(await this.writer.write(rows, { isRepeated: attempt > 1 }));
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
