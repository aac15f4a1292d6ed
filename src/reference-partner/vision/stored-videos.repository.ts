import type { DataSource } from 'typeorm';
import type { ClipGap } from '../../contracts/vision/vision.dto.js';
import type { Instant } from '../../contracts/common/instant.js';
import type { PageRequest } from '../../contracts/common/pagination.dto.js';
import { instantSql, type Querying } from '../../database/sql.js';
import { type Inventory, inventoryOf } from '../../storage/inventory.repository.js';
import { storageName } from '../../storage/storage.js';
import type { TruckCamera } from './cameras.repository.js';

/** Recordings are uploaded; clips are cut out of them. */
export type VideoKind = 'recordings' | 'clips';

/** Folders of the storage. The folder `recordings` belongs to the platform side. */
const VIDEO_FOLDERS: Readonly<Record<VideoKind, string>> = {
  recordings: 'reference-recordings',
  clips: 'reference-clips',
};

export const videoFileName = (kind: VideoKind, id: string): string => storageName(VIDEO_FOLDERS[kind], id);

/** The row of a stored recording or clip. */
export interface StoredVideo {
  readonly id: string;
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Instant;
  readonly endTime: Instant;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly requestId?: string;
  /** Only of clips. */
  readonly gaps?: ClipGap[] | null;
}

export interface StoredVideoQuery {
  readonly customerId: string;
  readonly truckId: string | undefined;
  /** Undefined: all cameras. */
  readonly cameras: readonly TruckCamera[] | undefined;
  readonly startTime: Instant | undefined;
  readonly endTime: Instant | undefined;
}

/** A time column as a canonical `Instant`, with an alias. */
export const instantAs = (column: string, name: string): string => `${instantSql(column)} AS "${name}"`;

const COLUMNS = [
  'id',
  'customer_id AS "customerId"',
  'truck_id AS "truckId"',
  'camera_id AS "cameraId"',
  instantAs('start_time', 'startTime'),
  instantAs('end_time', 'endTime'),
  'size_bytes::float8 AS "sizeBytes"',
  'sha256',
];

interface VideoTable {
  readonly table: string;
  readonly columns: readonly string[];
}

const RECORDINGS: VideoTable = { table: 'reference_recordings', columns: COLUMNS };
const CLIPS: VideoTable = { table: 'reference_clips', columns: [...COLUMNS, 'request_id AS "requestId"', 'gaps'] };

const VIDEO_TABLES: Readonly<Record<VideoKind, VideoTable>> = { recordings: RECORDINGS, clips: CLIPS };

/** The files of the reference partner in the storage, and the rows that refer to them. */
export const referenceInventories = (dataSource: Querying): Inventory[] => [
  inventoryOf(dataSource, {
    table: RECORDINGS.table,
    folder: VIDEO_FOLDERS.recordings,
    where: 'true',
    owner: 'customer_id',
  }),
  inventoryOf(dataSource, { table: CLIPS.table, folder: VIDEO_FOLDERS.clips, where: 'true', owner: 'customer_id' }),
];

/** Longest recording. A list of what overlaps a time looks back so far. */
export const MAX_RECORDING_MS = 86_400_000;

/** Parameters: customer, truck, start, end, trucks and cameras. */
const LISTED = `customer_id = $1 AND ($2::text IS NULL OR truck_id = $2)
  AND ($3::timestamptz IS NULL OR (start_time > $3::timestamptz - interval '24 hours' AND end_time > $3))
  AND ($4::timestamptz IS NULL OR start_time < $4)
  AND ($5::text[] IS NULL OR (truck_id, camera_id) IN (SELECT * FROM unnest($5::text[], $6::text[])))`;

