import { Injectable } from '@nestjs/common';
import type { TruckFilters, VideoSubscriptionQuery } from '../../contracts/admin/video-subscriptions.routes.js';
import { Database } from '../../core/database/database.js';
import { type ListPage, listPage } from '../../core/database/list-page.js';
import type { Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import type { VisionConnection } from '../client/vision-connections.repository.js';
import type { SubscriptionKey } from './windows.repository.js';

export interface NewSubscription {
  readonly truckId: string;
  readonly cameraId: string | null;
  readonly startTime: string;
  readonly intervalSeconds: number;
}

/** The subscription of a deferred window. */
interface OfWindow extends Pick<SubscriptionKey, 'connection_id'> {
  readonly enabled: boolean;
  readonly truck_id: string;
  /** Null: all cameras of the truck. */
  readonly camera_id: string | null;
}

const SUBSCRIPTIONS = `
  SELECT hauler_id, hauler_id AS list_hauler, id, connection_id, truck_id, camera_id, start_time, interval_seconds, enabled, last_read_at, last_error,
    created_at, updated_at, least(read_until, (
      SELECT min(w.start_time) FROM video_windows w WHERE w.subscription_id = s.id AND w.reread_day IS NULL)) AS watermark
  FROM video_subscriptions AS s WHERE deleted_at IS NULL`;

/** Subscriptions to continuous recordings. */
@Injectable()
export class SubscriptionsRepository {
  constructor(private readonly database: Database) {}

  inTransaction<T>(work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  async newestTruck(connectionId: string): Promise<string | undefined> {
    const newest = await this.database.first<{ truck_id: string }>(
      `${SUBSCRIPTIONS} AND connection_id = $1 ORDER BY id DESC LIMIT 1`,
      [connectionId],
    );
    return newest?.truck_id;
  }

  async insert(connection: VisionConnection, subscription: NewSubscription): Promise<string> {
    const { truckId, cameraId, startTime, intervalSeconds } = subscription;
    const id = uuidv7();
    await this.database.query(
      `INSERT INTO video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time,
         read_until, interval_seconds, enabled, created_at, updated_at, due_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, true, now(), now(), greatest(now(), $7::timestamptz))`,
      [connection.haulerId, id, connection.id, connection.customerId, truckId, cameraId, startTime, intervalSeconds],
    );
    return id;
  }

  /** Newest first. */
  list(query: VideoSubscriptionQuery): Promise<ListPage<object>> {
    const { connectionId = null, truckId = null, haulerId = null } = query;
    const sql = `${SUBSCRIPTIONS} AND ($1::uuid IS NULL OR connection_id = $1) AND ($2::text IS NULL OR truck_id = $2)
      AND ($3::uuid IS NULL OR hauler_id = $3)`;
    const list = {
      name: 'video-subscriptions',
      sql,
      parameters: [connectionId, truckId, haulerId],
    };
    return listPage(this.database, { ...list, hasHaulers: true, key: ['id'], order: 'DESC' }, query);
  }

  /** The deferred windows of a connection, latest first. */
  listUnread(haulerId: string, connectionId: string, query: TruckFilters): Promise<ListPage<object>> {
    const sql = `SELECT w.id, w.subscription_id, s.truck_id, s.camera_id, w.start_time, w.end_time,
        coalesce(w.last_error, w.reason) AS reason, w.attempts, w.due_at AS next_attempt_at
      FROM video_subscriptions AS s JOIN video_windows AS w ON w.hauler_id = s.hauler_id AND w.subscription_id = s.id
      WHERE s.hauler_id = $1 AND s.connection_id = $2 AND ($3::text IS NULL OR s.truck_id = $3)
        AND s.deleted_at IS NULL AND w.reread_day IS NULL`;
    const list = {
      name: `unread-windows ${connectionId}`,
      sql,
      parameters: [haulerId, connectionId, query.truckId],
    };
    return listPage(this.database, { ...list, key: ['start_time', 'id'], order: 'DESC' }, query);
  }

  async find(id: string): Promise<SubscriptionKey | undefined> {
    return this.database.first<SubscriptionKey>(`${SUBSCRIPTIONS} AND id = $1`, [id]);
  }

  /** When the next reading is due by a poke during this one; undefined without a poke. Locks the subscription. */
  async pokedFor(
    transaction: Sql,
    { hauler_id: haulerId, id }: SubscriptionKey,
    startedAt: string,
  ): Promise<Date | undefined> {
    const poked = await transaction.first<{ due_at: Date }>(
      `SELECT due_at FROM video_subscriptions WHERE hauler_id = $1 AND id = $2 AND due_at > $3::timestamptz FOR UPDATE`,
      [haulerId, id, startedAt],
    );
    return poked?.due_at;
  }

  /** Makes the subscription due, and cancels a running reading. Returns whether the subscription exists. */
  async update(id: string, intervalSeconds: number | undefined, enabled: boolean | undefined): Promise<boolean> {
    const updated = await this.database.change(
      `UPDATE video_subscriptions SET interval_seconds = coalesce($2, interval_seconds), enabled = coalesce($3, enabled),
         due_at = CASE WHEN coalesce($3, enabled) THEN now() END, started_at = NULL, attempts = 0,
         updated_at = now()
       WHERE id = $1 AND deleted_at IS NULL`,
      [id, intervalSeconds ?? null, enabled ?? null],
    );
    return updated > 0;
  }

  /** Deletes its windows and the times of its readings as well. Its recordings stay, and their downloads go on. Returns whether the subscription existed. */
  async delete(id: string): Promise<boolean> {
    return this.inTransaction(async (transaction) => {
      const deleted = await transaction.query<Pick<SubscriptionKey, 'hauler_id'>>(
        `UPDATE video_subscriptions SET deleted_at = now(), due_at = NULL, started_at = NULL
         WHERE id = $1 AND deleted_at IS NULL RETURNING hauler_id`,
        [id],
      );
      const [subscription] = deleted;
      if (subscription === undefined) return false;
      const key = [subscription.hauler_id, id];
      await transaction.query('DELETE FROM video_windows WHERE hauler_id = $1 AND subscription_id = $2', key);
      await transaction.query('DELETE FROM video_readings WHERE hauler_id = $1 AND subscription_id = $2', key);
      return true;
    });
  }

  /** What `delete` ends; undefined for a deleted subscription. */
  async countRemoval(id: string): Promise<object | undefined> {
    return this.database.first<object>(
      `SELECT watermark, (SELECT count(*)::float8 FROM video_windows AS w
         WHERE w.hauler_id = s.hauler_id AND w.subscription_id = s.id AND w.reread_day IS NULL) AS unread_windows
       FROM (${SUBSCRIPTIONS} AND id = $1) AS s`,
      [id],
    );
  }

  /** Undefined for a deleted subscription. */
  async findByKey(haulerId: string, id: string): Promise<OfWindow | undefined> {
    return this.database.first<OfWindow>(
      `SELECT connection_id, enabled, truck_id, camera_id FROM video_subscriptions
       WHERE hauler_id = $1 AND id = $2 AND deleted_at IS NULL`,
      [haulerId, id],
    );
  }
}

/** When a partner last answered with the recordings of a truck; null before the first time. */
export async function lastReading(database: Sql, haulerId: string, connectionId: string): Promise<Date | null> {
  const last = await database.first<{ at: Date | null }>(
    'SELECT max(last_read_at) AS at FROM video_subscriptions WHERE hauler_id = $1 AND connection_id = $2',
    [haulerId, connectionId],
  );
  return last?.at ?? null;
}
