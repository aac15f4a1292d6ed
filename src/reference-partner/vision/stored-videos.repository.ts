import type { HostedRecordingQuery } from '../../contracts/admin/hosted.routes.js';
import type { Instant } from '../../contracts/common/instant.js';
import type { PageRequest } from '../../contracts/common/pagination.dto.js';
import { onlyRow, type Sql } from '../../core/database/sql.js';
import { type Inventory, inventoryOf } from '../../core/storage/inventory.repository.js';
import { storageName } from '../../core/storage/storage-names.js';
import type { Published } from '../../core/storage/draft.js';
import type { ReferenceCamera } from './cameras.repository.js';

/** Recordings are uploaded; clips are recordings, or trimmed from them. */
export type VideoKind = 'recordings' | 'clips';

/** The row of a stored recording or clip. */
export interface VideoRow {
  readonly id: string;
  readonly customer_id: string;
  readonly truck_id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly size_bytes: number;
  readonly sha256: string;
  /** Of a clip that is a whole recording: it has no file of its own. */
  readonly recording_id?: string | null;
}

interface StoredVideoQuery {
  readonly customerId: string;
  readonly truckId?: string;
  /** Undefined: all cameras. */
  readonly cameras: readonly ReferenceCamera[] | undefined;
  readonly startTime?: Instant;
  readonly endTime?: Instant;
  /** Of clips alone. */
  readonly requestId: string | undefined;
}

const COLUMNS = 'id, customer_id, truck_id, camera_id, start_time, end_time, size_bytes::float8, sha256';

/** Longest recording. A list of what overlaps a time looks back so far. */
export const MAX_RECORDING_MS = 86_400_000;

/** Parameters: customer, truck, start, end, trucks and cameras. */
const LISTED = `customer_id = $1 AND ($2::text IS NULL OR truck_id = $2)
  AND ($3::timestamptz IS NULL OR (start_time > $3::timestamptz - interval '24 hours' AND end_time > $3))
  AND ($4::timestamptz IS NULL OR start_time < $4)
  AND ($5::text[] IS NULL OR (truck_id, camera_id) IN (SELECT * FROM unnest($5::text[], $6::text[])))`;

interface VideoTable {
  readonly table: string;
  /** In the storage, whose folder `recordings` belongs to the platform side. */
  readonly folder: string;
  readonly columns: string;
  /** The condition of a list. */
  readonly listed: string;
  /** The condition of rows with a file of their own. */
  readonly where: string;
}

const VIDEO_TABLES: Readonly<Record<VideoKind, VideoTable>> = {
  recordings: {
    table: 'reference_recordings',
    folder: 'reference-recordings',
    columns: COLUMNS,
    listed: LISTED,
    where: 'true',
  },
  clips: {
    table: 'reference_clips',
    folder: 'reference-clips',
    columns: `${COLUMNS}, request_id, recording_id`,
    listed: `${LISTED} AND ($7::uuid IS NULL OR request_id = $7)`,
    where: 'recording_id IS NULL',
  },
};

export const videoFileName = (kind: VideoKind, id: string): string => storageName(VIDEO_TABLES[kind].folder, id);

/** The file of a video. */
export const fileOf = (kind: VideoKind, { id, recording_id: recordingId }: VideoRow): string =>
  recordingId == null ? videoFileName(kind, id) : videoFileName('recordings', recordingId);

/** The files of the reference partner in the storage, and the rows that refer to them. */
export const referenceInventories = (database: Sql): Inventory[] =>
  Object.values(VIDEO_TABLES).map(({ table, folder, where }) => inventoryOf(database, { table, folder, where }));

