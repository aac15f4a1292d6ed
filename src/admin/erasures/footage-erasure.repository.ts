import { type Sql } from '../../core/database/sql.js';
import { isHeld, isWithin } from '../../vision/holds/held.sql.js';
import { forgetDays, RECORDED_TIME, type RecordedTime } from '../../vision/recordings/coverage-days.repository.js';

interface Key {
  readonly hauler_id: string;
  readonly id: string;
}

export interface ErasedRecording extends Key {
  readonly part_id: string | null;
  readonly partner_recording_id: string;
  readonly size_bytes: string | null;
}

/** The recordings that overlap the range of the erasure $2 of the hauler $1. */
export const FOOTAGE_OF_ERASURE = `erasures AS erasure JOIN recordings AS r ON ${isWithin('r', 'erasure')}
    AND r.start_time > erasure.start_time - interval '31 days'
  WHERE erasure.hauler_id = $1 AND erasure.id = $2`;

export async function countFootage(
  database: Sql,
  { hauler_id, id }: Key,
): Promise<{ readonly recordings: number; readonly bytes: number }> {
  const row = await database.only<{ recordings: number; bytes: string }>(
    `SELECT count(*)::float8 AS recordings, coalesce(sum(r.size_bytes), 0)::text AS bytes FROM ${FOOTAGE_OF_ERASURE}`,
    [hauler_id, id],
  );
  return { recordings: row.recordings, bytes: Number(row.bytes) };
}

export async function countFootageExchanges(database: Sql, { hauler_id, id }: Key): Promise<number> {
  const row = await database.only<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM exchanges WHERE hauler_id = $1 AND refs && ARRAY(
       SELECT unnest(ARRAY['recordingId:' || r.id, 'partnerRecordingId:' || r.partner_recording_id]) FROM ${FOOTAGE_OF_ERASURE})`,
    [hauler_id, id],
  );
  return row.count;
}

export function findFootage(database: Sql, { hauler_id, id }: Key, limit: number): Promise<ErasedRecording[]> {
  return database.query<ErasedRecording>(
    `SELECT r.hauler_id, r.id, r.part_id, r.partner_recording_id, r.size_bytes FROM ${FOOTAGE_OF_ERASURE}
     ORDER BY r.start_time, r.id LIMIT $3`,
    [hauler_id, id, limit],
  );
}

/** Ends its download. Returns false if a hold keeps it, or if it is gone. The caller has locked removals. */
export async function deleteRecording(database: Sql, { hauler_id, id }: Key): Promise<boolean> {
  const deleted = await database.query<RecordedTime>(
    `DELETE FROM recordings AS r WHERE r.hauler_id = $1 AND r.id = $2 AND NOT ${isHeld('r')} RETURNING ${RECORDED_TIME}`,
    [hauler_id, id],
  );
  if (deleted.length === 0) return false;
  await forgetDays(database, deleted);
  const key = [hauler_id, id];
  await database.query('UPDATE clip_events SET recording_id = NULL WHERE hauler_id = $1 AND recording_id = $2', key);
  await database.query('DELETE FROM recording_shares WHERE hauler_id = $1 AND recording_id = $2', key);
  return true;
}
