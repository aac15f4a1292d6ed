import { Injectable } from '@nestjs/common';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import type { Span } from '../range.js';
import { PART_OF_TRUCK, type TruckKey } from '../truck.js';

/** A part of a clip request. */
export interface RequestedClipRow {
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly is_open: boolean;
}

const MAX_RECORDINGS = 1_000;
const MAX_REQUESTS = 100;

const truckOf = ({ haulerId, connectionId, truckId }: TruckKey): string[] => [haulerId, connectionId, truckId];

const timesOf = (spans: readonly Span[]): [starts: Date[], ends: Date[]] => [
  spans.map(({ start }) => new Date(start)),
  spans.map(({ end }) => new Date(end)),
];

/** What is known of a truck in some times. `names` null: of all cameras. */
@Injectable()
export class FootageRepository {
  constructor(private readonly database: Database) {}

  /** Whether the partner has sent something of the truck, or a subscription names it. */
  async knowsTruck(truck: TruckKey): Promise<boolean> {
    const row = await this.database.only<{ known: boolean }>(
      `SELECT EXISTS (SELECT FROM cameras WHERE (hauler_id, connection_id, truck_id) = ($1, $2, $3))
         OR EXISTS (SELECT FROM video_subscriptions
           WHERE (hauler_id, connection_id, truck_id) = ($1, $2, $3) AND deleted_at IS NULL) AS known`,
      truckOf(truck),
    );
    return row.known;
  }

  /** Ids of stored and available recordings. No recording is longer than a day. */
  async recordingIds(truck: TruckKey, spans: readonly Span[], names: readonly string[] | null): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT DISTINCT r.id FROM unnest($4::timestamptz[], $5::timestamptz[]) AS span (start_time, end_time)
         JOIN recordings AS r ON r.hauler_id = $1 AND r.connection_id = $2 AND r.truck_id = $3
           AND r.start_time > span.start_time - interval '1 day' AND r.start_time < span.end_time
           AND r.end_time > span.start_time
       WHERE r.status IN ('stored', 'available') AND ($6::text[] IS NULL OR r.camera_id = ANY ($6))
       LIMIT ${MAX_RECORDINGS}`,
      [...truckOf(truck), ...timesOf(spans), names],
    );
    return rows.map(({ id }) => id);
  }

  /** Ids of the newest clip requests, in any state. No part of one is longer than a day. */
  async requestIds(truck: TruckKey, spans: readonly Span[], names: readonly string[] | null): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT DISTINCT part.request_id AS id
       FROM (VALUES ($1::uuid, $2::uuid, $3::text)) AS trucks (hauler_id, connection_id, truck_id),
         unnest($4::timestamptz[], $5::timestamptz[]) AS span (start_time, end_time), video_request_parts AS part
       WHERE part.hauler_id = trucks.hauler_id AND ${PART_OF_TRUCK} AND part.start_time < span.end_time
         AND part.start_time > span.start_time - interval '1 day' AND part.end_time > span.start_time
         AND ($6::text[] IS NULL OR part.camera_id = ANY ($6))
       ORDER BY part.request_id DESC LIMIT ${MAX_REQUESTS}`,
      [...truckOf(truck), ...timesOf(spans), names],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * The parts of clip requests that are open or stored. Locks the truck until the end of the transaction: of several callers
   * each sees the requests of those before it.
   */
  async lockRequested(transaction: Sql, truck: TruckKey, { start, end }: Span): Promise<RequestedClipRow[]> {
    const lock = `clips of ${truckOf(truck).join(' ')}`;
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
    return transaction.query<RequestedClipRow>(
      `SELECT camera_id, start_time, end_time, status <> 'stored' AS is_open
       FROM (VALUES ($1::uuid, $2::uuid, $3::text)) AS trucks (hauler_id, connection_id, truck_id), video_request_parts AS part
       WHERE part.hauler_id = trucks.hauler_id AND ${PART_OF_TRUCK} AND part.status NOT IN ('failed', 'expired')
         AND start_time < $5 AND start_time > $4::timestamptz - interval '1 day' AND end_time > $4`,
      [...truckOf(truck), new Date(start), new Date(end)],
    );
  }
}
