import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { arrivedAt } from '../../database/waiting.js';
import { FAILED_CLIPS, type TruckCamera } from './coverage.repository.js';
import { type BucketGrid, CameraSweep, type StateSeconds } from './coverage.rules.js';
import { type PackedRecordings, type Recorded, sweep, unpacked } from './packed-recordings.js';

type PackedRow = PackedRecordings & { readonly camera: number };

/**
 * The recordings of a camera as three values, each as long as all of them: to send them so takes a third of the time that
 * sums of window functions take.
 */
const packed = (starts: string, ends: string) => `
  string_agg(timestamptz_send(${starts}), '') AS starts, string_agg(timestamptz_send(${ends}), '') AS ends,
  string_agg(CASE r.status WHEN 'stored' THEN '1' WHEN 'expired' THEN '3' WHEN 'failed' THEN '4' WHEN 'clipFailed' THEN '6' ELSE '2' END, '') AS ranks`;

const CAMERAS = `
  json_to_recordset($1::json) AS cameras (camera integer, connection uuid, truck text, names text[])
  JOIN connections ON connections.id = connection`;

const OF_CAMERA = `
  r.hauler_id = connections.hauler_id AND r.connection_id = connection AND r.truck_id = truck`;

/** The chunks that start in `[$2, $3)`, from their index alone, which has them in the order of their start. */
const CHUNKS = `
  SELECT camera, chunks.* FROM ${CAMERAS}, unnest(names) AS name, LATERAL (
    SELECT ${packed('r.start_time', 'r.end_time')} FROM recordings r
    WHERE ${OF_CAMERA} AND r.camera_id = name AND r.part_id IS NULL
      AND r.start_time >= $2 AND r.start_time < $3) AS chunks
  WHERE starts IS NOT NULL`;

/** Recordings that are longer have an index of their own, so that nothing else of the month before is read. */
const LONG = "interval '1 hour'";
const LONG_MS = 3_600_000;

const GAPS = `(
      SELECT tstzrange("startTime", "endTime") AS gap
      FROM jsonb_to_recordset(gaps) AS gap ("startTime" timestamptz, "endTime" timestamptz)) AS gaps`;

/** The recorded pieces of clips and their gaps, all chunks of more than an hour that start before `[$2, $3)`, and clips that never came. */
const PIECES = `
  SELECT camera, ${packed('greatest(lower(piece), $2)', 'upper(piece)')}
  FROM (SELECT camera, footage.status, gaps, tstzrange(start_time, end_time) AS whole
  FROM ${CAMERAS}, unnest(names) AS name, LATERAL (
    SELECT r.start_time, r.end_time, r.status, r.gaps FROM recordings r
    WHERE ${OF_CAMERA} AND r.camera_id = name AND r.part_id IS NOT NULL
      AND r.start_time > $2::timestamptz - interval '31 days' AND r.start_time < $3 AND r.end_time > $2
    UNION ALL
    SELECT r.start_time, r.end_time, r.status, r.gaps FROM recordings r
    WHERE ${OF_CAMERA} AND r.camera_id = name AND r.part_id IS NULL AND r.end_time - r.start_time > ${LONG}
      AND r.start_time > $2::timestamptz - interval '31 days' AND r.start_time < $2::timestamptz - ${LONG}
      AND r.end_time > $2
    UNION ALL
    SELECT part.start_time, part.end_time, 'clipFailed', NULL FROM ${FAILED_CLIPS}
    WHERE (q.hauler_id, q.connection_id, q.truck_id) = (connections.hauler_id, connection, truck) AND q.camera_id = name
      AND part.start_time < $3 AND part.end_time > $2
    UNION ALL
    SELECT e.start_time, e.end_time, 'expired', NULL FROM erasures AS e
    WHERE (e.hauler_id, e.connection_id, e.truck_id) = (connections.hauler_id, connection, truck)
      AND e.status IN ('running', 'done') AND (e.camera_id IS NULL OR lower(btrim(e.camera_id)) = lower(btrim(name)))
      AND e.start_time < $3 AND e.end_time > $2) AS footage) AS found, LATERAL (
    SELECT piece, found.status
    FROM unnest(tstzmultirange(whole) - coalesce((SELECT range_agg(gap) FROM ${GAPS}), '{}')) AS piece
    UNION ALL
    SELECT gap, 'failed' FROM ${GAPS}) AS r
  GROUP BY camera`;

