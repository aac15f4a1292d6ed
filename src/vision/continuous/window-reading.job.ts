import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import type { Sql } from '../../core/database/sql.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { WorkService } from '../../core/work/work.service.js';
import type { Changes, Next, Run } from '../../core/work/run.js';
import { READ_SUBSCRIPTIONS, READ_WINDOWS, VisionConnections } from '../client/vision-connections.repository.js';
import type { Span } from '../range.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';
import { WindowReader } from './window-reader.service.js';
import {
  deferWindow,
  planDays,
  recordReading,
  removeWindow,
  type SubscriptionKey,
  type WindowRow,
} from './windows.repository.js';
import {
  daysOf,
  nextWindow,
  overlapMs,
  type ReadingPosition,
  rereadWindow,
  shareOf,
  shouldDefer,
} from './windows.rules.js';

interface SubscriptionRow extends SubscriptionKey {
  readonly truck_id: string;
  readonly camera_id: string | null;
  /** The end of the last window that was read or deferred. */
  readonly read_until: Date;
  readonly start_time: Date;
  readonly last_read_at: Date | null;
  readonly deferred_at: Date | null;
  readonly interval_seconds: number;
}

/** How often a paused subscription is checked. */
const PAUSED_MS = 60_000;

/** About four days. A change of the connection starts the count again. */
const MAX_WINDOW_ATTEMPTS = 100;

/** By connection, so that a partner that takes a minute for each page delays only its own subscriptions. */
const LANES = { callsPartners: true, lane: { by: 'connection_id', concurrency: 2 } } as const;

/**
 * Reads the continuous recordings of each subscription, one window per run (decision 48). A window that fails repeatedly,
 * and each day to read again, becomes a row of its own, which a second job reads and retries up to a cap.
 */
@Injectable()
export class WindowReadingJob implements OnModuleInit {
  constructor(
    private readonly work: WorkService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly connections: VisionConnections,
    private readonly reader: WindowReader,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  onModuleInit(): void {
    this.work.register<SubscriptionRow>({
      name: READ_SUBSCRIPTIONS,
      table: 'video_subscriptions',
      key: { hauler_id: 'uuid', id: 'uuid' },
      where: 'enabled AND deleted_at IS NULL',
      ...LANES,
      backoff: { firstMs: 5_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
      run: (run) => this.readNext(run),
    });
    this.work.register<WindowRow>({
      name: READ_WINDOWS,
      table: 'video_windows',
      key: { hauler_id: 'uuid', id: 'uuid' },
      ...LANES,
      backoff: { firstMs: 60_000, factor: 2, maxMs: 3_600_000, jitter: 0.2 },
      // The row stays, because the coverage shows unread windows as missing.
      attempts: { max: MAX_WINDOW_ATTEMPTS, giveUp: (run, reason) => run.finish('done', { reason }) },
      run: (run) => this.readDeferred(run),
    });
  }

  private async readNext(run: Run<SubscriptionRow>): Promise<Next> {
    const { row, signal } = run;
    const intervalMs = row.interval_seconds * 1_000;
    const connection = await this.connections.find(row.connection_id);
    if (connection === undefined) return 'done';
    if (!connection.enabled) return { afterMs: PAUSED_MS };
    const now = new Date();
    const window = nextWindow(positionOf(row), now.getTime(), overlapMs(this.env.VISION_REREAD));
    if (window === undefined) return { afterMs: intervalMs };
    const next = { afterMs: window.isLast ? intervalMs : 0 };
    const readUntil = new Date(window.end);
    let isWhole: boolean;
    try {
      isWhole = await this.reader.read(connection, row, window, signal);
    } catch (error) {
      if (signal.aborted || !shouldDefer(error, run.attempt))
        throw error instanceof PartnerFailure ? error.onSchedule(next.afterMs) : error;
      await this.subscriptions.inTransaction(async (transaction) => {
        await this.finishReading(run, transaction, next, { read_until: readUntil, deferred_at: now });
        const { message: reason } = error as Error;
        await deferWindow(transaction, row, { readUntil: row.read_until, window, reason });
      });
      return 'done';
    }
    const reread = this.rereadWindow(row, window.start, now.getTime());
    // Elements may have moved between pages while these were read. A re-reading ends where this window begins.
    const again = isWhole ? reread : { start: reread?.start ?? window.start, end: window.end };
    await this.subscriptions.inTransaction(async (transaction) => {
      const set = { read_until: readUntil, last_read_at: now, updated_at: new Date() };
      await this.finishReading(run, transaction, next, set);
      await recordReading(transaction, row, window, now);
      if (again !== undefined) await planDays(transaction, row, daysOf(again));
    });
    if (again !== undefined) this.work.runDue(READ_WINDOWS);
    return 'done';
  }

  /** A poke says that the partner has more than what was read. */
  private async finishReading(
    run: Run<SubscriptionRow>,
    transaction: Sql,
    next: { readonly afterMs: number },
    set: Changes,
  ): Promise<void> {
    const at = next.afterMs === 0 ? undefined : await this.subscriptions.pokedFor(transaction, run.row, run.startedAt);
    await run.finish(at === undefined ? next : { at }, set, transaction);
  }

  private rereadWindow(row: SubscriptionRow, until: number, now: number): Span | undefined {
    const { id, start_time, last_read_at } = row;
    const position = { startTime: start_time.getTime(), lastReadAt: last_read_at?.getTime() };
    return rereadWindow(this.env.VISION_REREAD, { ...position, until, now, share: shareOf(id) });
  }

  private async readDeferred(run: Run<WindowRow>): Promise<Next> {
    const { hauler_id, subscription_id: id, start_time, end_time, reread_day } = run.row;
    const window = { start: start_time.getTime(), end: end_time.getTime() };
    const now = new Date();
    let isWhole = true;
    const subscription = await this.subscriptions.findByKey(hauler_id, id);
    if (subscription !== undefined) {
      const connection = await this.connections.find(subscription.connection_id);
      if (connection === undefined) {
        await run.finish('done', { reason: 'The connection was deleted.' });
        return 'done';
      }
      if (!connection.enabled || !subscription.enabled) return { afterMs: PAUSED_MS };
      isWhole = await this.reader.read(connection, subscription, window, run.signal);
    }
    const isRead = await this.subscriptions.inTransaction(async (transaction) => {
      await run.hold(transaction);
      if (subscription !== undefined) {
        const key = { hauler_id, id, connection_id: subscription.connection_id };
        await recordReading(transaction, key, window, now);
        if (!isWhole && reread_day === null) await planDays(transaction, key, daysOf(window));
      }
      return removeWindow(transaction, run.row);
    });
    // A re-reading that was planned meanwhile has made it longer.
    return isRead ? 'done' : { afterMs: 0 };
  }
}

function positionOf({ start_time, read_until, last_read_at, deferred_at }: SubscriptionRow): ReadingPosition {
  const readings = [last_read_at, deferred_at].filter((at) => at !== null);
  return {
    startTime: start_time.getTime(),
    readUntil: read_until.getTime(),
    lastReadAt: readings.length === 0 ? undefined : Math.max(...readings.map((at) => at.getTime())),
  };
}
