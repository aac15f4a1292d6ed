import { epochMillis } from '../../contracts/common/instant.js';
import type { Recording, Video } from '../../contracts/vision/vision.api.js';
import { monthsOf } from '../../core/database/partitions.rules.js';
import { instantSql, type Sql } from '../../core/database/sql.js';
import type { VisionConnection } from '../client/vision-connections.repository.js';
import { lockRecordings, namesByTruck, noteCameras, storeCameraNames } from './camera-names.repository.js';
import {
  distinctChunks,
  fetchBy,
  gapsOf,
  hasGrown,
  hasOtherNames,
  knownByCamera,
  type KnownChunk,
  MAX_CLIPS_PER_PART,
  RECORDINGS_FOLDER,
} from './recording.rules.js';
import { Injectable } from '@nestjs/common';
import { uuidv7 } from '../../core/database/uuid.js';
import { type Inventory, inventoryOf } from '../../core/storage/inventory.repository.js';
import type { CameraKey } from '../truck.js';
import { comparableName } from './camera-names.rules.js';
import { isErased } from '../holds/held.sql.js';
import { forgetDays, RECORDED_TIME, type RecordedTime } from './coverage-days.repository.js';

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
const columnsOf = (listed: readonly Recording[]): unknown[][] => [
  listed.map(({ id }) => id),
  listed.map(({ truckId }) => truckId),
  listed.map(({ cameraId }) => cameraId),
  listed.map(({ startTime }) => startTime),
  listed.map(({ endTime }) => endTime),
];

/** The months in which recordings that match listed chunks begin. */
function monthsOfChunks(chunks: readonly Recording[]): readonly [Date, Date] {
  const times = chunks.map(({ startTime, endTime }) => [epochMillis(startTime), epochMillis(endTime)] as const);
  const first = times.map(([start, end]) => start - Math.max(end - start, LOOKBACK_MS));
  return monthsOf(Math.min(...first), Math.max(...times.map(([, end]) => end)));
}

/** The part of a request that the clips belong to. */
type ClipPart = CameraKey & { readonly id: string; readonly partnerRequestId: string | null };

type ClipRow = Pick<Recording, 'cameraId' | 'startTime' | 'endTime'>;

/** Stores listed recordings. Each row is a file to download. */
@Injectable()
export class RecordingsRepository {
  /**
   * Adds the clips of one part, up to `MAX_CLIPS_PER_PART` in all. A clip is identified by camera and range, because some
   * partners generate ids for each list. Returns how many are new, and whether all were within the limit. The caller holds
   * the poll's row.
   */
  async addClips(
    transaction: Sql,
    part: ClipPart,
    clips: readonly Video[],
  ): Promise<{ readonly added: number; readonly isWithinLimit: boolean }> {
    const distinct = new Map(clips.map((clip) => [clipKey(clip), clip]));
    const { partnerRequestId: requestId } = part;
    await lockRecordings(transaction, part.connectionId);
    const answered = [...distinct.values()].filter((clip) => requestId !== null && clip.requestId === requestId);
    await storeCameraNames(transaction, part, answered);
    const stored = await transaction.query<ClipRow>(
      `SELECT camera_id AS "cameraId", ${instantSql('start_time')} AS "startTime", ${instantSql('end_time')} AS "endTime"
       FROM recordings WHERE hauler_id = $1 AND part_id = $2`,
      [part.haulerId, part.id],
    );
    for (const clip of stored) distinct.delete(clipKey(clip));
    const fresh = [...distinct.values()].slice(0, Math.max(0, MAX_CLIPS_PER_PART - stored.length));
    const added = await this.insert(transaction, part.haulerId, part.connectionId, fresh, part.id);
    await noteCameras(transaction, added);
    await forgetDays(transaction, added);
    return { added: fresh.length, isWithinLimit: fresh.length === distinct.size };
  }

  /**
   * Adds the chunks of one page. A waiting one gets the listed range, and the listed link if that is valid for longer. An
   * expired one becomes available again. One that has grown since its download is added as another recording. Returns how
   * many were added or changed. Needs a transaction of its own, because it locks the connection's recordings.
   */
  async addChunks(transaction: Sql, connection: VisionConnection, chunks: readonly Recording[]): Promise<number> {
    const { haulerId, id: connectionId } = connection;
    if (chunks.length === 0) return 0;
    await lockRecordings(transaction, connectionId);
    const distinct = distinctChunks(chunks);
    const known = await knownChunks(transaction, connection, distinct);
    const fresh = distinct.filter((_, i) => {
      const row = known.get(i);
      return row === undefined || hasGrown(row);
    });
    const revived = await this.relist(transaction, haulerId, distinct, [...known.values()]);
    const created = await this.insert(transaction, haulerId, connectionId, fresh, null);
    const changed = [...revived, ...created];
    await noteCameras(transaction, changed);
    await forgetDays(transaction, changed);
    return changed.length;
  }