/** The videos that overlap `[startTime, endTime)`, oldest first, then by id (decision 42), and how many there are. */
export async function listVideos(
  dataSource: DataSource,
  kind: VideoKind,
  { customerId, truckId, cameras, startTime, endTime }: StoredVideoQuery,
  page: PageRequest,
): Promise<{ rows: StoredVideo[]; total: number }> {
  const { table, columns } = VIDEO_TABLES[kind];
  const names = [cameras?.map((camera) => camera.truckId), cameras?.map((camera) => camera.cameraId)];
  const parameters = [customerId, truckId, startTime, endTime, ...names].map((value) => value ?? null);
  const order = `ORDER BY ${table}.start_time, id`;
  // Indexes have all columns of the inner query: it reads no rows.
  const rows = await dataSource.query<StoredVideo[]>(
    `SELECT ${columns.join(', ')} FROM ${table}
     WHERE id IN (SELECT id FROM ${table} WHERE ${LISTED} ${order} OFFSET $7 LIMIT $8) ${order}`,
    [...parameters, page.offset, page.pageSize],
  );
  const [counted] = await dataSource.query<[{ total: number }]>(
    `SELECT count(*)::float8 AS total FROM ${table} WHERE ${LISTED}`,
    parameters,
  );
  return { rows, total: counted.total };
}

export async function findVideo(
  dataSource: DataSource,
  kind: VideoKind,
  column: 'id' | 'request_id',
  id: string,
): Promise<StoredVideo | undefined> {
  const { table, columns } = VIDEO_TABLES[kind];
  const rows = await dataSource.query<StoredVideo[]>(
    `SELECT ${columns.join(', ')} FROM ${table} WHERE ${column} = $1`,
    [id],
  );
  return rows[0];
}

/** All recordings of one camera that overlap a range, oldest first. */
export async function chunksOf(
  dataSource: DataSource,
  { customerId, truckId, cameraId }: Pick<StoredVideo, 'customerId' | 'truckId' | 'cameraId'>,
  range: Pick<StoredVideo, 'startTime' | 'endTime'>,
): Promise<StoredVideo[]> {
  return dataSource.query<StoredVideo[]>(
    `SELECT ${COLUMNS.join(', ')} FROM reference_recordings
     WHERE (customer_id, truck_id, camera_id) = ($1, $2, $3) AND start_time >= $4::timestamptz - interval '24 hours'
       AND start_time < $5 AND end_time > $4 ORDER BY reference_recordings.start_time, id`,
    [customerId, truckId, cameraId, range.startTime, range.endTime],
  );
}

type NewVideo = Omit<StoredVideo, 'startTime' | 'endTime' | 'gaps' | 'requestId'>;

export async function hasRecordingAt(
  database: Querying,
  { customerId, truckId, cameraId, startTime }: Pick<StoredVideo, 'customerId' | 'truckId' | 'cameraId' | 'startTime'>,
): Promise<boolean> {
  const rows = await database.query<unknown[]>(
    'SELECT 1 FROM reference_recordings WHERE (customer_id, truck_id, camera_id, start_time) = ($1, $2, $3, $4)',
    [customerId, truckId, cameraId, startTime],
  );
  return rows.length > 0;
}

export async function insertRecording(
  database: Querying,
  video: NewVideo & Pick<StoredVideo, 'startTime' | 'endTime'>,
): Promise<void> {
  const { id, customerId, truckId, cameraId, startTime, endTime, sizeBytes, sha256 } = video;
  await database.query(
    `INSERT INTO reference_recordings (id, customer_id, truck_id, camera_id, start_time, end_time, size_bytes, sha256)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, customerId, truckId, cameraId, startTime, endTime, sizeBytes, sha256],
  );
}

/** `gaps` is JSON. */
export async function insertClip(
  database: Querying,
  clip: NewVideo & {
    readonly requestId: string;
    readonly startTime: Date;
    readonly endTime: Date;
    readonly gaps: string | null;
  },
): Promise<void> {
  const { id, requestId, customerId, truckId, cameraId, startTime, endTime, sizeBytes, sha256, gaps } = clip;
  await database.query(
    `INSERT INTO reference_clips (id, request_id, customer_id, truck_id, camera_id, start_time, end_time, size_bytes, sha256,
       gaps)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [id, requestId, customerId, truckId, cameraId, startTime, endTime, sizeBytes, sha256, gaps],
  );
}

/** The end of the last recording of a customer, in milliseconds since the epoch; null if it has none. */
export async function lastRecordingEnd(database: Querying, customerId: string): Promise<number | null> {
  const [row] = await database.query<{ value: number | null }[]>(
    'SELECT extract(epoch FROM max(end_time))::float8 * 1000 AS value FROM reference_recordings WHERE customer_id = $1',
    [customerId],
  );
  return row?.value ?? null;
}
