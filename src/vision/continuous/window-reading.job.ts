import { Injectable, type OnModuleInit } from '@nestjs/common';
import { instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { WorkService } from '../../work/work.service.js';
import type { Next, Run } from '../../work/run.js';
import { type FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionFindings } from '../client/findings.repository.js';
import { readAllPages } from '../client/read-pages.js';
import {
  DOWNLOAD,
  READ_SUBSCRIPTIONS,
  READ_WINDOWS,
  SLOW_PARTNER_MS,
  type VisionConnection,
  VisionConnections,
} from '../client/vision-connections.repository.js';
import { VisionClient } from '../client/vision.client.js';
import { storeCameraNames } from '../recordings/camera-names.repository.js';
import { RecordingsRepository } from '../recordings/recordings.repository.js';
import {
  type SubscribedCamera,
  type SubscriptionPosition,
  SubscriptionsRepository,
} from './subscriptions.repository.js';

interface SubscriptionRow extends SubscribedCamera, SubscriptionPosition {
  readonly start_time: Date;
  readonly last_read_at: Date | null;
  readonly deferred_at: Date | null;
  readonly interval_seconds: number;
}

interface WindowRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly subscription_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
}

/** How often a paused subscription is checked. */
const PAUSED_MS = 60_000;

/** About four days. A change of the connection starts the count again. */
const MAX_WINDOW_ATTEMPTS = 100;

/** By connection, so that a partner that takes a minute for each page delays only its own subscriptions. */
const LANES = {
  lane: { by: 'connection_id', type: 'uuid', concurrency: 2 },
  concurrency: 8,
  waitsAfterMs: SLOW_PARTNER_MS,
} as const;

/**
 * Reads the continuous recordings of each subscription, one window per run (decision 48). A window that fails repeatedly
 * becomes a row of its own, which a second job retries up to a cap.
 */
@Injectable()
export class WindowReadingJob implements OnModuleInit {
  constructor(
    private readonly work: WorkService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly connections: VisionConnections,
    private readonly client: VisionClient,
    private readonly recordings: RecordingsRepository,
    private readonly findings: VisionFindings,
  ) {}

