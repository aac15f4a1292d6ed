import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { inTransaction } from '../../database/transaction.js';
import { uuidv7 } from '../../database/uuid.js';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionConnections } from '../vision-connections.js';
import { laysBy } from './window-failures.js';
import { nextWindow, PAUSED_MS, type Reading, type Window } from './windows.js';
import { type Watched, WindowReader } from './window-reader.js';

export const CRAWL = 'vision crawl';

interface SubscriptionRow extends Watched {
  readonly hauler_id: string;
  readonly id: string;
  readonly connection_id: string;
  readonly start_time: Date;
  readonly read_until: Date;
  readonly last_read_at: Date | null;
  readonly laid_by_at: Date | null;
  readonly interval_seconds: number;
}

/** Follows the continuous recordings of each subscription, one window a run (decision 48). */
@Injectable()
export class CrawlWork implements OnModuleInit {
  /** What each window failed of when its partner was last asked for it. */
  private readonly failures = new LRUCache<string, Error>({ max: 10_000 });

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly connections: VisionConnections,
    private readonly reader: WindowReader,
  ) {}

  onModuleInit(): void {
    this.jobs.register<SubscriptionRow>({
      name: CRAWL,
      table: 'video_subscriptions',
      key: { hauler_id: 'uuid', id: 'uuid' },
      columns: [
        'connection_id',
        'truck_id',
        'camera_id',
        'start_time',
        'read_until',
        'last_read_at',
        'laid_by_at',
        'interval_seconds',
      ],
      where: 'enabled AND deleted_at IS NULL',
      // A partner that takes a minute for each page holds up its own subscriptions alone.
      group: { by: 'connection_id', concurrency: 2 },
      concurrency: 8,
      backoff: { firstMs: 5_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
      run: (run) => this.crawl(run),
    });
  }

  private async crawl(run: Run<SubscriptionRow>): Promise<Next> {
    const { row, signal } = run;
    const everyMs = row.interval_seconds * 1_000;
    const connection = await this.connections.find(row.connection_id);
    if (connection === undefined) return 'done';
    if (!connection.enabled) return { afterMs: PAUSED_MS };
    const now = new Date();
    const window = nextWindow(readingOf(row), now.getTime());
    if (window === undefined) return { afterMs: everyMs };
    const next = { afterMs: window.last ? everyMs : 0 };
    try {
      await this.reader.read(connection, row, window, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = this.failureOf(row, error as Error);
      if (!laysBy(failure, run.attempt)) throw error;
      await this.layBy(run, { ...window, now }, next, failure.message);
      return 'done';
    }
    await run.finish(next, { read_until: new Date(window.end), last_read_at: now, updated_at: new Date() });
    return 'done';
  }

  /** Where the partner is left alone, for this window's failures as well: what the last of them was. */
  private failureOf({ id, read_until }: SubscriptionRow, error: Error): Error {
    const window = `${id} ${read_until.getTime()}`;
    if (error instanceof PartnerFailure && error.kind === 'circuitOpen') return this.failures.get(window) ?? error;
    this.failures.set(window, error);
    return error;
  }

  /**
   * The window stays as a row of its own, with what it would have read again; one that ends at the position takes it in, up
   * to 24 h.
   */
  private async layBy(
    run: Run<SubscriptionRow>,
    { start, end, now }: Window & { readonly now: Date },
    next: Next,
    reason: string,
  ): Promise<void> {
    const { hauler_id, id, connection_id, read_until } = run.row;
    const until = new Date(end);
    await inTransaction(this.dataSource, async (manager) => {
      await run.finish(next, { read_until: until, laid_by_at: now }, manager);
      const [, joined] = await manager.query<[unknown[], number]>(
        `UPDATE video_windows SET end_time = $3, reason = $4
         WHERE hauler_id = $5 AND subscription_id = $1 AND end_time = $2 AND lease_token IS NULL
           AND start_time > $3::timestamptz - interval '24 hours'`,
        [id, read_until, until, reason, hauler_id],
      );
      if (joined > 0) return;
      await manager.query(
        `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, due_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '1 minute')`,
        [hauler_id, uuidv7(), id, connection_id, new Date(start), until, reason],
      );
    });
  }
}

function readingOf({ start_time, read_until, last_read_at, laid_by_at }: SubscriptionRow): Reading {
  const looks = [last_read_at, laid_by_at].filter((look) => look !== null);
  return {
    startTime: start_time.getTime(),
    readUntil: read_until.getTime(),
    lookedAt: looks.length === 0 ? undefined : Math.max(...looks.map((look) => look.getTime())),
  };
}
