import type { Sql } from './sql.js';
import type pg from 'pg';
import { DatabaseConnectionError, SQLSTATE } from './postgres-errors.js';

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

/** The function of PostgreSQL that warns, in every language, that a commit no longer waits for its standbys. */
const WAIT = 'SyncRepWaitForLSN';

const localOnly = new WeakSet<pg.ClientBase>();

/** A commit that succeeded on this server alone, because somebody has cancelled its wait for the synchronous standbys. */
class LocalCommitError extends DatabaseConnectionError {
  constructor() {
    const message = 'the wait for a synchronous standby was cancelled: the commit is on one server alone';
    super(Object.assign(new Error(message), { code: SQLSTATE.queryCanceled }), true);
    this.message = message;
  }
}

/** Watches a new connection for such commits: the server reports them as successful, with a warning. */
export function watchCommits(client: pg.ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === WAIT) localOnly.add(client);
  });
}

/** Throws if a commit of this connection is on one server alone. The connection is not used again. */
export function expectReplicated(client: pg.ClientBase): void {
  if (localOnly.has(client)) throw new LocalCommitError();
}
