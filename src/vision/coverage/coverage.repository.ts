import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import type { CoverageQuery, FleetCoverageQuery } from '../../contracts/admin/recording.dto.js';
import { namePairsOf, type Truck } from '../recordings/camera-names.repository.js';
import { type Camera, camerasOf } from '../recordings/camera-names.rules.js';
import type { RecordingState, StoredGap } from '../recordings/recording.rules.js';
import { inTransaction } from '../../database/transaction.js';
import { arrivedAt } from '../../database/waiting.js';
import { type BucketGrid, bucketsOf, type CoverageSums, type StateSeconds } from './coverage.rules.js';

export interface CoverageRecordingRow {
  readonly id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RecordingState;
  readonly reason: string | null;
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
}

/** A camera by all its names, or a camera without a name if none of the truck is known: its whole time is missing. */
export type CoveredCamera = Pick<Camera, 'names'> & Partial<Pick<Camera, 'name'>>;

export const UNKNOWN_CAMERA: CoveredCamera = { names: new Set() };

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
      `SELECT id, camera_id, start_time, end_time, status, coalesce(reason, last_error) AS reason, gaps FROM recordings
       WHERE connection_id = $1 AND truck_id = $2 AND start_time < $4 AND end_time > $3
         AND start_time > $3::timestamptz - interval '31 days' AND ($5::text[] IS NULL OR camera_id = ANY($5))
       LIMIT ${limit}`,
      [connectionId, truckId, from, to, cameras],
    );
  }

  subscriptions(
    { connectionId, truckId }: CoverageQuery,
    cameras: readonly string[] | null,
  ): Promise<CoverageSubscriptionRow[]> {
    return this.dataSource.query(
      `SELECT camera_id, start_time, read_until, last_error, coalesce((
         SELECT json_agg(json_build_object('start', w.start_time, 'end', w.end_time,
           'reason', coalesce(w.last_error, w.reason, '')))
         FROM video_windows w WHERE w.subscription_id = s.id), '[]') AS unread, NOT EXISTS (
           SELECT 1 FROM connections c
           WHERE (c.hauler_id, c.id) = (s.hauler_id, s.connection_id) AND c.deleted_at IS NULL) AS is_ended
       FROM video_subscriptions s
       WHERE connection_id = $1 AND truck_id = $2 AND deleted_at IS NULL
         AND ($3::text[] IS NULL OR camera_id IS NULL OR camera_id = ANY($3))`,
      [connectionId, truckId, cameras],
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

  /** The cameras of each truck that recorded in this time or up to 31 days before; `UNKNOWN_CAMERA` if there is none. */
  async cameras(
    trucks: readonly Truck[],
    { from, to }: Pick<CoverageQuery, 'from' | 'to'>,
  ): Promise<CoveredCamera[][]> {
    const rows = await this.dataSource.query<{ place: number; names: string[] }[]>(
      `SELECT place::integer AS place, ARRAY(
         SELECT camera_id FROM recording_days d
         WHERE (d.connection_id, d.truck_id) = (trucks.connection_id, trucks.truck_id) AND d.rows > 0
           AND d.day BETWEEN ($3::timestamptz AT TIME ZONE 'UTC')::date - 31 AND ($4::timestamptz AT TIME ZONE 'UTC')::date
         UNION
         SELECT camera_id FROM video_subscriptions s
         WHERE (s.connection_id, s.truck_id) = (trucks.connection_id, trucks.truck_id)
           AND s.deleted_at IS NULL AND s.camera_id IS NOT NULL) AS names
       FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS trucks (connection_id, truck_id, place) ORDER BY place`,
      [trucks.map(({ connectionId }) => connectionId), trucks.map(({ truckId }) => truckId), from, to],
    );
    const pairs = await namePairsOf(this.dataSource, trucks);
    return rows.map(({ names }, i) => (names.length === 0 ? [UNKNOWN_CAMERA] : camerasOf(names, pairs[i] ?? [])));
  }
}

/** A camera of a truck, by every name that the partner uses for it. */
export interface TruckCamera {
  readonly connectionId: string;
  readonly truckId: string;
  readonly names: readonly string[];
}

interface SumsRow {
  readonly camera: number;
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly last: number;
  readonly stored: number | null;
  readonly available: number | null;
  readonly expired: number | null;
  readonly end: number;
}

const RANK = "CASE r.status WHEN 'stored' THEN 1 WHEN 'expired' THEN 3 ELSE 2 END";

/** A failed recording covers nothing. */
const isWanted = (source: string) => `r.hauler_id = hauler AND r.source = '${source}' AND r.connection_id = connection
    AND r.truck_id = truck AND r.camera_id = ANY(names) AND r.start_time > lower - interval '31 days' AND r.start_time < upper
    AND r.end_time > lower AND r.status <> 'failed'`;

/** The recorded times of one camera. `rank`: 1 stored, 2 available, 3 expired. Chunks are read from their index alone. */
const RECORDED = `
  SELECT r.start_time AS starts, r.end_time AS ends, ${RANK} AS rank FROM recordings r WHERE ${isWanted('continuous')}
  UNION ALL
  SELECT lower(piece), upper(piece), ${RANK}
  FROM recordings r, unnest(tstzmultirange(tstzrange(r.start_time, r.end_time)) - coalesce((
    SELECT range_agg(tstzrange("startTime", "endTime"))
    FROM jsonb_to_recordset(r.gaps) AS gap ("startTime" timestamptz, "endTime" timestamptz)), '{}')) AS piece
  WHERE ${isWanted('on-demand')} AND lower(piece) < upper AND upper(piece) > lower`;

const bucketOf = (time: string) => `(date_part('epoch', ${time} - origin) / $5::float8)::integer`;
const newSeconds = (set: number, isIn: string) =>
  `date_part('epoch', sum(least(ends, b${set} + step) - from${set}) FILTER (WHERE ${isIn} AND ends > from${set}))`;

/**
 * One pass over the recordings of each camera. A recording adds the time after the end of all earlier ones of its set. Set 1
 * is stored; 2 is stored or available; 3 is stored, available or expired.
 */
const SUMS = `
  SELECT place::integer AS camera, sums.* FROM (
    SELECT $2::timestamptz AS lower, $3::timestamptz AS upper, $4::timestamptz AS origin,
      make_interval(secs => $5::float8) AS step) AS bounds,
  ROWS FROM (json_to_recordset($1::json) AS (connection uuid, truck text, names text[])) WITH ORDINALITY
    AS cameras (connection, truck, names, place)
  JOIN connections ON connections.id = connection,
  LATERAL (SELECT connections.hauler_id AS hauler) AS owner,
  LATERAL (
    SELECT ${bucketOf('b1')} AS first, ${bucketOf('b2')} AS second, ${bucketOf('b3')} AS third, ${bucketOf('b4')} AS last,
      ${newSeconds(1, 'rank = 1')} AS stored, ${newSeconds(2, 'rank <= 2')} AS available,
      ${newSeconds(3, 'true')} AS expired, date_part('epoch', max(ends) - origin) AS "end"
    FROM (
      SELECT *, date_bin(step, from1, origin) AS b1, date_bin(step, from2, origin) AS b2,
        date_bin(step, from3, origin) AS b3, date_bin(step, ends - interval '1 microsecond', origin) AS b4
      FROM (
        SELECT rank, ends, greatest(starts, max(ends) FILTER (WHERE rank = 1) OVER earlier) AS from1,
          greatest(starts, max(ends) FILTER (WHERE rank <= 2) OVER earlier) AS from2,
          greatest(starts, max(ends) OVER earlier) AS from3
        FROM (SELECT greatest(starts, lower) AS starts, least(ends, upper) AS ends, rank FROM (${RECORDED}) AS recorded) AS found
        WINDOW earlier AS (ORDER BY starts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS covering) AS placed
    GROUP BY b1, b2, b3, b4) AS sums`;

interface Reading {
  readonly beganAt: number;
  readonly seconds: Promise<StateSeconds[][]>;
}

/** Longer than a read of the admin API waits for its turn. */
const SHARED_MS = 4000;

/** Aggregates coverage in SQL: a million recordings take about 0.6 s and no memory of this process. */
@Injectable()
export class CoverageBuckets {
  private readonly readings = new LRUCache<string, Reading>({ max: 16, ttl: SHARED_MS });

  constructor(private readonly dataSource: DataSource) {}

  /**
   * The seconds of each state, by camera and bucket. A reading that began after a request arrived answers that request too,
   * so that ten requests for the same time cost one or two readings.
   */
  of(cameras: readonly TruckCamera[], grid: BucketGrid): Promise<StateSeconds[][]> {
    const key = JSON.stringify([cameras, grid]);
    const known = this.readings.get(key);
    if (known !== undefined && known.beganAt >= arrivedAt()) return known.seconds;
    const reading = { beganAt: performance.now(), seconds: this.read(cameras, grid) };
    this.readings.set(key, reading);
    reading.seconds.catch(() => this.readings.delete(key));
    return reading.seconds;
  }

  private async read(cameras: readonly TruckCamera[], grid: BucketGrid): Promise<StateSeconds[][]> {
    const { originMs, stepMs, fromMs, toMs } = grid;
    // Two halves at a time, because PostgreSQL does not run window functions in parallel.
    const middle = originMs + Math.round((fromMs + (toMs - fromMs) / 2 - originMs) / stepMs) * stepMs;
    const halves =
      middle <= fromMs || middle >= toMs
        ? [[fromMs, toMs]]
        : [
            [fromMs, middle],
            [middle, toMs],
          ];
    const sums = await Promise.all(halves.map(([lower = 0, upper = 0]) => this.sums(cameras, lower, upper, grid)));
    return bucketsOf(sums.flat(), cameras.length, grid);
  }

  private async sums(
    cameras: readonly TruckCamera[],
    lower: number,
    upper: number,
    { originMs, stepMs }: BucketGrid,
  ): Promise<CoverageSums[]> {
    const listed = cameras.map(({ connectionId, truckId, names }) => ({
      connection: connectionId,
      truck: truckId,
      names,
    }));
    const parameters = [JSON.stringify(listed), ...[lower, upper, originMs].map((ms) => new Date(ms)), stepMs / 1000];
    const rows = await inTransaction(this.dataSource, async (manager) => {
      // Sorts a month of one camera in memory.
      await manager.query("SET LOCAL work_mem = '32MB'; SET LOCAL jit = off");
      return manager.query<SumsRow[]>(SUMS, parameters);
    });
    return rows.map(({ camera, first, second, third, last, stored, available, expired, end }) => ({
      camera: camera - 1,
      buckets: [first, second, third],
      seconds: [stored, available, expired],
      last,
      endSeconds: end,
    }));
  }
}