  /** Returns the rows that it has changed, with the time that they have or had. */
  private async relist(
    transaction: Sql,
    haulerId: string,
    chunks: readonly Recording[],
    known: readonly KnownChunk[],
  ): Promise<RecordedTime[]> {
    const now = Date.now();
    const links = known
      .filter(({ status }) => status !== 'stored')
      .flatMap((row) => {
        const chunk = chunks[row.place];
        return chunk === undefined ? [] : [{ id: row.id, start: row.start, chunk }];
      });
    if (links.length === 0) return [];
    return transaction.query<RecordedTime>(
      `WITH old AS (
         SELECT r.hauler_id, r.id, r.start_time, r.end_time, listed.*
         FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[],
           $8::integer[], $9::timestamptz[]) 
           AS listed (recording, new_link, expires, fetched_by, starts, ends, seconds, start)
         JOIN recordings AS r ON r.hauler_id = $1 AND r.id = listed.recording AND r.start_time = listed.start
         WHERE r.start_time >= $10 AND r.start_time < $11 AND r.deleted_at IS NULL AND r.started_at IS NULL
           AND (r.status IN ('expired', 'failed') OR (r.status = 'available' AND (r.link IS NULL OR r.fetch_by < listed.fetched_by
             OR (r.start_time, r.end_time) <> (listed.starts, listed.ends))))
         FOR UPDATE OF r)
       UPDATE recordings AS r SET link = old.new_link, expires_at = old.expires, fetch_by = old.fetched_by,
         start_time = old.starts, end_time = old.ends, duration_seconds = old.seconds,
         due_at = CASE WHEN r.status = 'available' THEN r.due_at ELSE now() END,
         tried_since = CASE WHEN r.status = 'available' THEN r.tried_since ELSE now() END,
         attempts = CASE WHEN r.status = 'available' THEN r.attempts ELSE 0 END,
         relinks = CASE WHEN r.status = 'available' THEN r.relinks ELSE 0 END,
         received_bytes = CASE WHEN r.status = 'available' THEN r.received_bytes ELSE 0 END,
         reason_code = NULL, status = 'available', updated_at = now()
       FROM old WHERE r.hauler_id = $1 AND r.id = old.id AND r.start_time = old.start_time
         AND r.start_time >= $10 AND r.start_time < $11
       RETURNING r.hauler_id, r.connection_id, r.truck_id, r.camera_id, least(old.start_time, r.start_time) AS start_time,
         greatest(old.end_time, r.end_time) AS end_time`,
      [
        haulerId,
        links.map(({ id }) => id),
        links.map(({ chunk }) => chunk.downloadUrl),
        links.map(({ chunk }) => chunk.expiresAt ?? null),
        links.map(({ chunk }) => fetchBy(chunk.expiresAt, now)),
        links.map(({ chunk }) => chunk.startTime),
        links.map(({ chunk }) => chunk.endTime),
        links.map(({ chunk }) => chunk.durationSeconds),
        links.map(({ start }) => start),
        ...monthsOfChunks(chunks),
      ],
    );
  }

  private async insert(
    transaction: Sql,
    haulerId: string,
    connectionId: string,
    listed: readonly Recording[],
    partId: string | null,
  ): Promise<RecordedTime[]> {
    if (listed.length === 0) return [];
    const now = Date.now();
    return transaction.query<RecordedTime>(
      `INSERT INTO recordings AS r (hauler_id, connection_id, part_id, source, id, customer_id, partner_recording_id, truck_id,
         camera_id, start_time, end_time, duration_seconds, status, link, expires_at, fetch_by, gaps, created_at,
         updated_at, due_at)
       SELECT hauler_id, connection_id, $3, $4, id, customer, partner_id, truck_id, camera_id, start_time, end_time, seconds,
         'available', link, expires, fetch_by, gaps, now(), now(), now()
       FROM (SELECT $1::uuid AS hauler_id, $2::uuid AS connection_id, * FROM unnest($5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::timestamptz[], $10::uuid[], $11::text[],
         $12::integer[], $13::text[], $14::timestamptz[], $15::timestamptz[], $16::jsonb[])
         AS element (partner_id, truck_id, camera_id, start_time, end_time, id, customer, seconds, link, expires, fetch_by,
           gaps)) AS listed
       WHERE NOT ${isErased('listed')}
       ON CONFLICT DO NOTHING RETURNING ${RECORDED_TIME}`,
      [
        haulerId,
        connectionId,
        partId,
        partId === null ? 'continuous' : 'on-demand',
        ...columnsOf(listed),
        listed.map(() => uuidv7()),
        listed.map(({ customerId }) => customerId),
        listed.map(({ durationSeconds }) => durationSeconds),
        listed.map(({ downloadUrl }) => downloadUrl),
        listed.map(({ expiresAt }) => expiresAt ?? null),
        listed.map(({ expiresAt }) => fetchBy(expiresAt, now)),
        listed.map((each) => (partId === null ? null : storedGaps(each))),
      ],
    );
  }
}

/** The files of the platform side in the storage. */
export const recordingInventory = (database: Sql): Inventory =>
  inventoryOf(database, {
    table: 'recordings',
    folder: RECORDINGS_FOLDER,
    where: "status = 'stored'",
    // The file of a removed one is deleted by retention.
    expectedWhere: `(status IN ('stored', 'available') OR deleted_at IS NOT NULL AND EXISTS (SELECT FROM removed_files AS file
      WHERE (file.hauler_id, file.recording_id) = (recordings.hauler_id, recordings.id)))`,
  });

function storedGaps(clip: Video): string | null {
  const gaps = gapsOf(clip);
  return gaps.length === 0 ? null : JSON.stringify(gaps);
}

/** The identity of a clip within its part. */
const clipKey = ({ cameraId, startTime, endTime }: ClipRow): string =>
  JSON.stringify([comparableName(cameraId), startTime, endTime]);
