import { Injectable } from '@nestjs/common';
import type { RecordingReason } from '../../contracts/admin/recordings.routes.js';
import type { CoverageQuery, FleetCoverageQuery } from '../../contracts/admin/coverage.routes.js';
import { epochMillis, type Instant } from '../../contracts/common/instant.js';
import { Database } from '../../core/database/database.js';
import { monthsOf } from '../../core/database/partitions.rules.js';
import type { RecordedTime } from '../recordings/coverage-days.repository.js';
import { IS_AT_RISK } from '../recordings/footage-attention.repository.js';
import { namePairsOf } from '../recordings/camera-names.repository.js';
import { type Camera, camerasOf } from '../recordings/camera-names.rules.js';
import { PART_OF_TRUCK, type Truck } from '../truck.js';
import type { RecordingState, StoredGap } from '../recordings/recording.rules.js';

/** The time of a query. */
export type QueryTime = Pick<CoverageQuery, 'from' | 'to'>;

/** A camera of a truck, by every name that the partner uses for it. */
export interface TruckCamera extends Truck {
  readonly names: readonly string[];
}

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

/** A part of a request that failed or expired without a recording. */
export interface FailedClipRow extends Omit<RecordedTime, 'hauler_id'> {
  readonly reason: string | null;
}

export interface ErasedRow {
  readonly id: string;
  readonly connection_id: string;
  readonly truck_id: string;
  /** Null: every camera of the truck. */
  readonly camera_id: string | null;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly created_at: Date;
}

export interface CoverageSubscriptionRow {
  readonly connection_id: string;
  readonly truck_id: string;
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

/** A camera, or one without a name if none of the truck is known: its whole time is missing. */
export interface CoveredCamera extends TruckCamera, Partial<Pick<Camera, 'name'>> {
  /** It has no recording in the time of the query. */
  readonly isAbsent: boolean;
}

export interface FleetTruck extends Truck {
  readonly haulerId: string;
  readonly haulerName: string;
  /** A recording or a clip of this time failed or expired, and retention has not deleted it. */
  readonly hasLost: boolean;
  /** Downloads that have failed so far, or whose link expires within an hour. */
  readonly atRisk: number;
}

const DAY_MS = 86_400_000;

const keysOf = (trucks: readonly Truck[]): string[][] => [
  trucks.map(({ connectionId }) => connectionId),
  trucks.map(({ truckId }) => truckId),
];

/** Rows `(place integer, connection uuid, truck text, names text[])`, as JSON. */
export const camerasJson = (cameras: readonly TruckCamera[]): string =>
  JSON.stringify(
    cameras.map(({ connectionId, truckId, names }, place) => ({
      place,
      connection: connectionId,
      truck: truckId,
      names,
    })),
  );

const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The truck of the query, or every one. */
const WANTED = '($6::uuid IS NULL OR connection_id = $6) AND ($7::text IS NULL OR truck_id = $7)';

/** Reads the rows from which coverage is computed. */
@Injectable()
export class CoverageRepository {
  constructor(private readonly database: Database) {}

  /** At most `limit` recordings of the truck that overlap the time. `cameras` null: of all cameras. */
  recordings(
    { connectionId, truckId, from, to }: Truck & QueryTime,
    cameras: readonly string[] | null,
    limit: number,
  ): Promise<CoverageRecordingRow[]> {
    return this.database.query<CoverageRecordingRow>(
      `SELECT id, camera_id, start_time, end_time, status, coalesce(reason, last_error) AS reason, reason_code,
         deleted_at IS NOT NULL AS is_removed, gaps FROM recordings
       WHERE hauler_id = (SELECT c.hauler_id FROM connections AS c WHERE c.id = $1)
         AND connection_id = $1 AND truck_id = $2 AND start_time < $4 AND end_time > $3
         AND start_time > $3::timestamptz - interval '31 days' AND ($5::text[] IS NULL OR camera_id = ANY($5))
       LIMIT ${limit}`,
      [connectionId, truckId, from, to, cameras],
    );
  }

  /** Of all cameras of these trucks. */
  subscriptions(trucks: readonly Truck[], { from, to }: QueryTime): Promise<CoverageSubscriptionRow[]> {
    return this.database.query<CoverageSubscriptionRow>(
      `SELECT connection_id, truck_id, camera_id, start_time, read_until, last_error, coalesce((
         SELECT json_agg(json_build_object('start', w.start_time, 'end', w.end_time,
           'reason', coalesce(w.last_error, w.reason, '')))
         FROM video_windows w WHERE w.subscription_id = s.id AND w.reread_day IS NULL), '[]') AS unread, coalesce((
         SELECT json_agg(json_build_object('start', w.start_time, 'end', w.end_time,
           'reason', coalesce(w.last_error, w.reason)) ORDER BY w.start_time)
         FROM video_windows w WHERE w.subscription_id = s.id AND w.reread_day IS NOT NULL
           AND coalesce(w.last_error, w.reason) IS NOT NULL), '[]') AS failing, coalesce((
         SELECT json_agg(json_build_object('start', r.start_time, 'end', r.end_time, 'at', r.read_at))
         FROM video_readings r WHERE (r.hauler_id, r.subscription_id) = (s.hauler_id, s.id)
           AND r.start_time < $4 AND r.end_time > $3), '[]') AS asked, NOT EXISTS (
           SELECT 1 FROM connections c
           WHERE (c.hauler_id, c.id) = (s.hauler_id, s.connection_id) AND c.deleted_at IS NULL) AS is_ended
       FROM video_subscriptions s
       WHERE (connection_id, truck_id) IN (SELECT * FROM unnest($1::uuid[], $2::text[])) AND deleted_at IS NULL`,
      [...keysOf(trucks), from, to],
    );
  }

