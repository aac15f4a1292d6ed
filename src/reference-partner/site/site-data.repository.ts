import type { Querying } from '../../database/sql.js';

/** The stored response of a hauler; lengths in bytes. */
export interface StoredAnswer {
  readonly haulerId: string;
  readonly version: string;
  readonly digest: string;
  readonly byteLength: number;
  readonly gzipLength: number;
  readonly chunks: number;
}

export async function findAnswer(database: Querying, haulerId: string): Promise<StoredAnswer | undefined> {
  const [row] = await database.query<Omit<StoredAnswer, 'haulerId'>[]>(
    `SELECT version, digest, byte_length::float8 AS "byteLength", gzip_length::float8 AS "gzipLength", chunks
     FROM reference_site_data WHERE hauler_id = $1`,
    [haulerId],
  );
  return row && { haulerId, ...row };
}

/** One piece of the compressed response; undefined if its version was deleted. */
export async function findPiece(
  database: Querying,
  { haulerId, version }: StoredAnswer,
  position: number,
): Promise<Buffer | undefined> {
  const [row] = await database.query<{ bytes: Buffer }[]>(
    'SELECT bytes FROM reference_site_data_chunks WHERE hauler_id = $1 AND version = $2 AND position = $3',
    [haulerId, version, position],
  );
  return row?.bytes;
}

export async function insertPiece(
  database: Querying,
  { haulerId, version }: Pick<StoredAnswer, 'haulerId' | 'version'>,
  position: number,
  piece: Buffer,
): Promise<void> {
  await database.query('INSERT INTO reference_site_data_chunks VALUES ($1, $2, $3, $4)', [
    haulerId,
    version,
    position,
    piece,
  ]);
}

/** Makes the version of the inserted pieces the current one. Retains the version before, for responses that are being sent. */
export async function replaceAnswer(database: Querying, answer: StoredAnswer): Promise<void> {
  const { haulerId, version, digest, byteLength, gzipLength, chunks } = answer;
  const [row] = await database.query<{ previous_version: string | null }[]>(
    `INSERT INTO reference_site_data AS d (hauler_id, version, digest, byte_length, gzip_length, chunks)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (hauler_id) DO UPDATE SET previous_version = d.version, version = excluded.version,
       digest = excluded.digest, byte_length = excluded.byte_length, gzip_length = excluded.gzip_length,
       chunks = excluded.chunks, updated_at = now()
     RETURNING previous_version`,
    [haulerId, version, digest, byteLength, gzipLength, chunks],
  );
  await database.query(
    'DELETE FROM reference_site_data_chunks WHERE hauler_id = $1 AND version <> ALL (ARRAY[$2::uuid, $3::uuid])',
    [haulerId, version, row?.previous_version ?? version],
  );
}

export async function deleteAnswer(database: Querying, haulerId: string): Promise<void> {
  await database.query('DELETE FROM reference_site_data WHERE hauler_id = $1', [haulerId]);
  await database.query('DELETE FROM reference_site_data_chunks WHERE hauler_id = $1', [haulerId]);
}
