import type { Sql } from '../../core/database/sql.js';
import { IS_HELD, isWithin } from '../holds/held.sql.js';
import { forgetDays, RECORDED_TIME, type RecordedTime } from '../recordings/coverage-days.repository.js';
import { KEPT } from './retention.repository.js';

/** The states of recordings that have no file and wait for none. */
export const ENDED = ['expired', 'failed'] as const;

export interface EndedRecording {
  readonly id: string;
  readonly start_time: Date;
  /** As PostgreSQL reads it, in microseconds. */
  readonly start: string;
}

/** At most `limit` that began before a time, after those up to `last`, from the index alone; without haulers that keep everything for ever. */
export function findEnded(
  database: Sql,
  status: (typeof ENDED)[number],
  before: Date,
  last: EndedRecording | undefined,
  limit: number,
): Promise<EndedRecording[]> {
  return database.query<EndedRecording>(
    `SELECT id, start_time, start_time::text AS start FROM recordings
     WHERE status = $1 AND start_time < $2 AND ($3::timestamptz IS NULL OR (start_time, id) > ($3::timestamptz, $4::uuid))
       AND connection_id IN (SELECT c.id FROM connections AS c JOIN ${KEPT} AS kept USING (hauler_id))
     ORDER BY start_time, id LIMIT $5`,
    [status, before, last?.start ?? null, last?.id ?? null, limit],
  );
}

/**
 * Deletes those that nothing keeps: a hauler that keeps its source for ever, a hold, a running erasure, or the retention where the
 * recording ended without a file within it. The caller has locked removals. `months`: those of the rows, as bounds of partitions.
 */
export async function deleteEnded(
  database: Sql,
  ids: readonly string[],
  months: readonly [Date, Date],
): Promise<number> {
  const deleted = await database.query<RecordedTime>(
    `DELETE FROM recordings AS r USING ${KEPT} AS kept
     WHERE r.id = ANY ($1::uuid[]) AND r.start_time >= $2 AND r.start_time < $3 AND r.status IN ('expired', 'failed')
       AND (kept.hauler_id, kept.source) = (r.hauler_id, r.source)
       AND (r.deleted_at IS NOT NULL OR r.updated_at < now() - kept.days * interval '1 day') AND NOT ${IS_HELD}
       AND NOT EXISTS (SELECT FROM erasures AS erasure WHERE erasure.status = 'running' AND ${isWithin('r', 'erasure')})
     RETURNING ${RECORDED_TIME}`,
    [ids, ...months],
  );
  await forgetDays(database, deleted);
  return deleted.length;
}
