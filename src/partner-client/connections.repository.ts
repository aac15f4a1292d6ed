import type { ConnectionQuery, ConnectionRemoval } from '../contracts/admin/connections.routes.js';
import type { SqlList } from '../core/database/list-page.js';
import type { Sql } from '../core/database/sql.js';

/** A row of a hauler's connection. */
export interface ConnectionKey {
  readonly haulerId: string;
  readonly id: string;
}

/** The columns of a connection that a call needs. */
export interface PartnerConnection extends ConnectionKey {
  /** Without a final slash. The contract's prefix is appended to its path. */
  readonly baseUrl: string;
}

/** Undefined: unchanged. */
export interface ConnectionUpdate {
  readonly baseUrl: string | undefined;
  readonly sealedKey: string | undefined;
  readonly sealedNextKey: string | undefined;
  /** Deletes the stored next key, unless there is another one. */
  readonly dropsNextKey: boolean;
  readonly customerId: string | undefined;
  readonly intervalSeconds: number | undefined;
  /** 0: the default. */
  readonly firstByteTimeoutSeconds: number | undefined;
  readonly enabled: boolean | undefined;
  /** Cancels a run, which uses the old ones, and makes a site connection due. */
  readonly credentialsChanged: boolean;
}

/** What a change of a connection depends on. */
export interface LockedConnection extends ConnectionKey {
  readonly baseUrl: string;
  readonly customerId: string | null;
  readonly enabled: boolean;
}

/** Locks a connection, because two concurrent changes could join the key of one with the address of the other. */
export async function lockConnection(transaction: Sql, id: string): Promise<LockedConnection | undefined> {
  return transaction.first<LockedConnection>(
    `SELECT hauler_id AS "haulerId", id, base_url AS "baseUrl", customer_id AS "customerId", enabled
       FROM connections WHERE id = $1 AND deleted_at IS NULL FOR UPDATE`,
    [id],
  );
}

/**
 * A shorter interval counts from now, with the jitter of a tenth, unless failures or the partner have deferred the next
 * run.
 */
