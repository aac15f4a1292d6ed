import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { RecordingReason } from '../../contracts/admin/recording.dto.js';
import type { CoverageQuery, FleetCoverageQuery } from '../../contracts/admin/coverage.dto.js';
import { namePairsOf, type Truck } from '../recordings/camera-names.repository.js';
import { type Camera, camerasOf } from '../recordings/camera-names.rules.js';
import type { RecordingState, StoredGap } from '../recordings/recording.rules.js';

export interface CoverageRecordingRow {
  readonly id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RecordingState;
  readonly reason: string | null;
  readonly reason_code: RecordingReason | null;
  /** Retention has deleted the file. */
  readonly is_removed: boolean;
  readonly gaps: readonly StoredGap[] | null;
}

export interface CoverageSubscriptionRow {
  /** Null: every camera of the truck. */
  readonly camera_id: string | null;
  readonly start_time: Date;
  readonly read_until: Date;
  readonly last_error: string | null;
  /** The connection was deleted. */
  readonly is_ended: boolean;
  readonly unread: readonly { readonly start: string; readonly end: string; readonly reason: string }[];
  /** Days that cannot be read again, with the reason. */
  readonly failing: readonly { readonly start: string; readonly end: string; readonly reason: string }[];
  /** The readings of the time of the query. */
  readonly asked: readonly { readonly start: string; readonly end: string; readonly at: string }[];
}

/** A camera by all its names, or a camera without a name if none of the truck is known: its whole time is missing. */
export type CoveredCamera = Pick<Camera, 'names'> & Partial<Pick<Camera, 'name'>>;

export const UNKNOWN_CAMERA: CoveredCamera = { names: new Set() };

const OF_TRUCK = `(r.hauler_id, r.connection_id, r.truck_id)
  = (connections.hauler_id, trucks.connection_id, trucks.truck_id)`;

