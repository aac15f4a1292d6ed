import type { ApiKeyQuery } from '../contracts/admin/api-keys.routes.js';
import { ApiKeyEntity } from './auth.entity.js';
import { columnsOf } from '../core/database/data-source.js';
import type { SqlList } from '../core/database/list-page.js';
import type { Sql } from '../core/database/sql.js';
import type { PrincipalRow } from './api-key.js';

/** The columns of a valid key that a request needs. */
export interface KnownKeyRow extends PrincipalRow, Pick<ApiKeyEntity, 'hash' | 'lastUsedAt'> {
  /** Issued by a rotation and not used yet. */
  readonly dormant: boolean;
}

/** Keys that are neither revoked nor ended. */
const VALID_KEYS = `
  SELECT id, hash, prefix, hauler_id AS "haulerId", connection_id AS "connectionId",
         customer_id AS "customerId", interfaces, expires_at AS "expiresAt", retires_at AS "retiresAt", last_used_at AS "lastUsedAt",
         replaces_id IS NOT NULL AND activated_at IS NULL AS dormant
    FROM api_keys
   WHERE revoked_at IS NULL AND coalesce(least(expires_at, retires_at), 'infinity') > now()`;

export function findValidKeys(database: Sql, hashes: readonly Buffer[]): Promise<KnownKeyRow[]> {
  return database.query<KnownKeyRow>(`${VALID_KEYS} AND hash = ANY ($1::bytea[])`, [hashes]);
}

export async function findValidKey(database: Sql, id: string): Promise<KnownKeyRow | undefined> {
  return database.first<KnownKeyRow>(`${VALID_KEYS} AND id = $1`, [id]);
}

/**
 * The hauler of a connection; undefined if there is none or it was deleted. Its deletion waits until the transaction ends, and
 * then ends the keys that were issued meanwhile.
 */
export async function lockConnection(database: Sql, id: string): Promise<string | undefined> {
  const row = await database.first<{ haulerId: string }>(
    'SELECT hauler_id AS "haulerId" FROM connections WHERE id = $1 AND deleted_at IS NULL FOR SHARE',
    [id],
  );
  return row?.haulerId;
}

const COLUMNS = columnsOf(ApiKeyEntity);

/** A key, also one that is revoked or has ended; in a transaction, where there are no entities. */
export async function findKey(transaction: Sql, id: string): Promise<ApiKeyEntity | undefined> {
  const columns = COLUMNS.map(([name, property]) => `${name} AS "${property}"`);
  return transaction.first<ApiKeyEntity>(`SELECT ${columns.join(', ')} FROM api_keys WHERE id = $1`, [id]);
}

export async function insertKey(transaction: Sql, row: ApiKeyEntity): Promise<void> {
  const names = COLUMNS.map(([name]) => name);
  const values = names.map((_, i) => `$${i + 1}`);
  await transaction.change(
    `INSERT INTO api_keys (${names.join(', ')}) VALUES (${values.join(', ')})`,
    COLUMNS.map(([, property]) => row[property]),
  );
}

/** Stores when keys were last used: pairs of id and time. */
export async function storeLastUses(database: Sql, uses: readonly (readonly [string, Date])[]): Promise<void> {
  await database.query(
    `UPDATE api_keys
        SET last_used_at = used.at
       FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
      WHERE api_keys.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`,
    [uses.map(([id]) => id), uses.map(([, at]) => at)],
  );
}

/** Returns the hash of the key; undefined for an unknown id. A revoked key keeps its time of revocation. */
export async function revokeKey(database: Sql, id: string): Promise<Buffer | undefined> {
  const rows = await database.query<{ hash: Buffer }>(
    'UPDATE api_keys SET revoked_at = COALESCE(revoked_at, now()) WHERE id = $1 RETURNING hash',
    [id],
  );
  return rows[0]?.hash;
}

