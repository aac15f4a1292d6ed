import type { TestApp } from './app.js';

/**
 * Rows that the product cannot make or show, written and read for tests. With `time.ts`, the only SQL of the tests: a change of
 * a table is one edit.
 */

const VIDEO_SOURCES = ['video_windows', 'video_subscriptions', 'video_polls'];
const VIDEO_ROWS = ['recordings', 'video_request_parts', 'video_requests', 'vision_findings'];

/**
 * Deletes the sources of recordings first, so that running work cannot write any more. TRUNCATE would deadlock with
 * running work.
 */
export async function deleteVideoRows(app: TestApp): Promise<void> {
  for (const table of [...VIDEO_SOURCES, ...VIDEO_ROWS]) await app.dataSource.query(`DELETE FROM ${table}`);
}

interface PollRow {
  readonly isRunning: boolean;
  /** It has ended, and the next one is not due. */
  readonly isIdle: boolean;
  /** Seconds until it is due. */
  readonly inSeconds: number;
  readonly error: string | null;
}

function theOnly<Row>([row, ...others]: readonly Row[], what: string): Row {
  if (row === undefined || others.length > 0) throw new Error(`there are ${others.length} other ${what}, or none`);
  return row;
}

/** The one poll of the customer. */
export async function readPoll(app: TestApp): Promise<PollRow> {
  const rows = await app.dataSource.query<PollRow[]>(
    `SELECT started_at IS NOT NULL AS "isRunning", started_at IS NULL AND due_at > now() AS "isIdle", extract(epoch FROM due_at - now())::float8 AS "inSeconds",
       last_error AS error FROM video_polls`,
  );
  return theOnly(rows, 'polls');
}

interface PartTimes {
  readonly status: string;
  readonly polls: number;
  /** Seconds. */
  readonly fromSubmitToPoll: number;
  readonly toDeadline: number;
  readonly toDue: number;
  readonly wasJustPolled: boolean;
}

/** Times of the clip of this id, or of the only one. */
export async function readPart(app: TestApp, requestId: string | null = null): Promise<PartTimes> {
  const rows = await app.dataSource.query<PartTimes[]>(
    `SELECT status, polls, extract(epoch FROM next_poll_at - submitted_at)::float8 AS "fromSubmitToPoll",
       extract(epoch FROM deadline_at - now())::float8 AS "toDeadline",
       extract(epoch FROM due_at - now())::float8 AS "toDue",
       polled_individually_at > now() - interval '1 minute' AS "wasJustPolled"
     FROM video_request_parts WHERE $1::text IS NULL OR partner_request_id = $1`,
    [requestId],
  );
  return theOnly(rows, 'clips');
}

/** A connection with so many clips that were requested long ago, under the ids r1, r2 and so on. */
export async function addOpenClips(app: TestApp, connectionId: string, count: number): Promise<void> {
  await app.dataSource.query(
    `INSERT INTO video_requests (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time, end_time,
       status, deadline_at, created_at, updated_at)
     SELECT hauler_id, gen_random_uuid(), id, customer_id, 'TRUCK-7', 'front', now(), now(), 'processing',
       now() + interval '1 day', now(), now() FROM connections, generate_series(1, $2) WHERE id = $1`,
    [connectionId, count],
  );
  await app.dataSource.query(
    `INSERT INTO video_request_parts (hauler_id, id, request_id, number, connection_id, customer_id, truck_id, camera_id,
       start_time, end_time, status, partner_request_id, deadline_at, polls, next_poll_at, submitted_at, polled_individually_at)
     SELECT hauler_id, gen_random_uuid(), id, 1, connection_id, customer_id, truck_id, camera_id, '2026-01-31T08:30:00Z',
       '2026-01-31T08:35:00Z', 'processing', 'r' || row_number() OVER (), deadline_at, 5, now(), now(), now()
     FROM video_requests WHERE connection_id = $1`,
    [connectionId],
  );
  await app.dataSource.query(
    `INSERT INTO video_polls (hauler_id, connection_id, customer_id, due_at)
     SELECT hauler_id, id, customer_id, now() FROM connections WHERE id = $1`,
    [connectionId],
  );
}

interface WindowRow {
  readonly start_time: Date;
  readonly end_time: Date;
  readonly due_at: Date | null;
  readonly attempts: number;
  readonly reason: string | null;
  readonly isReread: boolean;
}

/** Times of subscriptions that are still to be read, the oldest first. */
export const readWindows = (app: TestApp): Promise<WindowRow[]> =>
  app.dataSource.query(
    `SELECT start_time, end_time, due_at, attempts, reason, reread_day IS NOT NULL AS "isReread" FROM video_windows
     ORDER BY start_time`,
  );

/** A window of a subscription that failed: its times are hours from now, `due_at` is null where it was given up. */
export const addWindow = (
  app: TestApp,
  subscriptionId: string,
  {
    from,
    to,
    attempts = 1,
    dueInHours = 1,
  }: { from: number; to: number; attempts?: number; dueInHours?: number | null },
): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, last_error,
       attempts, due_at)
     SELECT hauler_id, gen_random_uuid(), id, connection_id, now() + $2 * interval '1 hour', now() + $3 * interval '1 hour',
       'oops', 'oops', $4, now() + $5 * interval '1 hour' FROM video_subscriptions WHERE id = $1`,
    [subscriptionId, from, to, attempts, dueInHours],
  );

/** Failures in a row, the last error, and seconds until the only subscription, poll or window is due. */
export async function readDue(app: TestApp, table: 'video_polls' | 'video_subscriptions' | 'video_windows') {
  const rows = await app.dataSource.query<[{ attempts: number; error: string | null; inSeconds: number }]>(
    `SELECT attempts, last_error AS error, extract(epoch FROM due_at - now())::float8 AS "inSeconds" FROM ${table}`,
  );
  return rows[0];
}

/** Runs `work` while another transaction holds what `lock` locks. */
export const whileLocked = <T>(
  app: TestApp,
  lock: 'findings' | 'polls',
  work: (lockParts: () => Promise<void>) => Promise<T>,
): Promise<T> =>
  app.dataSource.transaction(async (other) => {
    await other.query(
      lock === 'findings' ? 'LOCK TABLE vision_findings IN EXCLUSIVE MODE' : 'SELECT 1 FROM video_polls FOR UPDATE',
    );
    return work(async () => {
      await other.query("SET LOCAL lock_timeout = '500ms'");
      await other.query('SELECT 1 FROM video_request_parts FOR UPDATE');
    });
  });

/** A hauler with one vision connection to an address that need not exist. */
export async function addVisionConnection(
  app: TestApp,
  row: { haulerId: string; id: string; baseUrl: string; sealedKey: string },
): Promise<void> {
  await app.dataSource.query("INSERT INTO haulers (id, name) VALUES ($1, 'Test')", [row.haulerId]);
  await app.dataSource.query(
    `INSERT INTO connections (hauler_id, id, interface, base_url, sealed_key, customer_id, interval_seconds, enabled,
       created_at, updated_at)
     VALUES ($1, $2, 'vision', $3, $4, 'customer-1', 300, true, now(), now())`,
    [row.haulerId, row.id, row.baseUrl, row.sealedKey],
  );
}
