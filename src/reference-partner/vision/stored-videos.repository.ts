import type { DataSource } from 'typeorm';
import type { ClipGap } from '../../contracts/vision/vision.dto.js';
import type { Instant } from '../../contracts/common/instant.js';
import type { PageRequest } from '../../contracts/common/pagination.dto.js';
import { instantSql } from '../../database/instant-sql.js';
import { type Inventory, inventoryOf } from '../../storage/inventory.js';
import { storageName } from '../../storage/storage-name.js';
import type { TruckCamera } from './cameras.js';
import { type DayCounted, dayCountedPage } from '../../database/day-counted-list.js';

/** What trucks have recorded, and what was cut out of it. */
export type FilmKind = 'recordings' | 'clips';

/** Of the storage; the platform side has a `recordings` of its own there. */
const FILM_FOLDERS: Readonly<Record<FilmKind, string>> = {
  recordings: 'hosted-recordings',
  clips: 'hosted-clips',
};

export const filmName = (kind: FilmKind, id: string): string => storageName(FILM_FOLDERS[kind], id);

/** A stored recording or clip, as its row tells. */
export interface Film {
  readonly id: string;
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Instant;
  readonly endTime: Instant;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly requestId?: string;
  /** Of a clip. */
  readonly gaps?: ClipGap[] | null;
}

export interface FilmQuery {
  readonly customerId: string;
  readonly truckId: string | undefined;
  /** Any, where it is absent. */
  readonly cameras: readonly TruckCamera[] | undefined;
  readonly startTime: Instant | undefined;
  readonly endTime: Instant | undefined;
}

/** A column of time as the canonical `Instant`, under a name of its own. */
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

const LIST = { filters: ['customer_id', 'truck_id', 'camera_id'], direction: 'ASC', range: 'overlap' } as const;

const RECORDINGS: DayCounted = {
  ...LIST,
  table: 'reference_recordings',
  days: 'reference_recording_days',
  columns: COLUMNS,
};
const CLIPS: DayCounted = {
  ...LIST,
  table: 'reference_clips',
  days: 'reference_clip_days',
  columns: [...COLUMNS, 'request_id AS "requestId"', 'gaps'],
};

const FILM_TABLES: Readonly<Record<FilmKind, DayCounted>> = { recordings: RECORDINGS, clips: CLIPS };

/** The files of the partner side in the storage. */
export const hostedInventories = (dataSource: DataSource): Inventory[] => [
  inventoryOf(dataSource, { table: RECORDINGS.table, folder: FILM_FOLDERS.recordings, where: 'true' }),
  inventoryOf(dataSource, { table: CLIPS.table, folder: FILM_FOLDERS.clips, where: 'true' }),
];

/** What overlaps `[startTime, endTime)`, oldest first, then by id (decision 42). */
export function listFilms(
  dataSource: DataSource,
  kind: FilmKind,
  { customerId, truckId, cameras, startTime, endTime }: FilmQuery,
  page: PageRequest,
): Promise<{ rows: Film[]; total: number }> {
  const ofOneTruck = truckId === undefined ? undefined : cameras?.map(({ cameraId }) => cameraId);
  const query = {
    where: { customer_id: customerId, truck_id: truckId, camera_id: ofOneTruck },
    oneOf: truckId === undefined ? cameras && ofSeveralTrucks(cameras) : undefined,
    from: startTime,
    to: endTime,
  };
  return dayCountedPage<Film>(dataSource, FILM_TABLES[kind], query, page);
}

const ofSeveralTrucks = (cameras: readonly TruckCamera[]) => ({
  columns: ['truck_id', 'camera_id'],
  rows: cameras.map(({ truckId, cameraId }) => [truckId, cameraId]),
});

export async function findFilm(
  dataSource: DataSource,
  kind: FilmKind,
  column: 'id' | 'request_id',
  id: string,
): Promise<Film | undefined> {
  const { table, columns } = FILM_TABLES[kind];
  const rows = await dataSource.query<Film[]>(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${column} = $1`, [id]);
  return rows[0];
}

/** Every chunk of one camera that touches a range, oldest first. */
export async function chunksOf(
  dataSource: DataSource,
  { customerId, truckId, cameraId }: Pick<Film, 'customerId' | 'truckId' | 'cameraId'>,
  range: Pick<Film, 'startTime' | 'endTime'>,
): Promise<Film[]> {
  return dataSource.query<Film[]>(
    `SELECT ${COLUMNS.join(', ')} FROM reference_recordings
     WHERE (customer_id, truck_id, camera_id) = ($1, $2, $3) AND start_time >= $4::timestamptz - interval '24 hours'
       AND start_time < $5 AND end_time > $4 ORDER BY reference_recordings.start_time, id`,
    [customerId, truckId, cameraId, range.startTime, range.endTime],
  );
}