/** The videos that overlap `[startTime, endTime)`, oldest first, then by id (decision 42), and how many there are. */
export async function listVideos(
  database: Sql,
  kind: VideoKind,
  { customerId, truckId, cameras, startTime, endTime, requestId }: StoredVideoQuery,
  page: PageRequest,
): Promise<{ rows: VideoRow[]; total: number }> {
  const { table, columns, listed } = VIDEO_TABLES[kind];
  const names = [cameras?.map((camera) => camera.truckId), cameras?.map((camera) => camera.cameraId)];
  const ofClips = kind === 'clips' ? [requestId] : [];
  const parameters = [customerId, truckId, startTime, endTime, ...names, ...ofClips].map((value) => value ?? null);
  // One statement, so that the total is that of the page. Indexes have all columns of the inner queries: they read no rows.
  const found = await database.query<VideoRow & { readonly total: number }>(
    `SELECT total, video.* FROM (SELECT count(*)::float8 AS total FROM ${table} WHERE ${listed}) AS counted
     LEFT JOIN (SELECT ${columns} FROM ${table}
       WHERE id = ANY (ARRAY(SELECT id FROM ${table} WHERE ${listed} ORDER BY start_time, id
         OFFSET ${page.offset} LIMIT ${page.pageSize}))) AS video ON true
     ORDER BY start_time, id`,
    parameters,
  );
  const { total } = onlyRow(found.slice(0, 1));
  return { rows: found.filter(({ id }) => id !== null), total };
}

export async function findVideo(database: Sql, kind: VideoKind, id: string): Promise<VideoRow | undefined> {
  const { table, columns } = VIDEO_TABLES[kind];
  return database.first<VideoRow>(`SELECT ${columns} FROM ${table} WHERE id = $1`, [id]);
}

/** All recordings of the camera of a request that overlap its range, oldest first. */
export async function recordingsOf(database: Sql, request: ClipRequest): Promise<VideoRow[]> {
  return database.query<VideoRow>(
    `SELECT ${COLUMNS} FROM reference_recordings
     WHERE (customer_id, truck_id, camera_id) = ($1, $2, $3) AND start_time >= $4::timestamptz - interval '24 hours'
       AND start_time < $5 AND end_time > $4 ORDER BY start_time, id`,
    [request.customer_id, request.truck_id, request.camera_id, request.start_time, request.end_time],
  );
}

export async function hasRecordingAt(
  database: Sql,
  { customerId, truckId, cameraId, startTime }: HostedRecordingQuery,
): Promise<boolean> {
  const rows = await database.query(
    'SELECT 1 FROM reference_recordings WHERE (customer_id, truck_id, camera_id, start_time) = ($1, $2, $3, $4)',
    [customerId, truckId, cameraId, startTime],
  );
  return rows.length > 0;
}

export async function insertRecording(
  database: Sql,
  id: string,
  { customerId, truckId, cameraId, startTime, endTime }: HostedRecordingQuery,
  { size, sha256 }: Published,
): Promise<void> {
  await database.query(
    `INSERT INTO reference_recordings (id, customer_id, truck_id, camera_id, start_time, end_time, size_bytes, sha256)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, customerId, truckId, cameraId, startTime, endTime, size, sha256],
  );
}

/** What the row of a request for clips has of them. */
export type ClipRequest = Omit<VideoRow, 'size_bytes' | 'sha256' | 'recording_id'>;

export interface NewClip {
  readonly id: string;
  /** The recording whose file is that of the clip; null: it has its own. */
  readonly recordingId: string | null;
  readonly startTime: Date;
  readonly endTime: Date;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export async function insertClips(database: Sql, request: ClipRequest, clips: readonly NewClip[]): Promise<void> {
  await database.query(
    `INSERT INTO reference_clips (request_id, customer_id, truck_id, camera_id, id, recording_id, start_time, end_time,
       size_bytes, sha256)
     SELECT $1, $2, $3, $4, clip.*
     FROM jsonb_to_recordset($5) AS clip (id uuid, "recordingId" uuid, "startTime" timestamptz, "endTime" timestamptz,
       "sizeBytes" bigint, sha256 text)`,
    [request.id, request.customer_id, request.truck_id, request.camera_id, JSON.stringify(clips)],
  );
}

/** The end of the last recording of a customer, in milliseconds since the epoch; null if it has none. */
export async function lastRecordingEnd(database: Sql, customerId: string): Promise<number | null> {
  const row = await database.first<{ value: number | null }>(
    'SELECT extract(epoch FROM max(end_time))::float8 * 1000 AS value FROM reference_recordings WHERE customer_id = $1',
    [customerId],
  );
  return row?.value ?? null;
}
