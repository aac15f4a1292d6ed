import { onlyRow, type Sql } from '../../database/sql.js';
import type { AnnouncedState, StateEndpoint } from './states.rules.js';

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

export async function storeStates(database: Sql, states: readonly AnnouncedState[]): Promise<void> {
  if (states.length === 0) return;
  await database.query(
    `INSERT INTO webhook_states (endpoint_id, subject, topic) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])
     ON CONFLICT (endpoint_id, subject) DO UPDATE SET topic = excluded.topic`,
    [states.map((state) => state.endpoint_id), states.map(({ subject }) => subject), states.map(({ topic }) => topic)],
  );
}

export async function deleteStates(database: Sql, states: readonly AnnouncedState[]): Promise<void> {
  if (states.length === 0) return;
  await database.query(
    `DELETE FROM webhook_states AS s USING unnest($1::uuid[], $2::text[]) AS ended (endpoint_id, subject)
     WHERE s.endpoint_id = ended.endpoint_id AND s.subject = ended.subject`,
    [states.map((state) => state.endpoint_id), states.map(({ subject }) => subject)],
  );
}

export interface ConnectionState {
  readonly id: string;
  readonly hauler_id: string;
  readonly enabled: boolean;
  readonly run_id: string | null;
  readonly run_status: string | null;
}

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

export interface EndingKeyState {
  readonly id: string;
  readonly first_id: string;
  readonly prefix: string;
  readonly hauler_id: string | null;
  readonly expires_at: Date;
  readonly has_ended: boolean;
}

/** The keys that expire within 14 days or have expired in the last 7, and whose successor is not in use. */
export function endingKeyStates(database: Sql): Promise<EndingKeyState[]> {
  return database.query<EndingKeyState>(
    `WITH RECURSIVE ending AS (
       SELECT * FROM api_keys AS key
       WHERE revoked_at IS NULL AND (replaces_id IS NULL OR activated_at IS NOT NULL)
         AND expires_at < now() + interval '14 days' AND expires_at > now() - interval '7 days'
         AND NOT EXISTS (SELECT FROM api_keys AS next
           WHERE next.replaces_id = key.id AND next.revoked_at IS NULL AND next.activated_at IS NOT NULL)),
     former AS (
       SELECT id AS key_id, id, replaces_id FROM ending
       UNION ALL SELECT former.key_id, k.id, k.replaces_id FROM former JOIN api_keys AS k ON k.id = former.replaces_id)
     SELECT ending.id, former.id AS first_id, prefix, hauler_id, expires_at, expires_at <= now() AS has_ended
     FROM ending JOIN former ON former.key_id = ending.id AND former.replaces_id IS NULL`,
    [],
  );
}
