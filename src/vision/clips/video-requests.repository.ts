import { Injectable } from '@nestjs/common';
import type { OrderVideoRequest, VideoRequestQuery } from '../../contracts/admin/video-requests.routes.js';
import { isWithin } from '../holds/held.sql.js';
import type { Range } from '../range.js';
import type { CameraKey } from '../truck.js';
import { FILE_REMOVED } from '../../contracts/admin/recordings.routes.js';
import { MAX_HISTORY } from '../../contracts/admin/history.dto.js';
import { Database } from '../../core/database/database.js';
import { type ListPage, listPage } from '../../core/database/list-page.js';
import type { Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import type { RequestState } from './clip-requests.rules.js';

/** What is needed of a request beside its answer, which has all columns of `find`. */
export interface RequestRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly status: RequestState;
}

/** Likewise of a part. */
export interface PartRow {
  readonly request_id: string;
  readonly partner_request_id: string | null;
  /** Retention has deleted a file of it. */
  readonly reason_code: typeof FILE_REMOVED | null;
  readonly recording_ids: string[];
}

export interface NewRequest extends CameraKey, Range {
  readonly id: string;
  readonly customerId: string;
  readonly deadlineMs: number;
  readonly createdBy: string;
}

/** A step of a part that changed something. */
export interface ClipEvent {
  /** Contains the time. */
  readonly id: string;
  /** The number of the part. */
  readonly part: number;
  readonly recordingId: string | null;
  readonly kind: 'submitted' | 'poll' | 'download' | 'link-replaced' | 'state';
  readonly text: string;
}

/** By the database's clock, which also decides when it has passed. Milliseconds, because it is read as a JavaScript date. */
const DEADLINE = "date_trunc('milliseconds', now()) + $6::float8 * interval '1 ms'";

/** Video requests as the admin API creates and shows them, with their parts and steps. Jobs change them: `ClipsRepository`. */
@Injectable()
export class VideoRequestsRepository {
  constructor(private readonly database: Database) {}

  /** The confirmed erasure that has closed a part of this range. */
  async erasureOf(
    haulerId: string,
    range: OrderVideoRequest,
    database: Sql = this.database,
  ): Promise<string | undefined> {
    const { connectionId, truckId, cameraId, startTime, endTime } = range;
    const row = await database.first<{ id: string }>(
      `SELECT erasure.id FROM erasures AS erasure, (SELECT $1::uuid AS hauler_id, $2::uuid AS connection_id,
         $3::text AS truck_id, $4::text AS camera_id, $5::timestamptz AS start_time, $6::timestamptz AS end_time) AS clip
       WHERE erasure.status IN ('running', 'done') AND ${isWithin('clip', 'erasure')} LIMIT 1`,
      [haulerId, connectionId, truckId, cameraId, startTime, endTime],
    );
    return row?.id;
  }

  async insert(transaction: Sql, request: NewRequest, ranges: readonly Range[]): Promise<void> {
    const { haulerId, connectionId, customerId, truckId, cameraId, deadlineMs, id, startTime, endTime, createdBy } =
      request;
    const common = [haulerId, connectionId, customerId, truckId, cameraId, deadlineMs, id];
    await transaction.query(
      `INSERT INTO video_requests (hauler_id, connection_id, customer_id, truck_id, camera_id, deadline_at, id,
         start_time, end_time, status, created_at, updated_at, created_by)
       VALUES ($1, $2, $3, $4, $5, ${DEADLINE}, $7, $8, $9, 'submitting', now(), now(), $10)`,
      [...common, startTime, endTime, createdBy],
    );
    await transaction.query(
      `INSERT INTO video_request_parts (hauler_id, connection_id, customer_id, truck_id, camera_id, deadline_at,
         request_id, number, id, start_time, end_time, status, due_at)
       SELECT $1, $2, $3, $4, $5, ${DEADLINE}, $7, part.number, part.id, part.starts, part.ends, 'submitting', now()
       FROM unnest($8::uuid[], $9::timestamptz[], $10::timestamptz[])
         WITH ORDINALITY AS part (id, starts, ends, number)`,
      [
        ...common,
        ranges.map(() => uuidv7()),
        ranges.map((range) => range.startTime),
        ranges.map((range) => range.endTime),
      ],
    );
  }

  inTransaction<T>(work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  /** Ids, newest first. */
  page(query: VideoRequestQuery): Promise<ListPage<{ readonly id: string }>> {
    const { connectionId = null, truckId = null, status = null, haulerId = null, overlaps } = query;
    const sql = `SELECT id, hauler_id AS list_hauler FROM video_requests WHERE ($1::uuid IS NULL OR connection_id = $1)
      AND ($2::text IS NULL OR truck_id = $2) AND ($3::text IS NULL OR status = $3)
      AND ($4::uuid IS NULL OR hauler_id = $4)
      AND ($5::timestamptz IS NULL OR start_time < $6 AND end_time > $5)`;
    const list = {
      name: 'video-requests',
      sql,
      parameters: [connectionId, truckId, status, haulerId, overlaps?.from ?? null, overlaps?.to ?? null],
    };
    return listPage(this.database, { ...list, hasHaulers: true, key: ['id'], order: 'DESC' }, query);
  }

  /** Newest first. */
  find(ids: readonly string[]): Promise<RequestRow[]> {
    return this.database.query<RequestRow>(
      `SELECT hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time, end_time, status, reason,
         deadline_at AS deadline, created_at, updated_at, created_by
       FROM video_requests WHERE id = ANY ($1::uuid[]) ORDER BY id DESC`,
      [ids],
    );
  }

  partsOf(requests: readonly RequestRow[]): Promise<PartRow[]> {
    return this.database.query<PartRow>(
      `SELECT request_id, number, start_time, end_time, status, coalesce(reason, last_error) AS reason, partner_request_id,
         CASE WHEN status = 'expired' AND part.file_removed_at IS NOT NULL THEN '${FILE_REMOVED}' END AS reason_code,
         ARRAY(SELECT r.id FROM recordings r WHERE r.hauler_id = part.hauler_id AND r.part_id = part.id
               ORDER BY r.start_time, r.id)::text[] AS recording_ids
       FROM video_request_parts AS part
       WHERE (hauler_id, request_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) ORDER BY number`,
      [requests.map(({ hauler_id }) => hauler_id), requests.map(({ id }) => id)],
    );
  }

  /** The steps of a request, newest first. */
  events(haulerId: string, requestId: string): Promise<ClipEvent[]> {
    return this.database.query<ClipEvent>(
      `SELECT e.id, part.number AS part, e.recording_id AS "recordingId", e.kind, e.text
       FROM clip_events e JOIN video_request_parts part ON (part.hauler_id, part.id) = (e.hauler_id, e.part_id)
       WHERE e.hauler_id = $1 AND e.request_id = $2 ORDER BY e.id DESC LIMIT ${MAX_HISTORY}`,
      [haulerId, requestId],
    );
  }
}
