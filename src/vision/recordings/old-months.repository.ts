import { partitionExists } from '../../database/partitions.repository.js';
import type { Partition } from '../../database/partitions.rules.js';
import type { Querying } from '../../database/sql.js';
import { isHeld, isWithin } from '../holds/held.sql.js';
import { forgetDays, RECORDED_TIME, type RecordedTime } from './coverage-days.repository.js';
import { DAYS_OF, RETENTION } from './retention.repository.js';

/** A recording `r` that has a file, or may get one. */
const HAS_FILE = "r.status IN ('stored', 'available')";

/**
 * Whether a recording `r` without a file stays, with the retention `kept` of its hauler: for ever, or because it ended without a file
 * more recently. A hauler that is not known keeps everything.
 */
const STAYS = `(${DAYS_OF} IS NULL OR r.deleted_at IS NULL AND r.updated_at >= now() - ${DAYS_OF} * interval '1 day')`;

const KEPT_OF = `LEFT JOIN ${RETENTION} AS kept ON kept.hauler_id = r.hauler_id`;

/** Until the end of the transaction. False if another instance has it, or has dropped it. */
export async function lockMonth(database: Querying, { name }: Partition): Promise<boolean> {
  const [row] = await database.query<[{ locked: boolean }]>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked',
    [`month: ${name}`],
  );
  return row.locked && (await partitionExists(database, name));
}

/**
 * Whether anything keeps a month, by indexes alone, because everybody waits for the table meanwhile: a recording that has a file or may
 * get one, a hauler that keeps for ever, or an active hold or a running erasure over any part of it. A recording may reach into the time
 * of a hold that begins after the month.
 */
export async function isKept(database: Querying, { name, from, to }: Partition): Promise<boolean> {
  const [row] = await database.query<[{ kept: boolean }]>(
    `SELECT EXISTS (SELECT FROM ${name} AS r WHERE ${HAS_FILE})
       OR EXISTS (SELECT FROM holds WHERE released_at IS NULL AND start_time < $2 AND end_time > $1)
       OR EXISTS (SELECT FROM holds AS hold JOIN ${name} AS r ON ${isWithin('r', 'hold')}
         WHERE hold.released_at IS NULL AND hold.start_time >= $2)
       OR EXISTS (SELECT FROM erasures WHERE status = 'running' AND start_time < $2 AND end_time > $1)
       OR EXISTS (SELECT FROM ${RETENTION} AS kept
         WHERE kept.continuous_days IS NULL
             AND EXISTS (SELECT FROM ${name} AS r WHERE r.hauler_id = kept.hauler_id AND r.part_id IS NULL)
           OR kept.on_demand_days IS NULL
             AND EXISTS (SELECT FROM ${name} AS r WHERE r.hauler_id = kept.hauler_id AND r.part_id IS NOT NULL)) AS kept`,
    [from, to],
  );
  return row.kept;
}

/**
 * Whether a recording ended without a file so recently that it stays. Reads the whole month, so nobody may wait for it: one that is tried
 * again and fails between this question and the drop is dropped, and has no file.
 */
export async function hasRecent(database: Querying, { name }: Partition): Promise<boolean> {
  const [row] = await database.query<[{ recent: boolean }]>(
    `SELECT EXISTS (SELECT FROM ${name} AS r ${KEPT_OF} WHERE ${STAYS}) AS recent`,
    [],
  );
  return row.recent;
}

/** Writes down what stays known of a month that is dropped: by connection, how far its chunks are gone, and the clips whose files were deleted. */
export async function rememberMonth(database: Querying, { name, to }: Partition): Promise<void> {
  const next = (after: string) => `SELECT r.hauler_id, r.connection_id FROM ${name} AS r WHERE r.part_id IS NULL${after}
    ORDER BY r.hauler_id, r.connection_id LIMIT 1`;
  await database.query(
    `WITH RECURSIVE one AS (
       (${next('')})
       UNION ALL
       SELECT following.* FROM one, LATERAL (
         ${next(' AND (r.hauler_id, r.connection_id) > (one.hauler_id, one.connection_id)')}) AS following)
     INSERT INTO recording_floors AS floor (hauler_id, connection_id, start_before)
     SELECT hauler_id, connection_id, $1 FROM one
     ON CONFLICT (hauler_id, connection_id) DO UPDATE SET start_before = greatest(floor.start_before, excluded.start_before)`,
    [to],
  );
  await database.query(
    `UPDATE video_request_parts AS part SET rows_dropped_at = now() FROM ${name} AS r
     WHERE r.part_id IS NOT NULL AND r.deleted_at IS NOT NULL AND (part.hauler_id, part.id) = (r.hauler_id, r.part_id)`,
    [],
  );
}

/** The sums of the days of a month are not known any more, and those of the month after it, into which its recordings may reach. */
export async function forgetMonth(database: Querying, { from, to }: Partition): Promise<void> {
  await database.query(
    `UPDATE coverage_days SET stored = NULL, expired = NULL, failed = NULL
     WHERE day >= $1::date AND day < $2::date + 31 AND stored IS NOT NULL`,
    [from.slice(0, 10), to.slice(0, 10)],
  );
}

/**
 * Deletes up to `limit` rows before a time from the partition of the rest by the same rule, and returns how many. Months have no meaning
 * there: each row is decided by itself.
 */
export async function deleteFromRest(database: Querying, rest: string, before: Date, limit: number): Promise<number> {
  const deleted = await database.query<RecordedTime[]>(
    `WITH gone AS (
       DELETE FROM ${rest} AS r WHERE r.id IN (
         SELECT r.id FROM ${rest} AS r ${KEPT_OF}
         WHERE r.start_time < $1 AND date_trunc('month', r.start_time, 'UTC') + interval '1 month' < $1
           AND NOT ${HAS_FILE} AND NOT ${STAYS} AND NOT ${isHeld('r')}
           AND NOT EXISTS (SELECT FROM erasures AS erasure WHERE erasure.status = 'running' AND ${isWithin('r', 'erasure')})
         ORDER BY r.start_time LIMIT $2 FOR UPDATE OF r SKIP LOCKED)
       RETURNING r.id, r.part_id, r.deleted_at, ${RECORDED_TIME}),
     floors AS (
       INSERT INTO recording_floors AS floor (hauler_id, connection_id, start_before)
       SELECT hauler_id, connection_id, date_trunc('month', max(start_time), 'UTC') + interval '1 month' FROM gone
       WHERE part_id IS NULL GROUP BY hauler_id, connection_id ORDER BY hauler_id, connection_id
       ON CONFLICT (hauler_id, connection_id) DO UPDATE SET start_before = greatest(floor.start_before, excluded.start_before)),
     clips AS (
       UPDATE video_request_parts AS part SET rows_dropped_at = now() FROM gone
       WHERE gone.deleted_at IS NOT NULL AND (part.hauler_id, part.id) = (gone.hauler_id, gone.part_id))
     SELECT ${RECORDED_TIME} FROM gone`,
    [before, limit],
  );
  await forgetDays(database, deleted);
  return deleted.length;
}