/** Locks a key and its successors, oldest first as in every statement. */
export async function lockWithSuccessors(database: Sql, id: string | null): Promise<void> {
  await database.query('SELECT FROM api_keys WHERE id = $1 OR replaces_id = $1 ORDER BY id FOR UPDATE', [id]);
}

/** Revokes the successors of a key that were never used. */
export async function revokeDormant(database: Sql, replacesId: string | null): Promise<void> {
  await database.query(
    'UPDATE api_keys SET revoked_at = now() WHERE replaces_id = $1 AND activated_at IS NULL AND revoked_at IS NULL',
    [replacesId],
  );
}

/**
 * Activates a dormant key, at which the overlap of its predecessor begins. Returns false if the key was active or revoked
 * already; else the hash of the predecessor.
 */
export async function activateKey(database: Sql, id: string): Promise<false | { retired: Buffer | undefined }> {
  await database.query(
    `SELECT FROM api_keys
      WHERE id = $1 OR id = (SELECT replaces_id FROM api_keys WHERE id = $1)
      ORDER BY id FOR UPDATE`,
    [id],
  );
  const activated = await database.query<unknown>(
    `UPDATE api_keys SET activated_at = now(), last_used_at = now()
      WHERE id = $1 AND activated_at IS NULL AND revoked_at IS NULL
      RETURNING id`,
    [id],
  );
  if (activated.length === 0) return false;
  const retired = await database.query<{ hash: Buffer }>(
    `UPDATE api_keys AS old
        SET retires_at = LEAST(old.retires_at, now() + make_interval(secs => new.overlap_seconds))
       FROM api_keys AS new
      WHERE new.id = $1 AND old.id = new.replaces_id
      RETURNING old.hash`,
    [id],
  );
  return { retired: retired[0]?.hash };
}

export const apiKeys = ({ haulerId, connectionId }: ApiKeyQuery): SqlList => ({
  name: 'api-keys',
  sql: `SELECT id, created_at, hauler_id AS list_hauler FROM api_keys
    WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ($2::uuid IS NULL OR connection_id = $2)`,
  parameters: [haulerId ?? null, connectionId ?? null],
  hasHaulers: true,
  key: ['created_at', 'id'],
  order: 'DESC',
});

/** A key that ends soon or has ended, and whose successor is not in use. */
export interface EndingKey {
  readonly id: string;
  /** The first key of its rotations. */
  readonly first_id: string;
  readonly prefix: string;
  readonly name: string | null;
  readonly hauler_id: string | null;
  readonly expires_at: Date;
  readonly has_ended: boolean;
  /** In the 7 days before its end. */
  readonly was_in_use: boolean;
  /** One that has not been used. */
  readonly has_successor: boolean;
}

/** The keys that end within 14 days, or ended in the last 7 days. */
export function endingKeys(database: Sql): Promise<EndingKey[]> {
  return database.query<EndingKey>(
    `SELECT id, coalesce(root_id, id) AS first_id, prefix, name, hauler_id, expires_at, expires_at <= now() AS has_ended,
       coalesce(last_used_at > expires_at - interval '7 days', false) AS was_in_use, EXISTS (
         SELECT FROM api_keys AS next WHERE next.replaces_id = key.id AND next.revoked_at IS NULL) AS has_successor
     FROM api_keys AS key
     WHERE revoked_at IS NULL AND (replaces_id IS NULL OR activated_at IS NOT NULL)
       AND expires_at < now() + interval '14 days' AND expires_at > now() - interval '7 days'
       AND NOT EXISTS (
         SELECT FROM api_keys AS next WHERE next.replaces_id = key.id AND next.revoked_at IS NULL AND next.activated_at IS NOT NULL)`,
    [],
  );
}

/** The first characters of keys, by their ids. */
export async function findKeyPrefixes(database: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const sql = 'SELECT id, prefix FROM api_keys WHERE id = ANY ($1::uuid[])';
  const rows = await database.query<{ id: string; prefix: string }>(sql, [[...new Set(ids)]]);
  return new Map(rows.map(({ id, prefix }) => [id, prefix]));
}