  /** The ranges of the trucks that erasures have closed. */
  erased(trucks: readonly Truck[], { from, to }: QueryTime): Promise<ErasedRow[]> {
    return this.database.query<ErasedRow>(
      `SELECT id, connection_id, truck_id, camera_id, start_time, end_time, created_at FROM erasures
       WHERE (connection_id, truck_id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
         AND status IN ('running', 'done') AND start_time < $4 AND end_time > $3`,
      [...keysOf(trucks), from, to],
    );
  }

  /** The parts of the trucks' clip requests that ended without any recording. None is longer than a day. */
  failedClips(trucks: readonly Truck[], { from, to }: QueryTime): Promise<FailedClipRow[]> {
    return this.database.query<FailedClipRow>(
      `SELECT part.connection_id, part.truck_id, part.camera_id, part.start_time, part.end_time,
         coalesce(part.reason, q.reason) AS reason
       FROM unnest($1::uuid[], $2::text[]) AS trucks (connection_id, truck_id) JOIN video_request_parts AS part
         ON ${PART_OF_TRUCK} AND part.start_time < $4 AND part.start_time > $3::timestamptz - interval '1 day'
           AND part.end_time > $3 AND part.status IN ('failed', 'expired') AND part.file_removed_at IS NULL
           AND NOT EXISTS (SELECT FROM recordings WHERE (hauler_id, part_id) = (part.hauler_id, part.id))
         JOIN video_requests AS q ON (q.hauler_id, q.id) = (part.hauler_id, part.request_id)`,
      [...keysOf(trucks), from, to],
    );
  }

  /**
   * The trucks with a subscription, or with a recording that starts in this time or at most a day before, by name. A camera may have paused
   * all that time, so that one recording of it is looked for.
   */
  trucks({ haulerId, connectionId, truckId, from, to }: FleetCoverageQuery): Promise<FleetTruck[]> {
    return this.database.query<FleetTruck>(
      `WITH fleet AS (
         SELECT hauler_id, connection_id, truck_id FROM cameras AS c
         WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ${WANTED} AND first_at < $3 AND last_at > $2::timestamptz - interval '1 day'
           AND (SELECT true FROM recordings r
             WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id) = (c.hauler_id, c.connection_id, c.truck_id, c.name)
               AND r.start_time >= $4 AND r.start_time < $5
               AND r.start_time > $2::timestamptz - interval '1 day' AND r.start_time < $3 LIMIT 1)
         UNION
         SELECT hauler_id, connection_id, truck_id FROM video_subscriptions
         WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ${WANTED} AND deleted_at IS NULL AND start_time < $3),
       losing AS (
         SELECT connection_id, truck_id FROM recordings
         WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ${WANTED} AND status IN ('failed', 'expired') AND deleted_at IS NULL
           AND start_time > $2::timestamptz - interval '1 day' AND start_time < $3 AND end_time > $2
         UNION
         SELECT connection_id, truck_id FROM video_requests
         WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ${WANTED} AND status IN ('failed', 'expired')
           AND start_time < $3 AND end_time > $2),
       waiting AS (
         SELECT connection_id, truck_id, count(*)::float8 AS count FROM recordings
         WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ${WANTED} AND ${IS_AT_RISK}
           AND start_time > $2::timestamptz - interval '1 day' AND start_time < $3 AND end_time > $2
         GROUP BY connection_id, truck_id)
       SELECT hauler_id AS "haulerId", haulers.name AS "haulerName", connection_id AS "connectionId",
         truck_id AS "truckId", losing.truck_id IS NOT NULL AS "hasLost", coalesce(waiting.count, 0) AS "atRisk"
       FROM fleet JOIN haulers ON haulers.id = hauler_id LEFT JOIN losing USING (connection_id, truck_id)
         LEFT JOIN waiting USING (connection_id, truck_id)
       ORDER BY truck_id, connection_id`,
      [
        haulerId ?? null,
        from,
        to,
        ...monthsOf(epochMillis(from) - DAY_MS, epochMillis(to)),
        connectionId ?? null,
        truckId ?? null,
      ],
    );
  }

