import type { Sql } from '../../core/database/sql.js';
import type { ErasureTarget } from './erasures.repository.js';
import { isOfRange, isOfTruck } from './erasure.rules.js';
import { IS_HELD, isWithin } from '../../vision/holds/held.sql.js';
import { forgetDays, RECORDED_TIME, type RecordedTime } from '../../vision/recordings/coverage-days.repository.js';

interface FindingPart {
  readonly digest: string;
  readonly raw: string;
}

/** The kept parts of the lists of a partner: at most 10,000. */
function findParts(
  database: Sql,
  { hauler_id, connection_id }: Pick<ErasureTarget, 'hauler_id' | 'connection_id'>,
): Promise<FindingPart[]> {
  return database.query<FindingPart>(
    'SELECT digest, raw FROM vision_findings WHERE hauler_id = $1 AND connection_id = $2 AND raw IS NOT NULL',
    [hauler_id, connection_id],
  );
}

/** The digests of findings whose kept part is of the truck and the range of the erasure, of whichever camera. */
export async function namingFindings(database: Sql, target: ErasureTarget): Promise<string[]> {
  const { truck_id: truckId, from, to } = target;
  if (truckId === null || from === null || to === null) return [];
  const parts = await findParts(database, target);
  return parts.filter(({ raw }) => isOfTruck(raw, truckId) && isOfRange(raw, { from, to })).map(({ digest }) => digest);
}

/** The finding stays, with its place and reason. */
export async function redactFindings(
  database: Sql,
  { hauler_id, connection_id }: Pick<ErasureTarget, 'hauler_id' | 'connection_id'>,
  digests: readonly string[],
): Promise<number> {
  return database.change(
    `UPDATE vision_findings SET raw = '[erased]'
     WHERE hauler_id = $1 AND connection_id = $2 AND digest = ANY ($3::text[]) AND raw IS DISTINCT FROM '[erased]'`,
    [hauler_id, connection_id, digests],
  );
}

const body = (name: string): string =>
  `${name}_body = CASE WHEN ${name}_body IS NOT NULL THEN '[erased]' END, ${name}_sha256 = NULL,
   ${name}_form = CASE WHEN ${name}_body IS NOT NULL THEN 2 ELSE ${name}_form END`;

/** Bodies, their digests and the given references. Headers have no data of customers; those of a file name it. */
const REDACTED = `${body('request')}, ${body('response')}, ignored_fields = NULL,
  refs = ARRAY(SELECT ref FROM unnest(refs) AS ref WHERE ref <> ALL ($2::text[]))`;

/** Redacts the exchanges of a hauler with one of these references, in place. Returns how many. */
export async function redactByReference(
  database: Sql,
  haulerId: string,
  references: readonly string[],
): Promise<number> {
  return database.change(
    `UPDATE exchanges SET ${REDACTED},
       path = CASE WHEN refs && ARRAY(SELECT ref FROM unnest($2::text[]) AS ref WHERE ref LIKE 'recordingId:%')
         THEN '/[erased]' ELSE path END
     WHERE hauler_id = $1 AND refs && $2::text[]`,
    [haulerId, references],
  );
}

/** How many `redactByReference` would redact. */
export async function countByReference(
  database: Sql,
  haulerId: string,
  references: readonly string[],
): Promise<number> {
  const row = await database.only<{ count: number }>(
    'SELECT count(*)::float8 AS count FROM exchanges WHERE hauler_id = $1 AND refs && $2::text[]',
    [haulerId, references],
  );
  return row.count;
}

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
const FOOTAGE_OF_ERASURE = `erasures AS erasure JOIN recordings AS r ON ${isWithin('r', 'erasure')}
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
    `DELETE FROM recordings AS r WHERE r.hauler_id = $1 AND r.id = $2 AND NOT ${IS_HELD} RETURNING ${RECORDED_TIME}`,
    [hauler_id, id],
  );
  if (deleted.length === 0) return false;
  await forgetDays(database, deleted);
  const key = [hauler_id, id];
  await database.query('UPDATE clip_events SET recording_id = NULL WHERE hauler_id = $1 AND recording_id = $2', key);
  await database.query('DELETE FROM recording_shares WHERE hauler_id = $1 AND recording_id = $2', key);
  return true;
}
