import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DAY_STATES } from '../recordings/coverage-days.rules.js';
import { FAILED_CLIPS, type TruckCamera } from './coverage.repository.js';
import { type BucketGrid, bucketCount, bucketRange, RANK, stateSeconds, type StateSeconds } from './coverage.rules.js';
import type { Recorded } from './packed-recordings.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface DayRow {
  readonly camera: number;
  readonly name: string;
  /** After the first day. */
  readonly day: number;
  readonly is_shared: boolean;
  /** 24 numbers of stored milliseconds if there are no others, else 96. */
  readonly hours: string;
}

/** `OFFSET 0`: the whole key is known before a row is looked for. Else PostgreSQL skips through all cameras of a truck. */
const NAMED_CAMERAS = `(
  SELECT camera, hauler_id, connection, truck, name FROM json_to_recordset($1::json)
    AS cameras (camera integer, connection uuid, truck text, names text[])
    JOIN connections ON connections.id = connection, unnest(names) AS name OFFSET 0) AS cameras`;

const CAMERAS = `
  json_to_recordset($1::json) AS cameras (camera integer, connection uuid, truck text, names text[])
  JOIN connections ON connections.id = connection, unnest(names) AS name`;

/** Reading 96 numbers of each camera and day would take twice as long. */
const HOURS = `CASE WHEN d.milliseconds[25:96] = array_fill(0::bigint, ARRAY[72])
  THEN array_to_string(d.milliseconds[1:24], ' ') ELSE array_to_string(d.milliseconds, ' ') END`;

/** The coverage of cameras from their sums by hour. */
@Injectable()
export class FleetSums {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The seconds of each state by camera and bucket; undefined where the recordings have to be read: buckets of parts of an hour (zones such
   * as India's), recordings that share time, clips, clips that never came, erased ranges, cameras with recordings under two
   * names, days with recordings whose sums were lost, and cameras without any sums, which have next to no recordings to read.
   * `unrecorded`: of each camera, what is still to come and what was not read.
   */
  async of(
    cameras: readonly TruckCamera[],
    grid: BucketGrid,
    unrecorded: readonly (readonly Recorded[])[],
  ): Promise<(StateSeconds[] | undefined)[]> {
    const { fromMs, toMs } = grid;
    const edges = Array.from({ length: bucketCount(grid) }, (_, i) => bucketRange(grid, i)).flat();
    if (cameras.length === 0 || edges.some((edge) => edge % HOUR_MS !== 0)) return cameras.map(() => undefined);
    const first = Math.floor(fromMs / DAY_MS);
    const listed = JSON.stringify(
      cameras.map(({ connectionId, truckId, names }, camera) => ({
        camera,
        connection: connectionId,
        truck: truckId,
        names,
      })),
    );
    const dayOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);
    const rows = await this.dataSource.query<DayRow[]>(
      `SELECT camera, name, d.day - $2::date AS day, d.is_shared, ${HOURS} AS hours FROM ${NAMED_CAMERAS}
       JOIN LATERAL (SELECT day, is_shared, milliseconds FROM coverage_days AS sums
         WHERE (sums.hauler_id, connection_id, truck_id, camera_id) = (cameras.hauler_id, connection, truck, name)
           AND day BETWEEN $2 AND $3 OFFSET 0) AS d ON true`,
      [listed, dayOf(first), dayOf(Math.floor((toMs - 1) / DAY_MS))],
    );
    const failed = await this.dataSource.query<{ camera: number }[]>(
      `SELECT DISTINCT camera FROM ${FAILED_CLIPS}, ${CAMERAS}
       WHERE (q.hauler_id, q.connection_id, q.truck_id, q.camera_id) = (connections.hauler_id, connection, truck, name)
         AND part.start_time < $3 AND part.end_time > $2
       UNION
       SELECT camera FROM ${CAMERAS}, erasures AS e
       WHERE (e.hauler_id, e.connection_id, e.truck_id) = (connections.hauler_id, connection, truck)
         AND e.status IN ('running', 'done') AND (e.camera_id IS NULL OR lower(btrim(e.camera_id)) = lower(btrim(name)))
         AND e.start_time < $3 AND e.end_time > $2`,
      [listed, new Date(fromMs), new Date(toMs)],
    );
    const lost = await this.lostSums(cameras, rows, grid);
    const unknown = new Set([...failed, ...lost].map(({ camera }) => camera));
    return sumsOf(cameras.length, rows, unknown, grid).map(
      (own, i) => own && secondsOf(own, grid, unrecorded[i] ?? []),
    );
  }

  /** The cameras with a recording on days without sums. Looks for one recording of each gap, by the index. */
  private async lostSums(cameras: readonly TruckCamera[], rows: readonly DayRow[], grid: BucketGrid) {
    const gaps = gapsOf(cameras, rows, grid);
    if (gaps.length === 0) return [];
    return this.dataSource.query<{ camera: number }[]>(
      `SELECT DISTINCT camera FROM json_to_recordset($1::json)
           AS gaps (camera integer, connection uuid, truck text, name text, "from" timestamptz, "to" timestamptz)
         JOIN connections ON connections.id = connection
       WHERE (SELECT true FROM recordings r
         WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id) = (connections.hauler_id, connection, truck, name)
           AND r.start_time > gaps."from" - interval '1 hour' AND r.start_time < gaps."to" AND r.end_time > gaps."from" LIMIT 1)`,
      [JSON.stringify(gaps)],
    );
  }
}

