import type { Sql } from '../../core/database/sql.js';

/** The stored response of a hauler. */
export interface StoredAnswer {
  /** SHA-256 of the uncompressed body, in hex. */
  readonly digest: string;
  /** Bytes of the uncompressed body. */
  readonly byteLength: number;
  /** The body, compressed by gzip. */
  readonly body: Buffer;
}

export async function findAnswer(database: Sql, haulerId: string): Promise<StoredAnswer | undefined> {
  return database.first<StoredAnswer>(
    'SELECT digest, byte_length::float8 AS "byteLength", body FROM reference_site_data WHERE hauler_id = $1',
    [haulerId],
  );
}

export async function replaceAnswer(database: Sql, haulerId: string, answer: StoredAnswer): Promise<void> {
  const { digest, byteLength, body } = answer;
  await database.query(
    `INSERT INTO reference_site_data (hauler_id, digest, byte_length, body) VALUES ($1, $2, $3, $4)
     ON CONFLICT (hauler_id) DO UPDATE SET digest = excluded.digest, byte_length = excluded.byte_length,
       body = excluded.body, updated_at = now()`,
    [haulerId, digest, byteLength, body],
  );
}

export async function deleteAnswer(database: Sql, haulerId: string): Promise<void> {
  await database.query('DELETE FROM reference_site_data WHERE hauler_id = $1', [haulerId]);
}
