import type { Sql } from '../../core/database/sql.js';

/** The file of a recording that retention or an erasure has removed. It stays here until the file is deleted. */
export interface RemovedFile {
  readonly hauler_id: string;
  readonly recording_id: string;
  /** Null where retention has removed it. */
  readonly erasure_id: string | null;
  /** A bigint, as text. */
  readonly size_bytes: string;
  /** Exchanges that the erasure has redacted with it. */
  readonly exchanges: number;
}

const COLUMNS = 'hauler_id, recording_id, erasure_id, size_bytes, exchanges';

/** In the transaction that removes the recordings. */
export async function storeRemoved(database: Sql, files: readonly RemovedFile[]): Promise<void> {
  await database.query(
    `INSERT INTO removed_files (${COLUMNS})
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::integer[]) ON CONFLICT DO NOTHING`,
    [
      files.map(({ hauler_id }) => hauler_id),
      files.map(({ recording_id }) => recording_id),
      files.map(({ erasure_id }) => erasure_id),
      files.map(({ size_bytes }) => size_bytes),
      files.map(({ exchanges }) => exchanges),
    ],
  );
}

/** What earlier runs have left, without the files of running erasures, which delete and count them: at most `limit` after `last`. */
export function findRemoved(database: Sql, last: RemovedFile | undefined, limit: number): Promise<RemovedFile[]> {
  return database.query<RemovedFile>(
    `SELECT ${COLUMNS} FROM removed_files AS file
     WHERE ($1::uuid IS NULL OR (hauler_id, recording_id) > ($1, $2::uuid)) AND NOT EXISTS (
       SELECT FROM erasures WHERE (hauler_id, id) = (file.hauler_id, file.erasure_id) AND status = 'running')
     ORDER BY hauler_id, recording_id LIMIT $3`,
    [last?.hauler_id ?? null, last?.recording_id ?? null, limit],
  );
}

/** What an interrupted run of an erasure has left. */
export function removedBy(
  database: Sql,
  erasure: { readonly hauler_id: string; readonly id: string },
): Promise<RemovedFile[]> {
  return database.query<RemovedFile>(`SELECT ${COLUMNS} FROM removed_files WHERE hauler_id = $1 AND erasure_id = $2`, [
    erasure.hauler_id,
    erasure.id,
  ]);
}

/** The files are deleted. Returns those that no other run has counted. */
export async function forgetRemoved(database: Sql, files: readonly RemovedFile[]): Promise<RemovedFile[]> {
  return database.query<RemovedFile>(
    `DELETE FROM removed_files
     WHERE (hauler_id, recording_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) RETURNING ${COLUMNS}`,
    [files.map(({ hauler_id }) => hauler_id), files.map(({ recording_id }) => recording_id)],
  );
}