/** What is read by one statement: with a million recordings a month, 1 MB. */
const SLICE_MS = 2 * 86_400_000;
/** Slices that are read at once. */
const READERS = 2;

/** From and to, in milliseconds since the epoch. */
type Slice = readonly [number, number];

interface Reading {
  readonly beganAt: number;
  readonly seconds: Promise<StateSeconds[][]>;
}

/** Longer than a read of the admin API waits for its turn. */
const SHARED_MS = 4000;

/** The coverage of cameras, summed from their recordings. */
@Injectable()
export class CoverageBuckets {
  private readonly readings = new LRUCache<string, Reading>({ max: 16, ttl: SHARED_MS });

  constructor(private readonly dataSource: DataSource) {}

  /**
   * The seconds of each state, by camera and bucket. A reading that began after a request arrived answers that request too,
   * so that ten requests for the same time cost one or two readings. `unrecorded`: of each camera, what is still to come and what
   * was not read.
   */
  of(
    cameras: readonly TruckCamera[],
    grid: BucketGrid,
    unrecorded: readonly (readonly Recorded[])[],
  ): Promise<StateSeconds[][]> {
    const key = JSON.stringify([cameras, grid]);
    const known = this.readings.get(key);
    if (known !== undefined && known.beganAt >= arrivedAt()) return known.seconds;
    const reading = { beganAt: performance.now(), seconds: this.read(cameras, grid, unrecorded) };
    this.readings.set(key, reading);
    reading.seconds.catch(() => this.readings.delete(key));
    return reading.seconds;
  }

  /** Slice by slice, so that a million recordings take little memory. */
  private async read(
    cameras: readonly TruckCamera[],
    grid: BucketGrid,
    unrecorded: readonly (readonly Recorded[])[],
  ): Promise<StateSeconds[][]> {
    const pieces = await this.rows(PIECES, cameras, [grid.fromMs, grid.toMs]);
    const listed = cameras.map((_, i) => [...ofCamera(pieces, i).flatMap(unpacked), ...(unrecorded[i] ?? [])]);
    const sweeps = cameras.map(() => new CameraSweep(grid));
    const slices = Readable.from(slicesOf(grid)).map(
      async (slice: Slice) => [slice, await this.rows(CHUNKS, cameras, slice)] as const,
      { concurrency: READERS },
    ) as AsyncIterable<readonly [Slice, PackedRow[]]>;
    for await (const [[from, to], chunks] of slices) {
      sweeps.forEach((camera, i) => {
        const starting = (listed[i] ?? []).filter(({ start }) => start >= from * 1000 && start < to * 1000);
        sweep(camera, ofCamera(chunks, i), starting);
      });
    }
    return sweeps.map((camera) => camera.seconds());
  }

  private rows(sql: string, cameras: readonly TruckCamera[], [from, to]: Slice): Promise<PackedRow[]> {
    const listed = cameras.map(({ connectionId, truckId, names }, camera) => ({
      ...{ camera, names },
      ...{ connection: connectionId, truck: truckId },
    }));
    return this.dataSource.query(sql, [JSON.stringify(listed), new Date(from), new Date(to)]);
  }
}

const ofCamera = (rows: readonly PackedRow[], i: number): PackedRow[] => rows.filter(({ camera }) => camera === i);

/** The first one begins before the grid, by the length of the longest chunks that `PIECES` has not. */
function slicesOf({ fromMs, toMs }: BucketGrid): Slice[] {
  const starts = Array.from({ length: Math.ceil((toMs - fromMs) / SLICE_MS) }, (_, i) => fromMs + i * SLICE_MS);
  return starts.map((start, i) => [i === 0 ? start - LONG_MS : start, Math.min(start + SLICE_MS, toMs)]);
}