  onModuleInit(): void {
    this.work.register<SubscriptionRow>({
      name: READ_SUBSCRIPTIONS,
      table: 'video_subscriptions',
      key: { hauler_id: 'uuid', id: 'uuid' },
      columns: [
        'connection_id',
        'truck_id',
        'camera_id',
        'start_time',
        'read_until',
        'last_read_at',
        'deferred_at',
        'interval_seconds',
      ],
      where: 'enabled AND deleted_at IS NULL',
      ...LANES,
      backoff: { firstMs: 5_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
      run: (run) => this.readNext(run),
    });
    this.work.register<WindowRow>({
      name: READ_WINDOWS,
      table: 'video_windows',
      key: { hauler_id: 'uuid', id: 'uuid' },
      columns: ['subscription_id', 'start_time', 'end_time'],
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
    const window = nextWindow(positionOf(row), now.getTime());
    if (window === undefined) return { afterMs: intervalMs };
    const next = { afterMs: window.isLast ? intervalMs : 0 };
    const readUntil = new Date(window.end);
    try {
      await this.read(connection, row, window, signal);
    } catch (error) {
      if (signal.aborted || !shouldDefer(error, run.attempt)) throw error;
      await this.subscriptions.inTransaction(async (manager) => {
        await run.finish(next, { read_until: readUntil, deferred_at: now }, manager);
        const { message } = error as Error;
        await this.subscriptions.deferWindow(manager, row, [new Date(window.start), readUntil], message);
      });
      return 'done';
    }
    await run.finish(next, { read_until: readUntil, last_read_at: now, updated_at: new Date() });
    return 'done';
  }

  private async readDeferred(run: Run<WindowRow>): Promise<Next> {
    const { hauler_id, id, subscription_id, start_time, end_time } = run.row;
    const camera = await this.subscriptions.cameraOf(hauler_id, subscription_id);
    if (camera !== undefined) {
      const connection = await this.connections.find(camera.connection_id);
      if (connection === undefined) {
        await run.finish('done', { reason: 'The connection was deleted.' });
        return 'done';
      }
      if (!connection.enabled || !camera.enabled) return { afterMs: PAUSED_MS };
      const window = { start: start_time.getTime(), end: end_time.getTime() };
      await this.read(connection, camera, window, run.signal);
    }
    await this.subscriptions.inTransaction(async (manager) => {
      await run.hold(manager);
      await this.subscriptions.deleteWindow(manager, hauler_id, id);
    });
    return 'done';
  }

  /** Stores the recordings of a window page by page. Pages before a failure stay. Throws `PartnerFailure`, `UnstableListError`. */
  private async read(
    connection: VisionConnection,
    { truck_id: truckId, camera_id: cameraId }: SubscribedCamera,
    { start, end }: Window,
    signal: AbortSignal,
  ): Promise<void> {
    const { haulerId, id: connectionId, customerId } = connection;
    const query = {
      // From the connection, because an admin may have changed it since the subscription was created.
      customerId,
      truckId,
      ...(cameraId === null ? {} : { cameraId }),
      startTime: instantOf(new Date(start)),
      endTime: instantOf(new Date(end)),
      pageSize: MAX_PAGE_SIZE,
    };
    await readAllPages<Recording>(
      (page) => this.client.listContinuous({ ...query, page }, { connection, signal }),
      async ({ items, findings }) => {
        const added = await this.subscriptions.inTransaction(async (manager) => {
          if (cameraId !== null) {
            await storeCameraNames(manager, { haulerId, connectionId, truckId, cameraId }, items);
          }
          return this.recordings.addChunks(manager, connection, items);
        });
        await this.findings.record(connection, findings);
        if (added > 0) this.work.runDue(DOWNLOAD);
      },
    );
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

/** Milliseconds since the epoch, the end excluded. */
interface Window {
  readonly start: number;
  readonly end: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const MAX_WINDOW_MS = 24 * HOUR_MS;
/** The partner may not have listed later recordings yet. */
const CLOSED_AFTER_MS = MINUTE_MS;
/** How far back a reading looks for chunks that were listed late. */
const REREAD_MS = 6 * HOUR_MS;

/** How far a subscription was read, in milliseconds since the epoch. */
interface ReadingPosition {
  readonly startTime: number;
  /** The end of the last window that was read or deferred. */
  readonly readUntil: number;
  /** When that window was read or deferred; undefined before the first one. */
  readonly lastReadAt: number | undefined;
}

/**
 * The next window to read (decision 48): at most 24 h, and ended at least a minute ago. It starts at `readUntil`, or 6 h
 * before the last reading if that is earlier, so that it includes chunks that were listed late. Undefined if no later
 * time has ended.
 */
export function nextWindow(
  { startTime, readUntil, lastReadAt }: ReadingPosition,
  now: number,
): (Window & { readonly isLast: boolean }) | undefined {
  const closed = now - CLOSED_AFTER_MS;
  if (now <= readUntil) return undefined;
  const complete = lastReadAt === undefined ? readUntil : lastReadAt - REREAD_MS;
  const start = Math.max(startTime, Math.min(readUntil, complete));
  const isLast = start + MAX_WINDOW_MS >= closed;
  const end = isLast ? Math.max(closed, readUntil) : start + MAX_WINDOW_MS;
  return start < end ? { start, end, isLast } : undefined;
}

/** A window with this many failures in a row is deferred. */
const MAX_FAILURES_IN_TURN = 3;

/** Failures that may concern one window. After any other, the partner would fail for the other windows as well. */
const WINDOW_FAILURES: ReadonlySet<FailureKind> = new Set([
  'failed',
  'timedOut',
  'breach',
  'notJson',
  'tooLarge',
  'rejected',
]);

/**
 * Whether to defer a failed window, so that the windows after it are read before their links expire. The 504 of a gateway
 * mostly means that this window takes too long; a 404 means that the customer or the truck is unknown.
 */
export function shouldDefer(error: unknown, attempt: number): boolean {
  if (attempt < MAX_FAILURES_IN_TURN) return false;
  if (!(error instanceof PartnerFailure)) return true;
  const { kind, status } = error;
  return status === 504 || (WINDOW_FAILURES.has(kind) && status !== 404);
}
