import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { epochMillis } from '../../contracts/common/instant.js';
import type { Recording, Video } from '../../contracts/vision/vision.dto.js';
import { instantSql } from '../../database/instant-sql.js';
import { uuidv7 } from '../../database/uuid.js';
import { keepCameraNames } from '../camera-names.store.js';
import { comparableName } from '../spelling.js';
import { MOST_CLIPS } from '../requests/match-video.js';
import type { Part } from '../requests/parts.store.js';
import type { VisionConnection } from '../vision-connections.js';
import { fetchBy } from './fetch-by.js';
import { distinctChunks, isOutgrown, type Known, knownByCamera } from './known-chunks.js';

/** A partner that reckons its times anew at each listing must not have its chunks fetched each time. */
const JITTER = "interval '1 second'";

/**
 * Stored rows that one listed chunk is compared with, the likeliest first: a partner that gives one id to thousands of
 * chunks must not have each compared with each.
 */
const MOST_ALIKE = 20;

type ClipRow = Pick<Recording, 'cameraId' | 'startTime' | 'endTime'>;

/** Takes listed recordings in: each row is a file to fetch. */
@Injectable()
export class RecordingStore {
  /**
   * The clips of one part, at most `MOST_CLIPS` in all; what is there already stays. Of one camera and range there is one,
   * under whatever id: partners have made ids anew at each listing. Returns whether there was room for all of them. To be
   * called while nobody else adds to the part.
   */
  async addClips(manager: EntityManager, part: Part, clips: readonly Video[]): Promise<boolean> {
    const distinct = new Map(clips.map((clip) => [clipOf(clip), clip]));
    await keepCameraNames(manager, part, [...distinct.values()]);
    const stored = await manager.query<ClipRow[]>(
      `SELECT camera_id AS "cameraId", ${instantSql('start_time')} AS "startTime", ${instantSql('end_time')} AS "endTime"
       FROM recordings WHERE hauler_id = $1 AND part_id = $2`,
      [part.haulerId, part.id],
    );
    for (const clip of stored) distinct.delete(clipOf(clip));
    const fresh = [...distinct.values()].slice(0, Math.max(0, MOST_CLIPS - stored.length));
    await this.insert(manager, part.haulerId, part.connectionId, fresh, part.id);
    return fresh.length === distinct.size;
  }

