import type pg from 'pg';
import { DatabaseConnectionError, SQLSTATE } from './postgres-errors.js';

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
