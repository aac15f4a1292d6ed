import type { HostedVideoRequestQuery } from '../../contracts/admin/hosted.routes.js';
import type { CreateVideoRequest } from '../../contracts/vision/vision.api.js';
import { type ListPage, listPage, type SqlList } from '../../core/database/list-page.js';
import type { Sql } from '../../core/database/sql.js';
import type { ClipScenario } from '../sandbox/vision-scenarios.service.js';

/** Those of `HostedVideoRequest`. */
const COLUMNS =
  'id, customer_id, truck_id, camera_id, start_time, end_time, status, message, attempts, last_error, created_at, finished_at';

interface NewVideoRequest extends CreateVideoRequest {
  readonly id: string;
  readonly createdAt: Date;
  /** Until it is due; null: it never is. */
  readonly delaySeconds: number | null;
  readonly scenario: ClipScenario | null;
}

/**
 * Stores a request as `processing` and due after its delay. The statement resolves the camera name under a lock, because a
 * name that moves to another camera moves its requests too.
 */
export async function insertVideoRequest(database: Sql, request: NewVideoRequest): Promise<void> {
  const { id, customerId, truckId, cameraId, startTime, endTime, createdAt, delaySeconds, scenario } = request;
  await database.query(
    `INSERT INTO reference_video_requests (id, customer_id, truck_id, camera_id, start_time, end_time, status, due_at,
       sandbox, created_at)
     VALUES ($1, $2, $3, coalesce((SELECT camera_id FROM reference_camera_names
       WHERE (customer_id, truck_id, name) = ($2, $3, $4) FOR SHARE), $4), $5, $6, 'processing', now() + make_interval(secs => $7), $8, $9)`,
    [id, customerId, truckId, cameraId, startTime, endTime, delaySeconds, scenario, createdAt],
  );
}

export async function findVideoRequest(database: Sql, id: string): Promise<object | undefined> {
  const sql = `SELECT ${COLUMNS} FROM reference_video_requests WHERE id = $1`;
  return database.first<object>(sql, [id]);
}

/** Newest first. */
export function listVideoRequests(database: Sql, query: HostedVideoRequestQuery): Promise<ListPage<object>> {
  const list: SqlList = {
    name: 'hosted/video-requests',
    sql: `SELECT ${COLUMNS} FROM reference_video_requests WHERE ($1::text IS NULL OR status = $1)`,
    parameters: [query.status ?? null],
    key: ['created_at', 'id'],
    order: 'DESC',
  };
  return listPage(database, list, query);
}

/** Makes the clips of a customer due earlier: their due time is system time, while the customer's clock moves. */
export async function advanceDueClips(database: Sql, customerId: string, milliseconds: number): Promise<void> {
  await database.query(
    `UPDATE reference_video_requests SET due_at = due_at - make_interval(secs => $2::float8 / 1000)
     WHERE customer_id = $1 AND status = 'processing' AND due_at IS NOT NULL AND started_at IS NULL`,
    [customerId, milliseconds],
  );
}

/** Null if no clip of the customer is due. */
export async function millisecondsToNextClip(database: Sql, customerId: string): Promise<number | null> {
  const row = await database.first<{ value: number | null }>(
    `SELECT extract(epoch FROM min(due_at) - now())::float8 * 1000 AS value FROM reference_video_requests
     WHERE customer_id = $1 AND status = 'processing'`,
    [customerId],
  );
  return row?.value ?? null;
}
