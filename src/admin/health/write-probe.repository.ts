import type { Session } from '../../core/database/session.js';
import type { Sql } from '../../core/database/sql.js';

/** More than half a page. */
const FILLER_BYTES = 4_200;

/**
 * Writes a page and takes it back: the disk has room for the next row of a push. Nothing is left but space that PostgreSQL uses
 * again. A deletion would need a privilege, and a key where a publication sends it on.
 */
export async function writePage(session: Session): Promise<void> {
  await session.begin();
  try {
    await session.query('INSERT INTO write_probes SELECT repeat($1, $2::int)', ['-', FILLER_BYTES]);
  } finally {
    await session.rollback();
  }
}

/** Commits a few bytes of the log. The commit waits for the disk and for the synchronous standbys, as that of a push does. */
export async function commitNothing(session: Session): Promise<void> {
  await session.query("SELECT pg_logical_emit_message(true, 'haulbridge', 'ready')", []);
}

/**
 * Whether a commit of this role has waited for a synchronous standby for more than a second. It may wait for hours, so that a
 * check must not begin another one.
 */
export async function isCommitWaiting(database: Sql): Promise<boolean> {
  const row = await database.first<{ isWaiting: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_stat_activity
                     WHERE datname = current_database() AND usename = current_user AND wait_event = 'SyncRep'
                       AND state_change < now() - interval '1 second') AS "isWaiting"`,
    [],
  );
  return row?.isWaiting === true;
}