export async function updateConnection(
  database: Sql,
  { haulerId, id }: ConnectionKey,
  update: ConnectionUpdate,
): Promise<void> {
  await database.query(
    `UPDATE connections SET
       base_url = coalesce($3, base_url), sealed_key = coalesce($4, sealed_key),
       sealed_next_key = coalesce($5, CASE WHEN NOT $10 THEN sealed_next_key END), customer_id = coalesce($6, customer_id),
       interval_seconds = coalesce($7, interval_seconds), enabled = coalesce($8, enabled),
       first_byte_timeout_seconds = nullif(coalesce($11, first_byte_timeout_seconds), 0),
       due_at = CASE WHEN interface = 'site' AND coalesce($8, enabled) AND ($9 OR NOT enabled) THEN now()
         WHEN interface = 'site' AND attempts = 0 THEN least(due_at, now() + $7 * interval '1.1 seconds') ELSE due_at END,
       started_at = CASE WHEN $9 THEN NULL ELSE started_at END,
       attempts = CASE WHEN $9 THEN 0 ELSE attempts END, updated_at = now()
     WHERE hauler_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [
      haulerId,
      id,
      update.baseUrl,
      update.sealedKey,
      update.sealedNextKey,
      update.customerId,
      update.intervalSeconds,
      update.enabled,
      update.credentialsChanged,
      update.dropsNextKey,
      update.firstByteTimeoutSeconds,
    ],
  );
}

/**
 * Deletes the keys and cancels a running synchronisation; the row stays. Returns the hashes of the keys of ours that it ended
 * (`api_keys`), undefined if there is no such connection.
 */
export async function deleteConnection(transaction: Sql, id: string): Promise<Buffer[] | undefined> {
  const deleted = await transaction.change(
    `UPDATE connections SET deleted_at = now(), updated_at = now(), enabled = false, sealed_key = '',
       sealed_next_key = NULL, due_at = NULL, started_at = NULL, run_requested_at = NULL
     WHERE id = $1 AND deleted_at IS NULL`,
    [id],
  );
  if (deleted === 0) return undefined;
  // A statement of its own: it sees the keys that were issued while the first one waited for the row.
  const ended = await transaction.query<{ hash: Buffer }>(
    'UPDATE api_keys SET revoked_at = now() WHERE connection_id = $1 AND revoked_at IS NULL RETURNING hash',
    [id],
  );
  return ended.map(({ hash }) => hash);
}

/** What `deleteConnection` ends. */
export async function countRemoval(database: Sql, id: string): Promise<ConnectionRemoval | undefined> {
  return database.first<ConnectionRemoval>(
    `SELECT (SELECT count(*)::float8 FROM api_keys WHERE connection_id = c.id AND revoked_at IS NULL) AS keys,
       (SELECT count(*)::float8 FROM sync_runs AS run WHERE (run.hauler_id, run.connection_id) = (c.hauler_id, c.id)
         AND run.status IN ('queued', 'running')) AS "syncRuns",
       (SELECT count(*)::float8 FROM video_subscriptions AS s WHERE (s.hauler_id, s.connection_id) = (c.hauler_id, c.id)
         AND s.enabled AND s.deleted_at IS NULL) AS "videoSubscriptions",
       (SELECT count(*)::float8 FROM video_requests AS v WHERE (v.hauler_id, v.connection_id) = (c.hauler_id, c.id)
         AND v.status IN ('submitting', 'processing')) AS "videoRequests",
       (SELECT count(*)::float8 FROM recordings AS r WHERE (r.hauler_id, r.connection_id) = (c.hauler_id, c.id)
         AND r.status = 'available') AS recordings
     FROM connections AS c WHERE c.id = $1 AND c.deleted_at IS NULL`,
    [id],
  );
}

/** The current key, then the next one if there is one; undefined if the connection was deleted or has another address. */
export async function findSealedKeys(
  database: Sql,
  { haulerId, id, baseUrl }: PartnerConnection,
): Promise<string[] | undefined> {
  const row = await database.first<{ sealed_key: string; sealed_next_key: string | null }>(
    `SELECT sealed_key, sealed_next_key FROM connections
     WHERE hauler_id = $1 AND id = $2 AND base_url = $3 AND deleted_at IS NULL`,
    [haulerId, id, baseUrl],
  );
  return row && [row.sealed_key, row.sealed_next_key].filter((sealed) => sealed !== null);
}

/** Makes the next key the current one. Changes nothing if one of the two is another key by now. */
export async function promoteNextKey(
  database: Sql,
  { haulerId, id }: ConnectionKey,
  next: string,
  current: string,
): Promise<void> {
  await database.query(
    `UPDATE connections SET sealed_key = sealed_next_key, sealed_next_key = NULL, updated_at = now()
     WHERE hauler_id = $1 AND id = $2 AND sealed_next_key = $3 AND sealed_key = $4`,
    [haulerId, id, next, current],
  );
}

/** Makes a connection due now. The caller does not wait for a running synchronisation, whose end clears the request. */
export async function requestRun(database: Sql, { haulerId, id }: ConnectionKey): Promise<void> {
  await database.query(
    `UPDATE connections SET due_at = now(), run_requested_at = now() WHERE (hauler_id, id) IN (
       SELECT hauler_id, id FROM connections
       WHERE hauler_id = $1 AND id = $2 FOR UPDATE SKIP LOCKED)`,
    [haulerId, id],
  );
}

/** The interval in seconds. Locks the connection, so that no admin changes it before the next due time is set. */
export async function lockInterval(database: Sql, { haulerId, id }: ConnectionKey): Promise<number | undefined> {
  const row = await database.first<{ interval_seconds: number }>(
    'SELECT interval_seconds FROM connections WHERE hauler_id = $1 AND id = $2 FOR UPDATE',
    [haulerId, id],
  );
  return row?.interval_seconds;
}

/** Newest first, without the deleted ones. */
export const connectionList = ({ haulerId, interface: name, failing }: ConnectionQuery): SqlList => ({
  name: 'connections',
  sql: `SELECT id, created_at, hauler_id AS list_hauler FROM connections WHERE deleted_at IS NULL AND ($1::uuid IS NULL OR hauler_id = $1)
    AND ($2::text IS NULL OR interface = $2) AND ($3::boolean IS NULL OR (last_error IS NOT NULL) = $3)`,
  parameters: [haulerId ?? null, name ?? null, failing ?? null],
  hasHaulers: true,
  key: ['created_at', 'id'],
  order: 'DESC',
});