interface Gap {
  readonly camera: number;
  readonly connection: string;
  readonly truck: string;
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

/** The times without sums of those cameras that have others. */
function gapsOf(cameras: readonly TruckCamera[], rows: readonly DayRow[], { fromMs, toMs }: BucketGrid): Gap[] {
  const first = Math.floor(fromMs / DAY_MS);
  const known = new Map<number, Map<string, Set<number>>>();
  for (const { camera, name, day } of rows) {
    const names = known.get(camera) ?? new Map<string, Set<number>>();
    known.set(camera, names.set(name, (names.get(name) ?? new Set()).add(first + day)));
  }
  return [...known].flatMap(([camera, days]) => {
    const { connectionId: connection, truckId: truck, names } = cameras[camera] as TruckCamera;
    return names.flatMap((name) =>
      daysWithout(days.get(name) ?? new Set(), first, Math.ceil(toMs / DAY_MS)).map(([start, end]) => ({
        ...{ camera, connection, truck, name },
        from: new Date(Math.max(start * DAY_MS, fromMs)),
        to: new Date(Math.min(end * DAY_MS, toMs)),
      })),
    );
  });
}

/** The ranges `[start, end)` of days from `first` until before `last` that are not known. */
function daysWithout(known: ReadonlySet<number>, first: number, last: number): (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  for (let start = first; start < last; start++) {
    if (known.has(start)) continue;
    let end = start + 1;
    while (end < last && !known.has(end)) end++;
    found.push([start, end]);
    start = end;
  }
  return found;
}

function sumsOf(
  count: number,
  rows: readonly DayRow[],
  failed: ReadonlySet<number>,
  grid: BucketGrid,
): (Float64Array | undefined)[] {
  const buckets = bucketCount(grid);
  const sums = Array.from({ length: count }, () => new Float64Array(buckets * DAY_STATES.length));
  const names = new Map<number, string>();
  const unknown = new Set(failed);
  const places = bucketsOfHours(grid);
  for (const { camera, name, day, is_shared, hours } of rows) {
    if (is_shared || (names.get(camera) ?? name) !== name) unknown.add(camera);
    names.set(camera, name);
    const own = sums[camera];
    if (own === undefined || unknown.has(camera)) continue;
    hours.split(' ').forEach((text, i) => {
      const bucket = places[day * 24 + (i % 24)] ?? -1;
      const place = bucket * DAY_STATES.length + Math.floor(i / 24);
      const milliseconds = Number(text);
      // Of rows that an older version wrote without their sums.
      if (milliseconds < 0) unknown.add(camera);
      if (bucket >= 0) own[place] = (own[place] ?? 0) + milliseconds;
    });
  }
  return sums.map((own, camera) => (unknown.has(camera) || !names.has(camera) ? undefined : own));
}

/** The bucket of each hour from the start of the first day (UTC) on; -1 outside. */
function bucketsOfHours(grid: BucketGrid): Int32Array {
  const first = Math.floor(grid.fromMs / DAY_MS) * DAY_MS;
  const places = new Int32Array(Math.ceil((grid.toMs - first) / DAY_MS) * 24).fill(-1);
  for (let bucket = 0; bucket < bucketCount(grid); bucket++) {
    const [start, end] = bucketRange(grid, bucket);
    places.fill(bucket, (start - first) / HOUR_MS, (end - first) / HOUR_MS);
  }
  return places;
}

function secondsOf(sums: Float64Array, grid: BucketGrid, unrecorded: readonly Recorded[]): StateSeconds[] {
  return Array.from({ length: bucketCount(grid) }, (_, bucket) => {
    const [start, end] = bucketRange(grid, bucket);
    const states = sums.subarray(bucket * DAY_STATES.length, (bucket + 1) * DAY_STATES.length);
    const [stored = 0, available = 0, expired = 0, failed = 0] = states.map((milliseconds) => milliseconds / 1000);
    const seconds = (end - start) / 1000;
    let rest = seconds - stored - available - expired - failed;
    // What is recorded of it is not known: of a time that is not read it is nothing.
    const within = (rank: number): number => {
      const own = unrecorded.filter((piece) => piece.rank === rank);
      const all = own.reduce((sum, piece) => sum + shared(piece, start * 1000, end * 1000), 0) / 1_000_000;
      const part = Math.min(rest, all);
      rest -= part;
      return part;
    };
    const [future, unread] = [within(RANK.future), within(RANK.unread)];
    return stateSeconds(seconds, { stored, available, expired, failed, future, clipFailed: 0, unread });
  });
}

const shared = (piece: Recorded, start: number, end: number): number =>
  Math.max(0, Math.min(piece.end, end) - Math.max(piece.start, start));