  /**
   * The chunks of one page. A known one that waits gets the link if that lives longer, and the range that is listed now;
   * one that had expired is fetched after all; one that has grown since it was fetched is fetched again, beside the
   * former. Returns how many are to be fetched that were not before, or by another link. To be called in a transaction of
   * its own: it takes a lock for its connection.
   */
  async addChunks(manager: EntityManager, connection: VisionConnection, chunks: readonly Recording[]): Promise<number> {
    const { haulerId, id: connectionId } = connection;
    if (chunks.length === 0) return 0;
    await manager.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`recordings: ${connectionId}`]);
    const distinct = distinctChunks(chunks);
    const known = await this.known(manager, haulerId, connectionId, distinct);
    const fresh = distinct.filter((_, i) => {
      const row = known.get(i);
      return row === undefined || isOutgrown(row);
    });
    // Before the insert: the end of a download holds its row and waits for the count of its day, so that whoever waits for
    // rows may hold no day.
    const revived = await this.relist(manager, haulerId, distinct, [...known.values()]);
    const created = await this.insert(manager, haulerId, connectionId, fresh, null);
    return created + revived;
  }

  /**
   * What is stored of the listed chunks. By id, where truck, camera and time agree as well, for partners have reused ids;
   * else by truck, camera and range (decision 48).
   */
  private async known(
    manager: EntityManager,
    haulerId: string,
    connectionId: string,
    chunks: readonly Recording[],
  ): Promise<Map<number, Known>> {
    // Two lookups, for each of which one index is the best even before there are statistics of the table: by partner, and
    // by truck. With an OR, or if the second said `source` too, so that the planner could take the first one's index for
    // it, all rows of the connection were read for each chunk (3,000 chunks: 1.8 s).
    const ours = 'r.hauler_id = $1 AND r.connection_id = $2 AND r.truck_id = listed.truck';
    const columns = `r.id, r.status, r.camera_id AS camera,
           (r.start_time = listed.starts AND r.end_time = listed.ends) AS same_range,
           (r.start_time <= listed.starts + ${JITTER} AND r.end_time >= listed.ends - ${JITTER}) AS covered`;
    const rows = await manager.query<Known[]>(
      `SELECT (listed.place - 1)::integer AS place, found.*
       FROM unnest($3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])
         WITH ORDINALITY AS listed (id, truck, camera, starts, ends, place)
       CROSS JOIN LATERAL (
         (SELECT ${columns} FROM recordings r
          WHERE ${ours} AND r.source = 'continuous' AND r.partner_recording_id = listed.id
            AND r.start_time < listed.ends AND r.end_time > listed.starts
          ORDER BY r.camera_id = listed.camera DESC, same_range DESC, covered DESC LIMIT ${MOST_ALIKE})
         UNION ALL
         SELECT ${columns} FROM recordings r
         WHERE ${ours} AND r.part_id IS NULL AND r.camera_id = listed.camera
           AND r.start_time = listed.starts AND r.end_time = listed.ends
       ) AS found
       ORDER BY found.same_range DESC, found.covered DESC`,
      [haulerId, connectionId, ...columnsOf(chunks)],
    );
    return knownByCamera(chunks, rows);
  }

  private async relist(
    manager: EntityManager,
    haulerId: string,
    chunks: readonly Recording[],
    known: readonly Known[],
  ): Promise<number> {
    const now = Date.now();
    const links = known
      .filter(({ status }) => status === 'available' || status === 'expired')
      .flatMap((row) => {
        const chunk = chunks[row.place];
        const dead = chunk?.expiresAt !== undefined && epochMillis(chunk.expiresAt) <= now;
        return chunk === undefined || dead ? [] : [{ id: row.id, chunk }];
      });
    if (links.length === 0) return 0;
    const [, revived] = await manager.query<[unknown[], number]>(
      `UPDATE recordings AS r SET link = listed.link, expires_at = listed.expires_at, fetch_by = listed.fetch_by,
         start_time = listed.starts, end_time = listed.ends, duration_seconds = listed.seconds,
         due_at = CASE WHEN r.status = 'expired' THEN now() ELSE r.due_at END,
         status = 'available', updated_at = now()
       FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[],
         $8::integer[]) AS listed (id, link, expires_at, fetch_by, starts, ends, seconds)
       WHERE r.hauler_id = $1 AND r.id = listed.id AND r.deleted_at IS NULL AND r.lease_token IS NULL
         AND (r.status = 'expired' OR (r.status = 'available' AND (r.link IS NULL OR r.fetch_by < listed.fetch_by
           OR (r.start_time, r.end_time) <> (listed.starts, listed.ends))))`,
      [
        haulerId,
        links.map(({ id }) => id),
        links.map(({ chunk }) => chunk.downloadUrl),
        links.map(({ chunk }) => chunk.expiresAt ?? null),
        links.map(({ chunk }) => fetchBy(chunk.expiresAt, now)),
        links.map(({ chunk }) => chunk.startTime),
        links.map(({ chunk }) => chunk.endTime),
        links.map(({ chunk }) => chunk.durationSeconds),
      ],
    );
    return revived;
  }

  private async insert(
    manager: EntityManager,
    haulerId: string,
    connectionId: string,
    listed: readonly Recording[],
    partId: string | null,
  ): Promise<number> {
    if (listed.length === 0) return 0;
    const now = Date.now();
    const rows = await manager.query<unknown[]>(
      `INSERT INTO recordings (hauler_id, connection_id, part_id, source, id, customer_id, partner_recording_id, truck_id,
         camera_id, start_time, end_time, duration_seconds, status, link, expires_at, fetch_by, created_at, updated_at, due_at)
       SELECT $1, $2, $3, $4, listed.id, customer, partner_id, truck, camera, starts, ends, seconds, 'available', link,
         expires, fetch_by, now(), now(), now()
       FROM unnest($5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::timestamptz[], $10::uuid[], $11::text[],
         $12::integer[], $13::text[], $14::timestamptz[], $15::timestamptz[])
         AS listed (partner_id, truck, camera, starts, ends, id, customer, seconds, link, expires, fetch_by)
       ON CONFLICT DO NOTHING RETURNING 1`,
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
      ],
    );
    return rows.length;
  }
}

/** Partner's id, truck, camera, start, end: one array each. */
const columnsOf = (listed: readonly Recording[]): unknown[][] => [
  listed.map(({ id }) => id),
  listed.map(({ truckId }) => truckId),
  listed.map(({ cameraId }) => cameraId),
  listed.map(({ startTime }) => startTime),
  listed.map(({ endTime }) => endTime),
];

/** What a clip of one part is recognised by. */
const clipOf = ({ cameraId, startTime, endTime }: ClipRow): string =>
  JSON.stringify([comparableName(cameraId), startTime, endTime]);
