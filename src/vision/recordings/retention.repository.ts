import type { Querying } from '../../database/sql.js';

/** A stored file whose recording is older than the retention. */
export interface OldRecording {
  readonly hauler_id: string;
  readonly id: string;
  /** Of a clip. */
  readonly part_id: string | null;
  readonly size_bytes: string;
  /** As PostgreSQL reads it, in microseconds. */
  readonly stored_at: string;
}

/** At most `limit` files stored before a time and after those up to `last`, the oldest first. */
export function findStoredBefore(
  database: Querying,
  before: Date,
  last: OldRecording | undefined,
  limit: number,
): Promise<OldRecording[]> {
  return database.query(
    `SELECT hauler_id, id, part_id, size_bytes, stored_at::text AS stored_at FROM recordings
     WHERE status = 'stored' AND stored_at < $1
       AND ($2::timestamptz IS NULL OR (stored_at, id) > ($2::timestamptz, $3::uuid))
     ORDER BY recordings.stored_at, id LIMIT $4`,
    [before, last?.stored_at, last?.id, limit],
  );
}

export async function countStoredBefore(
  database: Querying,
  before: Date,
): Promise<{ readonly recordings: number; readonly bytes: number }> {
  const [row] = await database.query<[{ recordings: number; bytes: string }]>(
    `SELECT count(*)::int AS recordings, coalesce(sum(size_bytes), 0) AS bytes FROM recordings
     WHERE status = 'stored' AND stored_at < $1`,
    [before],
  );
  return { recordings: row.recordings, bytes: Number(row.bytes) };
}

/** The row of a deleted file stays, with the reason. Returns false if another process has marked it. */
export async function markDeleted(
  database: Querying,
  { hauler_id, id }: Pick<OldRecording, 'hauler_id' | 'id'>,
  reason: string,
): Promise<boolean> {
  const [, marked] = await database.query<[unknown[], number]>(
    `UPDATE recordings SET status = 'expired', reason = $3, deleted_at = now(), updated_at = now()
     WHERE hauler_id = $1 AND id = $2 AND status = 'stored'`,
    [hauler_id, id, reason],
  );
  return marked > 0;
}
