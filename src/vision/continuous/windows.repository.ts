import type { Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import type { Span } from '../range.js';

/** A subscription. */
export interface SubscriptionKey {
  readonly hauler_id: string;
  readonly id: string;
  readonly connection_id: string;
}

export interface WindowRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly subscription_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  /** Null for a deferred window: no reading of this time has succeeded. */
  readonly reread_day: Date | null;
}

/** Longer than the furthest re-reading of most configurations; older readings are forgotten. */
const READINGS_KEPT = '90 days';

const datesOf = ({ start, end }: Span): [Date, Date] => [new Date(start), new Date(end)];

/** Adds a failed window to the deferred one that ends where it begins, up to 24 h, or stores it as a row of its own. */
export async function deferWindow(
  transaction: Sql,
  { hauler_id: haulerId, id, connection_id: connectionId }: SubscriptionKey,
  { readUntil, window, reason }: { readonly readUntil: Date; readonly window: Span; readonly reason: string },
): Promise<void> {
  const [start, end] = datesOf(window);
  const extended = await transaction.change(
    `UPDATE video_windows SET end_time = $4, reason = $5
     WHERE hauler_id = $1 AND subscription_id = $2 AND end_time = $3 AND started_at IS NULL AND due_at IS NOT NULL
       AND reread_day IS NULL AND start_time > $4::timestamptz - interval '24 hours'`,
    [haulerId, id, readUntil, end, reason],
  );
  if (extended > 0) return;
  await transaction.query(
    `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, due_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '1 minute')`,
    [haulerId, uuidv7(), id, connectionId, start, end, reason],
  );
}

/** Plans to read these days again. A day that still waits, or that was given up, is read from the earlier start to the later end. */
export async function planDays(transaction: Sql, key: SubscriptionKey, days: readonly Span[]): Promise<void> {
  const rows = days.map(({ start, end }) => ({ id: uuidv7(), starts: new Date(start), ends: new Date(end) }));
  await transaction.query(
    `INSERT INTO video_windows AS w (hauler_id, id, subscription_id, connection_id, start_time, end_time, reread_day, due_at)
     SELECT $1, day.id, $2, $3, day.starts, day.ends, (day.starts AT TIME ZONE 'UTC')::date, now()
     FROM json_to_recordset($4) AS day (id uuid, starts timestamptz, ends timestamptz) ORDER BY day.starts
     ON CONFLICT (hauler_id, subscription_id, reread_day) DO UPDATE SET reason = NULL,
       start_time = least(w.start_time, excluded.start_time), end_time = greatest(w.end_time, excluded.end_time),
       attempts = CASE WHEN w.due_at IS NULL THEN 0 ELSE w.attempts END, due_at = coalesce(w.due_at, now())`,
    [key.hauler_id, key.id, key.connection_id, JSON.stringify(rows)],
  );
}

/** As `planDays`, at once, with the deferred windows of this time, also those that were given up. */
export async function readDaysAgain(
  transaction: Sql,
  key: SubscriptionKey,
  window: Span,
  days: readonly Span[],
): Promise<void> {
  await planDays(transaction, key, days);
  await transaction.query(
    `UPDATE video_windows SET due_at = now(), attempts = 0, last_error = NULL
     WHERE hauler_id = $1 AND subscription_id = $2 AND started_at IS NULL AND start_time < $4 AND end_time > $3`,
    [key.hauler_id, key.id, ...datesOf(window)],
  );
}

/** Deletes a window that was read. Returns false where it has become longer meanwhile. The caller holds its row. */
export async function removeWindow(
  transaction: Sql,
  { hauler_id, id, start_time, end_time }: WindowRow,
): Promise<boolean> {
  const removed = await transaction.change(
    `DELETE FROM video_windows WHERE hauler_id = $1 AND id = $2 AND start_time >= $3
       AND date_trunc('milliseconds', end_time) <= $4`,
    [hauler_id, id, start_time, end_time],
  );
  return removed > 0;
}

/** Keeps when this time was read, for the coverage, in place of earlier readings within it. */
export async function recordReading(
  transaction: Sql,
  { hauler_id: haulerId, id }: Pick<SubscriptionKey, 'hauler_id' | 'id'>,
  window: Span,
  at: Date,
): Promise<void> {
  await transaction.query(
    `WITH replaced AS (
       DELETE FROM video_readings
       WHERE hauler_id = $1 AND subscription_id = $2 AND (start_time, end_time) <> ($3, $4)
         AND ((start_time >= $3 AND end_time <= $4) OR read_at < now() - interval '${READINGS_KEPT}'))
     INSERT INTO video_readings (hauler_id, subscription_id, start_time, end_time, read_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (hauler_id, subscription_id, start_time, end_time) DO UPDATE SET read_at = excluded.read_at`,
    [haulerId, id, ...datesOf(window), at],
  );
}
