import { epochMillis } from '../../contracts/common/instant.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { monthsOf } from '../../core/database/partitions.rules.js';
import type { Sql } from '../../core/database/sql.js';
import type { VisionConnection } from '../client/vision-connections.repository.js';
import { namesByTruck } from './camera-names.repository.js';
import { hasOtherNames, knownByCamera, type KnownChunk } from './recording.rules.js';

/** Some partners calculate the times again for each list. A different time alone is not another file. */
const TOLERANCE = "interval '1 second'";

/** A stored row with the id of a listed chunk began at most so long before it, or as long as the chunk is. */
const LOOKBACK_MS = 3_600_000;
const LOOKBACK = "interval '1 hour'";

/** Maximum number of stored rows with the id of a listed chunk: some partners give one id to thousands of chunks. */
const MAX_CANDIDATES = 20;

/**
 * Finds the stored rows of listed chunks: by id where truck, camera and time match as well, because partners have reused
 * ids, or else by truck, camera and range (decision 48).
 */
export async function knownChunks(
  transaction: Sql,
  { haulerId, id: connectionId }: VisionConnection,
  chunks: readonly Recording[],
): Promise<Map<number, KnownChunk>> {
  // Two lookups with one suitable index each, even without statistics, for which the second needs its LIMIT: with an OR PostgreSQL read all
  // rows of the connection for each chunk (1.8 s for 3,000 chunks). The months leave out the other partitions.
  const ours = `r.hauler_id = $1 AND r.connection_id = $2 AND r.truck_id = listed.truck AND r.start_time >= $3 AND r.start_time < $4
          AND r.part_id IS NULL`;
  const columns = `(listed.place - 1)::integer AS place, r.id, r.start_time::text AS start, r.status, r.camera_id AS camera,
           (r.start_time = listed.starts AND r.end_time = listed.ends) AS same_range,
           (r.start_time <= listed.starts + ${TOLERANCE} AND r.end_time >= listed.ends - ${TOLERANCE}) AS covered`;
  const rows = await transaction.query<KnownChunk>(
    `WITH listed AS MATERIALIZED (
         SELECT * FROM unnest($5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::timestamptz[])
           WITH ORDINALITY AS listed (id, truck, camera, starts, ends, place))
       SELECT * FROM (
         SELECT found.* FROM listed JOIN cameras AS own
           ON (own.hauler_id, own.connection_id, own.truck_id) = ($1, $2, listed.truck) AND own.first_at < listed.ends
             AND own.last_at > listed.starts - greatest(listed.ends - listed.starts, ${LOOKBACK}),
           LATERAL (SELECT ${columns} FROM recordings r
             WHERE ${ours} AND r.camera_id = own.name AND r.partner_recording_id = listed.id
               AND r.start_time > listed.starts - greatest(listed.ends - listed.starts, ${LOOKBACK})
               AND r.start_time < listed.ends AND r.end_time > listed.starts
             ORDER BY same_range DESC, covered DESC LIMIT ${MAX_CANDIDATES}) AS found
         UNION ALL
         SELECT found.* FROM listed, LATERAL (SELECT ${columns} FROM recordings r
           WHERE ${ours} AND r.camera_id = listed.camera AND r.start_time = listed.starts AND r.end_time = listed.ends LIMIT 1) AS found
       ) AS found
       ORDER BY found.same_range DESC, found.covered DESC`,
    [haulerId, connectionId, ...monthsOfChunks(chunks), ...columnsOf(chunks)],
  );
  const names = hasOtherNames(chunks, rows) ? await namesByTruck(transaction, connectionId, chunks) : undefined;
  return knownByCamera(chunks, rows, names);
}

/** One array each of: the partner's id, truck, camera, start, end. */
export const columnsOf = (listed: readonly Recording[]): unknown[][] => [
  listed.map(({ id }) => id),
  listed.map(({ truckId }) => truckId),
  listed.map(({ cameraId }) => cameraId),
  listed.map(({ startTime }) => startTime),
  listed.map(({ endTime }) => endTime),
];

/** The months in which recordings that match listed chunks begin. */
export function monthsOfChunks(chunks: readonly Recording[]): readonly [Date, Date] {
  const times = chunks.map(({ startTime, endTime }) => [epochMillis(startTime), epochMillis(endTime)] as const);
  const first = times.map(([start, end]) => start - Math.max(end - start, LOOKBACK_MS));
  return monthsOf(Math.min(...first), Math.max(...times.map(([, end]) => end)));
}
