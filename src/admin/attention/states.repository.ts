import { onlyRow, type Sql } from '../../core/database/sql.js';
import type { AnnouncedState, Change, ConnectionState, StateEndpoint } from './states.rules.js';

/** An arbitrary number: one instance at a time announces states. */
const STATES_LOCK = 4_867_391_207;

export async function lockStates(transaction: Sql): Promise<boolean> {
  const row = onlyRow(
    await transaction.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [STATES_LOCK]),
  );
  return row.locked;
}

export function stateEndpoints(database: Sql, topics: readonly string[]): Promise<StateEndpoint[]> {
  return database.query<StateEndpoint>(
    `SELECT id, hauler_id, connection_id, key_id, topics FROM webhook_endpoints WHERE enabled AND topics && $1::text[]`,
    [topics],
  );
}

/** Of a disabled endpoint it stays, so that nothing is sent twice when it is enabled again. */
export function announcedStates(database: Sql): Promise<AnnouncedState[]> {
  return database.query<AnnouncedState>(
    `SELECT endpoint_id, subject, topic FROM webhook_states AS s
     WHERE EXISTS (SELECT FROM webhook_endpoints AS e WHERE e.id = s.endpoint_id AND e.enabled)
     ORDER BY endpoint_id, subject`,
    [],
  );
}

/** In the transaction that announces them. */
export async function storeChanges(transaction: Sql, changes: readonly Change[]): Promise<void> {
  const begun = changes.filter(({ announced }) => announced !== undefined);
  await transaction.query(
    `INSERT INTO webhook_states (endpoint_id, subject, topic) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])
     ON CONFLICT (endpoint_id, subject) DO UPDATE SET topic = excluded.topic`,
    [...keysOf(begun), begun.map(({ announced }) => announced)],
  );
  await transaction.query(
    `DELETE FROM webhook_states AS s USING unnest($1::uuid[], $2::text[]) AS ended (endpoint_id, subject)
     WHERE s.endpoint_id = ended.endpoint_id AND s.subject = ended.subject`,
    keysOf(changes.filter(({ announced }) => announced === undefined)),
  );
}

const keysOf = (changes: readonly Change[]) => [
  changes.map(({ endpointId }) => endpointId),
  changes.map(({ subject }) => subject),
];

/** The connections that are not deleted, with their last ended synchronisation. */
export function connectionStates(database: Sql, ids: readonly string[]): Promise<ConnectionState[]> {
  return database.query<ConnectionState>(
    `SELECT c.id, c.hauler_id, c.enabled, r.id AS run_id, r.status AS run_status
     FROM connections AS c LEFT JOIN LATERAL (
       SELECT id, status FROM sync_runs WHERE connection_id = c.id AND status NOT IN ('queued', 'running')
       ORDER BY created_at DESC, id DESC LIMIT 1) AS r ON true
     WHERE c.id = ANY ($1::uuid[]) AND c.deleted_at IS NULL`,
    [ids],
  );
}
