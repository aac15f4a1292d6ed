import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import {
  type ChangeVideoSubscription,
  type CreateVideoSubscription,
  type VideoSubscription,
  type VideoSubscriptionQuery,
} from '../../contracts/admin/video-subscription.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { countRows } from '../../database/count.js';
import { inTransaction } from '../../database/transaction.js';
import { uuidv7 } from '../../database/uuid.js';
import { apiError, invalid } from '../../errors/app-error.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { noConnection, VisionConnections } from '../vision-connections.js';
import { CRAWL } from './crawl.work.js';

interface SubscriptionRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly connection_id: string;
  readonly truck_id: string;
  readonly camera_id: string | null;
  readonly start_time: Date;
  readonly interval_seconds: number;
  readonly enabled: boolean;
  readonly watermark: Date;
  readonly last_read_at: Date | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The watermark is where the oldest window begins that could not be read yet. */
const SELECT = `
  SELECT hauler_id, id, connection_id, truck_id, camera_id, start_time, interval_seconds, enabled, last_read_at, last_error,
    created_at, updated_at, least(read_until, (
      SELECT min(w.start_time) FROM video_windows w WHERE w.subscription_id = s.id)) AS watermark
  FROM video_subscriptions AS s WHERE deleted_at IS NULL`;

/** Which trucks are followed. */
@Injectable()
export class VideoSubscriptions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly connections: VisionConnections,
    private readonly jobs: JobsService,
  ) {}

  /** Read for the first time at once. 400 where the connection is none of Vision. */
  async create(request: CreateVideoSubscription): Promise<VideoSubscription> {
    const connection = await this.connections.find(request.connectionId);
    if (connection === undefined) throw invalid([noConnection()]);
    const id = uuidv7();
    await this.dataSource.query(
      `INSERT INTO video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time,
         read_until, interval_seconds, enabled, created_at, updated_at, due_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, true, now(), now(), greatest(now(), $7::timestamptz))`,
      [
        connection.haulerId,
        id,
        connection.id,
        connection.customerId,
        request.truckId,
        request.cameraId ?? null,
        request.startTime,
        request.intervalSeconds ?? connection.intervalSeconds,
      ],
    );
    this.jobs.wake(CRAWL);
    return this.get(id);
  }

  /** Newest first. */
  async list({ connectionId, truckId, ...paging }: VideoSubscriptionQuery): Promise<List<VideoSubscription>> {
    const page = pageRequest(paging);
    const filtered = `${SELECT} AND ($1::uuid IS NULL OR connection_id = $1) AND ($2::text IS NULL OR truck_id = $2)`;
    const parameters = [connectionId ?? null, truckId ?? null];
    const rows = await this.dataSource.query<SubscriptionRow[]>(
      `${filtered} ORDER BY id DESC LIMIT ${page.pageSize} OFFSET ${page.offset}`,
      parameters,
    );
    const total = await countRows(this.dataSource, filtered, parameters);
    return { data: rows.map(shown), pagination: paginationOf(page, total) };
  }

  async get(id: string): Promise<VideoSubscription> {
    const [row] = await this.dataSource.query<SubscriptionRow[]>(`${SELECT} AND id = $1`, [id]);
    if (row === undefined) throw unknown(id);
    return shown(row);
  }

  /** A change takes effect at once: it is due now, and a run that is under way writes nothing more. */
  async change(id: string, { intervalSeconds, enabled }: ChangeVideoSubscription): Promise<VideoSubscription> {
    const [, changed] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE video_subscriptions SET interval_seconds = coalesce($2, interval_seconds), enabled = coalesce($3, enabled),
         due_at = CASE WHEN coalesce($3, enabled) THEN now() END, lease_token = NULL, leased_until = NULL, attempts = 0,
         updated_at = now()
       WHERE id = $1 AND deleted_at IS NULL`,
      [id, intervalSeconds ?? null, enabled ?? null],
    );
    if (changed === 0) throw unknown(id);
    this.jobs.wake(CRAWL);
    return this.get(id);
  }

  /** Nothing more is read; what was found stays, and is fetched. */
  async remove(id: string): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      const [, removed] = await manager.query<[unknown[], number]>(
        `UPDATE video_subscriptions SET deleted_at = now(), due_at = NULL, lease_token = NULL, leased_until = NULL
         WHERE id = $1 AND deleted_at IS NULL`,
        [id],
      );
      if (removed === 0) throw unknown(id);
      await manager.query('DELETE FROM video_windows WHERE subscription_id = $1', [id]);
    });
  }
}

const unknown = (id: string) => apiError(ADMIN_API, 'notFound', `there is no video subscription ${id}`);

function shown(row: SubscriptionRow): VideoSubscription {
  return {
    id: row.id,
    haulerId: row.hauler_id,
    connectionId: row.connection_id,
    truckId: row.truck_id,
    ...(row.camera_id === null ? {} : { cameraId: row.camera_id }),
    startTime: formatInstant(row.start_time),
    intervalSeconds: row.interval_seconds,
    enabled: row.enabled,
    watermark: formatInstant(row.watermark),
    ...(row.last_read_at === null ? {} : { lastReadAt: formatInstant(row.last_read_at) }),
    ...(row.last_error === null ? {} : { lastError: row.last_error }),
    createdAt: formatInstant(row.created_at),
    updatedAt: formatInstant(row.updated_at),
  };
}
