import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { inTransaction } from '../../database/transaction.js';
import { arrivedAt } from '../../database/waiting.js';
import {
  type BucketGrid,
  bucketsOf,
  type CoverageSums,
  plainBuckets,
  type PlainSums,
  type StateSeconds,
  type TimeRange,
} from './coverage.rules.js';

/** A camera of a truck, by every name that the partner uses for it. */
export interface TruckCamera {
  readonly connectionId: string;
  readonly truckId: string;
  readonly names: readonly string[];
}

/** With its position in the request. */
type NumberedCamera = TruckCamera & { readonly camera: number };

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
const isWanted = (
  source: string,
  name = 'ANY(names)',
) => `r.hauler_id = hauler AND r.source = '${source}' AND r.connection_id = connection
    AND r.truck_id = truck AND r.camera_id = ${name} AND r.start_time > lower - interval '31 days' AND r.start_time < upper
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

/** The times are parameters: with unknown ones PostgreSQL expects few rows, and takes an index that does not have them all. */
const CAMERAS = `
  (SELECT $2::timestamptz AS lower, $3::timestamptz AS upper, $4::timestamptz AS origin,
    make_interval(secs => $5::float8) AS step) AS bounds,
  json_to_recordset($1::json) AS cameras (camera integer, connection uuid, truck text, names text[])
  JOIN connections ON connections.id = connection, LATERAL (SELECT connections.hauler_id AS hauler) AS owner`;

/**
 * The chunks of cameras with one name, by state and by the bucket in which they start. `mixed`: some begin before the end of
 * an earlier one, or there are clips; then the sums mean nothing. Half the work of `SUMS`, because chunks come sorted from
 * their index, and one running maximum is enough.
 */
const CHUNKS = `
  SELECT camera, extract(epoch FROM upper - origin)::float8 AS upper, ${bucketOf('bin')} AS bucket, rank, seconds,
    date_part('epoch', ends - origin) AS "end", mixed
  FROM ${CAMERAS}, LATERAL (
    SELECT date_bin(step, starts, origin) AS bin, rank, date_part('epoch', sum(ends - starts)) AS seconds, max(ends) AS ends,
      bool_or(covered > starts) AS mixed
    FROM (
      SELECT greatest(r.start_time, lower) AS starts, r.end_time AS ends, ${RANK} AS rank, max(r.end_time) OVER (
        ORDER BY r.start_time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered
      FROM recordings r WHERE ${isWanted('continuous', 'names[1]')}) AS chunks
    GROUP BY 1, 2
    UNION ALL
    SELECT date_bin(step, greatest(r.start_time, lower), origin), 1, 0, r.end_time, true
    FROM recordings r WHERE ${isWanted('on-demand', 'names[1]')}) AS sums`;

/**
 * One pass over the recordings of each camera. A recording adds the time after the end of all earlier ones of its set. Set 1
 * is stored; 2 is stored or available; 3 is stored, available or expired.
 */
const SUMS = `
  SELECT camera, sums.* FROM ${CAMERAS}, LATERAL (
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

interface ChunksRow {
  readonly camera: number;
  readonly upper: number;
  readonly bucket: number;
  readonly rank: number;
  readonly seconds: number;
  readonly end: number;
  readonly mixed: boolean | null;
}

interface Reading {
  readonly beganAt: number;
  readonly seconds: Promise<StateSeconds[][]>;
}

/** Longer than a read of the admin API waits for its turn. */
const SHARED_MS = 4000;

/** Aggregates coverage in SQL: a million recordings take no memory of this process. */
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
    const all = cameras.map((camera, i) => ({ ...camera, camera: i }));
    const [named, others] = [
      all.filter(({ names }) => names.length === 1),
      all.filter(({ names }) => names.length !== 1),
    ];
    const chunks = await this.rows<ChunksRow>(CHUNKS, named, grid, grid);
    const { covered, mixed } = plainBuckets(chunks.map(toPlain), cameras.length, grid);
    const sums = [
      ...(await this.rows<SumsRow>(
        SUMS,
        all.filter(({ camera }) => mixed.cameras.has(camera)),
        grid,
        mixed,
      )),
      ...(await this.rows<SumsRow>(SUMS, others, grid, grid)),
    ];
    return bucketsOf(covered, sums.map(toSums), grid);
  }

  /** Reads two halves at a time, because PostgreSQL does not run window functions in parallel. */
  private async rows<Row>(
    sql: string,
    cameras: readonly NumberedCamera[],
    { originMs, stepMs }: BucketGrid,
    { fromMs, toMs }: TimeRange,
  ): Promise<Row[]> {
    if (cameras.length === 0) return [];
    const listed = cameras.map(({ camera, connectionId, truckId, names }) => ({
      ...{ camera, names },
      ...{ connection: connectionId, truck: truckId },
    }));
    const middle = originMs + Math.round((fromMs + (toMs - fromMs) / 2 - originMs) / stepMs) * stepMs;
    const cut = Math.min(Math.max(middle, fromMs), toMs);
    const halves = [
      [fromMs, cut],
      [cut, toMs],
    ].filter(([lower = 0, upper = 0]) => lower < upper);
    const rows = await Promise.all(
      halves.map((half) =>
        inTransaction(this.dataSource, async (manager) => {
          // Sorts a month of one camera in memory.
          await manager.query("SET LOCAL work_mem = '32MB'; SET LOCAL jit = off");
          const times = [...half, originMs].map((ms) => new Date(ms));
          return manager.query<Row[]>(sql, [JSON.stringify(listed), ...times, stepMs / 1000]);
        }),
      ),
    );
    return rows.flat();
  }
}

const toPlain = ({ upper, end, mixed, ...row }: ChunksRow): PlainSums => ({
  ...row,
  upperSeconds: upper,
  endSeconds: end,
  isMixed: mixed === true,
});

const toSums = ({ camera, first, second, third, last, stored, available, expired, end }: SumsRow): CoverageSums => ({
  camera,
  buckets: [first, second, third],
  seconds: [stored, available, expired],
  last,
  endSeconds: end,
});
