import { SQLSTATE, sqlState } from './postgres-errors.js';
import type { Release } from './release.js';
import type { Sql } from './sql.js';

/** Names of the applied migrations, oldest first; none in an empty database. */
export async function appliedMigrations(database: Sql): Promise<string[]> {
  const rows = await unlessMissing(() =>
    database.query<{ name: string }>('SELECT name FROM migrations ORDER BY id', []),
  );
  return (rows ?? []).map(({ name }) => name);
}

/** The version that has migrated the database; undefined for one without such a record. */
export async function recordedRelease(database: Sql): Promise<Release | undefined> {
  const sql = 'SELECT version, oldest_compatible_version AS "oldestCompatibleVersion" FROM schema_version';
  return (await unlessMissing(() => database.query<Release>(sql, [])))?.[0];
}

export async function recordRelease(database: Sql, release: Release): Promise<void> {
  await database.query(
    `INSERT INTO schema_version (version, oldest_compatible_version, migrated_at) VALUES ($1, $2, now())
     ON CONFLICT (one) DO UPDATE SET version = excluded.version, migrated_at = excluded.migrated_at,
       oldest_compatible_version = excluded.oldest_compatible_version`,
    [release.version, release.oldestCompatibleVersion],
  );
}

/** Of the SECRETS_KEY of the database; null if no start has stored it yet, undefined in a schema that cannot store it. */
export async function storedFingerprint(database: Sql): Promise<string | null | undefined> {
  const sql = 'SELECT secrets_key_fingerprint AS fingerprint FROM schema_version';
  const rows = await unlessMissing(() => database.query<{ fingerprint: string | null }>(sql));
  return rows === undefined ? undefined : (rows[0]?.fingerprint ?? null);
}

/** Stores it unless another instance was faster, and returns what is stored. A database of a version without fingerprints keeps none. */
export async function storeFingerprint(database: Sql, fingerprint: string): Promise<string> {
  const row = await unlessMissing(() =>
    database.first<{ fingerprint: string }>(
      `UPDATE schema_version SET secrets_key_fingerprint = coalesce(secrets_key_fingerprint, $1)
       RETURNING secrets_key_fingerprint AS fingerprint`,
      [fingerprint],
    ),
  );
  return row?.fingerprint ?? fingerprint;
}

/** For an operator who has lost the key: the statement that makes the database accept a new one. */
export const newFingerprint = (fingerprint: string): string =>
  `UPDATE schema_version SET secrets_key_fingerprint = '${fingerprint}'`;

/** Other sessions with a transaction that has been open for a while, oldest first: `pg_dump (process 12, 40 s)`. */
export async function findOpenTransactions(database: Sql): Promise<string[]> {
  const rows = await database.query<{ name: string; pid: number; seconds: number }>(
    `SELECT coalesce(nullif(application_name, ''), 'a session without a name') AS name, pid,
            extract(epoch FROM now() - xact_start)::int AS seconds
       FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> current_setting('application_name')
        AND now() - xact_start > interval '1 second'
      ORDER BY xact_start LIMIT 3`,
    [],
  );
  return rows.map(({ name, pid, seconds }) => `${name} (process ${pid}, ${seconds} s)`);
}

/** Returns undefined if the schema, of an earlier version, lacks the table or column. */
export async function unlessMissing<T>(statement: () => Promise<T>): Promise<T | undefined> {
  try {
    return await statement();
  } catch (error) {
    if (MISSING.has(sqlState(error))) return undefined;
    throw error;
  }
}

const MISSING: ReadonlySet<string | undefined> = new Set([SQLSTATE.undefinedTable, SQLSTATE.undefinedColumn]);