  /** When each camera last recorded before the end of the time; undefined if it never did. */
  async lastRecorded(cameras: readonly TruckCamera[], to: Instant): Promise<(Date | undefined)[]> {
    const rows = await this.database.query<{ place: number; at: Date }>(
      `SELECT place, max(newest.start_time) AS at
       FROM json_to_recordset($1::json) AS cameras (place integer, connection uuid, truck text, names text[])
         JOIN connections ON connections.id = connection, unnest(names) AS name, LATERAL (
         SELECT start_time FROM recordings r WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id)
           = (connections.hauler_id, connection, truck, name) AND start_time < $2
         ORDER BY start_time DESC LIMIT 1) AS newest
       GROUP BY place`,
      [camerasJson(cameras), to],
    );
    const times = new Map(rows.map(({ place, at }) => [place, at]));
    return cameras.map((_, i) => times.get(i));
  }

  /**
   * The cameras of each truck that recorded in this time or up to 31 days before, that a subscription or a clip names, and one without a
   * name if there is none. A settled day in this time says that a camera is present; else one of its recordings is looked for, because
   * a camera may have paused all that time: in whole partitions, so that PostgreSQL plans no others. `LIMIT 1` instead of `EXISTS`, which PostgreSQL makes a join of all
   * recordings, and `OFFSET 0`, without which it asks twice.
   */
  async cameras(trucks: readonly Truck[], { from, to }: QueryTime): Promise<CoveredCamera[][]> {
    const [start, end] = [epochMillis(from), epochMillis(to)];
    const rows = await this.database.query<{ place: number; names: string[]; present: string[] }>(
      `SELECT place::integer AS place, array_agg(name ORDER BY name) AS names,
         coalesce(array_agg(name) FILTER (WHERE is_present), '{}') AS present
       FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS trucks (connection_id, truck_id, place)
         JOIN connections AS c ON c.id = connection_id, LATERAL (
         SELECT name, bool_or(is_named) AS is_named FROM (
           SELECT own.name, false AS is_named FROM cameras AS own
           WHERE (own.hauler_id, own.connection_id, own.truck_id) = (c.hauler_id, c.id, trucks.truck_id)
             AND own.first_at < $4 AND own.last_at > $3::timestamptz - interval '31 days'
           UNION ALL
           SELECT part.camera_id, true FROM video_request_parts AS part
           WHERE ${PART_OF_TRUCK} AND part.status IN ('failed', 'expired')
             AND part.start_time < $4 AND part.start_time > $3::timestamptz - interval '1 day' AND part.end_time > $3
           UNION ALL
           SELECT s.camera_id, true FROM video_subscriptions AS s
           WHERE (s.connection_id, s.truck_id) = (c.id, trucks.truck_id) AND s.deleted_at IS NULL AND s.camera_id IS NOT NULL
         ) AS known GROUP BY name OFFSET 0) AS names, LATERAL (
         SELECT coalesce(
           (SELECT true FROM coverage_days AS d
             WHERE (d.hauler_id, d.connection_id, d.truck_id, d.camera_id) = (c.hauler_id, c.id, trucks.truck_id, name)
               AND d.day >= $7 AND d.day < $8 AND d.stored IS NOT NULL LIMIT 1),
           (SELECT true FROM recordings AS r
             WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id) = (c.hauler_id, c.id, trucks.truck_id, name)
               AND r.start_time >= $5 AND r.start_time < $6 AND r.part_id IS NULL
               AND r.start_time > $3::timestamptz - interval '1 day' AND r.start_time < $4 AND r.end_time > $3 LIMIT 1),
           (SELECT true FROM recordings AS r
             WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id) = (c.hauler_id, c.id, trucks.truck_id, name)
               AND r.start_time >= $5 AND r.start_time < $6 AND r.part_id IS NOT NULL
               AND r.start_time > $3::timestamptz - interval '31 days' AND r.start_time < $4 AND r.end_time > $3 LIMIT 1),
           false) AS is_present OFFSET 0) AS presence
       WHERE is_named OR is_present OR (SELECT true FROM recordings AS r
         WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id) = (c.hauler_id, c.id, trucks.truck_id, name)
           AND r.start_time >= $5 AND r.start_time < $6
           AND r.start_time > $3::timestamptz - interval '31 days' AND r.start_time < $4 LIMIT 1)
       GROUP BY place ORDER BY place`,
      [...keysOf(trucks), from, to, ...monthsOf(start - 31 * DAY_MS, end), dayText(start + DAY_MS - 1), dayText(end)],
    );
    const pairs = await namePairsOf(this.database, trucks);
    const found = new Map(rows.map((row) => [row.place, row]));
    return trucks.map(({ connectionId, truckId }, i) => {
      const { names, present } = found.get(i + 1) ?? { names: [], present: [] };
      if (names.length === 0) return [{ connectionId, truckId, names, isAbsent: true }];
      return camerasOf(names, pairs[i] ?? []).map((camera) => {
        const isAbsent = !present.some((name) => camera.names.includes(name));
        return { connectionId, truckId, ...camera, isAbsent };
      });
    });
  }
}
