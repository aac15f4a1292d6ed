import type { Sql } from './sql.js';

/**
 * Commits a few bytes where the database has synchronous standbys, and returns when they have them: then they also have what
 * was committed before. For an answer that confirms what an earlier request has stored, because the commit of that request
 * may have been seen here and by no standby.
 */
export async function awaitStandbys(database: Sql): Promise<void> {
  await database.query(
    `SELECT pg_logical_emit_message(true, 'haulbridge', 'confirmed') WHERE current_setting('synchronous_standby_names') <> ''`,
    [],
  );
}