/** Reads the rows from which coverage is computed. */
@Injectable()
export class CoverageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** At most `limit` recordings of the truck that overlap the time. `cameras` null: of all cameras. */
  recordings(
    { connectionId, truckId, from, to }: CoverageQuery,
    cameras: readonly string[] | null,
    limit: number,
  ): Promise<CoverageRecordingRow[]> {
    return this.dataSource.query(
      `SELECT id, camera_id, start_time, end_time, status, coalesce(reason, last_error) AS reason, reason_code,
         deleted_at IS NOT NULL AS is_removed, gaps FROM recordings
       WHERE connection_id = $1 AND truck_id = $2 AND start_time < $4 AND end_time > $3
         AND start_time > $3::timestamptz - interval '31 days' AND ($5::text[] IS NULL OR camera_id = ANY($5))
       LIMIT ${limit}`,
      [connectionId, truckId, from, to, cameras],
    );
  }

  subscriptions(
    { connectionId, truckId, from, to }: CoverageQuery,
    cameras: readonly string[] | null,
  ): Promise<CoverageSubscriptionRow[]> {
    return this.dataSource.query(
      `SELECT camera_id, start_time, read_until, last_error, coalesce((
         SELECT json_agg(json_build_object('start', w.start_time, 'end', w.end_time,
           'reason', coalesce(w.last_error, w.reason, '')))
         FROM video_windows w WHERE w.subscription_id = s.id AND w.reread_day IS NULL), '[]') AS unread, coalesce((
         SELECT json_agg(json_build_object('start', w.start_time, 'end', w.end_time,
           'reason', coalesce(w.last_error, w.reason)) ORDER BY w.start_time)
         FROM video_windows w WHERE w.subscription_id = s.id AND w.reread_day IS NOT NULL
           AND coalesce(w.last_error, w.reason) IS NOT NULL), '[]') AS failing, coalesce((
         SELECT json_agg(json_build_object('start', r.start_time, 'end', r.end_time, 'at', r.read_at))
         FROM video_readings r WHERE (r.hauler_id, r.subscription_id) = (s.hauler_id, s.id)
           AND r.start_time < $5 AND r.end_time > $4), '[]') AS asked, NOT EXISTS (
           SELECT 1 FROM connections c
           WHERE (c.hauler_id, c.id) = (s.hauler_id, s.connection_id) AND c.deleted_at IS NULL) AS is_ended
       FROM video_subscriptions s
       WHERE connection_id = $1 AND truck_id = $2 AND deleted_at IS NULL
         AND ($3::text[] IS NULL OR camera_id IS NULL OR camera_id = ANY($3))`,
      [connectionId, truckId, cameras, from, to],
    );
  }

  /**
   * The hauler's trucks with a subscription, or with a recording that starts in this time or at most a day before. Steps from
   * truck to truck by an index; it does not read their recordings.
   */
  trucks({ haulerId, from, to }: FleetCoverageQuery): Promise<Truck[]> {
    return this.dataSource.query(
      `WITH RECURSIVE known (connection_id, truck_id) AS (
         SELECT id, (SELECT min(truck_id) FROM recordings r WHERE r.connection_id = connections.id)
         FROM connections WHERE hauler_id = $1 AND interface = 'vision'
         UNION ALL
         SELECT connection_id, (SELECT min(r.truck_id) FROM recordings r
           WHERE r.connection_id = known.connection_id AND r.truck_id > known.truck_id)
         FROM known WHERE truck_id IS NOT NULL)
       SELECT connection_id AS "connectionId", truck_id AS "truckId" FROM known
       WHERE truck_id IS NOT NULL AND EXISTS (SELECT 1 FROM recordings r
         WHERE r.connection_id = known.connection_id AND r.truck_id = known.truck_id
           AND r.start_time > $2::timestamptz - interval '1 day' AND r.start_time < $3)
       UNION
       SELECT connection_id, truck_id FROM video_subscriptions
       WHERE hauler_id = $1 AND deleted_at IS NULL AND start_time < $3
       ORDER BY 2, 1`,
      [haulerId, from, to],
    );
  }

  /**
   * The cameras of each truck that recorded in this time or up to 31 days before; `UNKNOWN_CAMERA` if there is none. Steps
   * from camera to camera by an index; it does not read their chunks.
   */
  async cameras(
    trucks: readonly Truck[],
    { from, to }: Pick<CoverageQuery, 'from' | 'to'>,
  ): Promise<CoveredCamera[][]> {
    const rows = await this.dataSource.query<{ place: number; names: string[] }[]>(
      `SELECT place::integer AS place, ARRAY(
         SELECT camera_id FROM (
           WITH RECURSIVE known (camera_id) AS (
             SELECT min(r.camera_id) FROM recordings r WHERE ${OF_TRUCK} AND r.source = 'continuous'
             UNION ALL
             SELECT (SELECT min(r.camera_id) FROM recordings r
               WHERE ${OF_TRUCK} AND r.source = 'continuous' AND r.camera_id > known.camera_id)
             FROM known WHERE camera_id IS NOT NULL)
           SELECT camera_id FROM known) AS cameras
         WHERE EXISTS (SELECT 1 FROM recordings r
           WHERE ${OF_TRUCK} AND r.source = 'continuous' AND r.camera_id = cameras.camera_id
             AND r.start_time > $3::timestamptz - interval '31 days' AND r.start_time < $4)
         UNION
         SELECT r.camera_id FROM recordings r
         WHERE r.connection_id = trucks.connection_id AND r.truck_id = trucks.truck_id AND r.source = 'on-demand'
           AND r.start_time > $3::timestamptz - interval '31 days' AND r.start_time < $4
         UNION
         SELECT camera_id FROM video_subscriptions s
         WHERE (s.connection_id, s.truck_id) = (trucks.connection_id, trucks.truck_id)
           AND s.deleted_at IS NULL AND s.camera_id IS NOT NULL) AS names
       FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS trucks (connection_id, truck_id, place)
         JOIN connections ON connections.id = connection_id
       ORDER BY place`,
      [trucks.map(({ connectionId }) => connectionId), trucks.map(({ truckId }) => truckId), from, to],
    );
    const pairs = await namePairsOf(this.dataSource, trucks);
    return rows.map(({ names }, i) => (names.length === 0 ? [UNKNOWN_CAMERA] : camerasOf(names, pairs[i] ?? [])));
  }
}
