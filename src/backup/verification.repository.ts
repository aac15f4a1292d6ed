import type { Sql } from '../database/sql.js';

export interface Verification {
  /** Seconds since the epoch. */
  readonly verifiedAt: number;
  readonly archiveCreatedAt: number;
}

/** Replaces the record of the verification before. */
export async function recordVerification(database: Sql, archiveCreatedAt: string): Promise<void> {
  await database.query(
    `INSERT INTO backup_verifications (verified_at, archive_created_at) VALUES (now(), $1)
         ON CONFLICT (is_last) DO UPDATE
        SET verified_at = excluded.verified_at, archive_created_at = excluded.archive_created_at`,
    [archiveCreatedAt],
  );
}

/** The last verified archive; undefined if there is none. */
export async function lastVerification(database: Sql): Promise<Verification | undefined> {
  const [row] = await database.query<Verification>(
    `SELECT extract(epoch FROM verified_at)::float8 AS "verifiedAt",
            extract(epoch FROM archive_created_at)::float8 AS "archiveCreatedAt"
       FROM backup_verifications`,
    [],
  );
  return row;
}
