import type { DisabledReason, WebhookFormat } from '../contracts/admin/webhooks.routes.js';
import type { DeliveryReason } from '../contracts/webhooks/delivery.values.js';
import type { TopicName } from '../contracts/webhooks/topics.values.js';
import type { SqlList } from '../core/database/list-page.js';
import type { Sql } from '../core/database/sql.js';

export interface EndpointRow {
  readonly id: string;
  readonly hauler_id: string | null;
  readonly connection_id: string | null;
  /** The first key of the rotations of a partner's key. */
  readonly key_id: string | null;
  readonly key_prefix: string | null;
  readonly url: string;
  readonly topics: TopicName[];
  readonly format: WebhookFormat;
  readonly enabled: boolean;
  readonly sealed_secret: string;
  readonly sealed_former_secret: string | null;
  readonly former_secret_until: Date | null;
  readonly disabled_reason: DisabledReason | null;
  readonly failing_since: Date | null;
  readonly failures: number;
  readonly paused_until: Date | null;
  /** A bigint. */
  readonly dropped: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export type NewEndpoint = Pick<
  EndpointRow,
  'id' | 'hauler_id' | 'connection_id' | 'key_id' | 'url' | 'topics' | 'format' | 'enabled' | 'sealed_secret'
>;

/** Undefined: unchanged. */
export interface EndpointUpdate {
  readonly url?: string | undefined;
  readonly topics?: readonly string[] | undefined;
  readonly format?: string | undefined;
  readonly haulerId?: string | undefined;
  readonly enabled?: boolean | undefined;
}

const SELECT = `SELECT e.*, k.prefix AS key_prefix FROM webhook_endpoints AS e LEFT JOIN api_keys AS k ON k.id = e.key_id`;

/** $2 the first key of a partner; null for all endpoints. */
export async function findEndpoint(database: Sql, id: string, keyId: string | null): Promise<EndpointRow | undefined> {
  return database.first<EndpointRow>(`${SELECT} WHERE e.id = $1 AND ($2::uuid IS NULL OR e.key_id = $2)`, [id, keyId]);
}

export const endpointList = (haulerId: string | undefined, keyId: string | null): SqlList => ({
  name: 'webhook-endpoints',
  sql: `${SELECT} WHERE ($1::uuid IS NULL OR e.hauler_id = $1) AND ($2::uuid IS NULL OR e.key_id = $2)`,
  parameters: [haulerId ?? null, keyId],
  key: ['id'],
  order: 'DESC',
});

/** Of a partner, or of all. */
export async function countEndpoints(database: Sql, keyId: string | null): Promise<number> {
  const row = await database.only<{ count: number }>(
    'SELECT count(*)::int AS count FROM webhook_endpoints WHERE $1::uuid IS NULL OR key_id = $1',
    [keyId],
  );
  return row.count;
}

/** Throws a violation of `webhook_endpoints_hauler_fkey` for an unknown hauler. */
export async function insertEndpoint(database: Sql, row: NewEndpoint): Promise<void> {
  await database.query(
    `INSERT INTO webhook_endpoints (id, hauler_id, connection_id, key_id, url, topics, format, enabled, sealed_secret)
     SELECT id, hauler_id, connection_id, key_id, url, topics, format, enabled, sealed_secret
     FROM json_populate_record(NULL::webhook_endpoints, $1)`,
    [JSON.stringify(row)],
  );
}

/** A new address, or the end of a pause, starts the counts of failures again. */
export async function updateEndpoint(database: Sql, id: string, update: EndpointUpdate): Promise<void> {
  const { url, topics, format, haulerId, enabled } = update;
  await database.query(
    `UPDATE webhook_endpoints SET url = coalesce($2, url), topics = coalesce($3, topics), format = coalesce($4, format),
       hauler_id = coalesce($5, hauler_id), enabled = coalesce($6, enabled),
       disabled_reason = CASE WHEN $6 THEN NULL ELSE disabled_reason END,
       failing_since = CASE WHEN $6 OR $2 IS NOT NULL THEN NULL ELSE failing_since END,
       failures = CASE WHEN $6 OR $2 IS NOT NULL THEN 0 ELSE failures END,
       paused_until = CASE WHEN $6 OR $2 IS NOT NULL THEN NULL ELSE paused_until END, updated_at = now()
     WHERE id = $1`,
    [id, url, topics, format, haulerId, enabled],
  );
}

export async function deleteEndpoint(database: Sql, id: string): Promise<void> {
  await database.query('DELETE FROM webhook_endpoints WHERE id = $1', [id]);
}

export async function replaceSecret(database: Sql, id: string, sealed: string, overlapSeconds: number): Promise<void> {
  await database.query(
    `UPDATE webhook_endpoints SET sealed_former_secret = CASE WHEN $3 > 0 THEN sealed_secret END,
       former_secret_until = CASE WHEN $3 > 0 THEN now() + $3 * interval '1 second' END, sealed_secret = $2, updated_at = now()
     WHERE id = $1`,
    [id, sealed, overlapSeconds],
  );
}

/** The first key of the rotations of a key. */
export async function firstKeyOf(database: Sql, keyId: string): Promise<string> {
  const sql = 'SELECT coalesce(root_id, id) AS id FROM api_keys WHERE id = $1';
  return (await database.only<{ id: string }>(sql, [keyId])).id;
}

/** Whether a partner's first key, or one that a rotation made of it, is valid. */
export async function isKeyValid(database: Sql, firstKeyId: string): Promise<boolean> {
  const row = await database.only<{ valid: boolean }>(
    `SELECT EXISTS (SELECT FROM api_keys WHERE (id = $1 OR root_id = $1) AND revoked_at IS NULL
         AND coalesce(least(expires_at, retires_at), 'infinity') > now()) AS valid`,
    [firstKeyId],
  );
  return row.valid;
}

/** The state of an endpoint after a try. */
export async function recordSuccess(database: Sql, id: string): Promise<void> {
  await database.query(
    `UPDATE webhook_endpoints SET failing_since = NULL, failures = 0, paused_until = NULL
     WHERE id = $1 AND (failing_since IS NOT NULL OR paused_until IS NOT NULL)`,
    [id],
  );
}

/** Returns since when each try has failed, and how many did; undefined if the endpoint is gone. */
export async function recordFailure(
  database: Sql,
  id: string,
): Promise<{ readonly failures: number; readonly failing_ms: number } | undefined> {
  return database.first<{ failures: number; failing_ms: number }>(
    `UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, now()), failures = least(failures + 1, 1000000)
     WHERE id = $1 RETURNING failures, extract(epoch FROM now() - failing_since)::float8 * 1000 AS failing_ms`,
    [id],
  );
}

export async function pauseEndpoint(database: Sql, id: string, ms: number): Promise<void> {
  await database.query(
    `UPDATE webhook_endpoints SET paused_until = greatest(paused_until, now() + $2::float8 * interval '1 ms') WHERE id = $1`,
    [id, ms],
  );
}

/** Returns whether it was enabled, so that there is one notice. */
export async function disableEndpoint(database: Sql, id: string, reason: DisabledReason): Promise<boolean> {
  const disabled = await database.change(
    `UPDATE webhook_endpoints SET enabled = false, disabled_reason = $2, updated_at = now() WHERE id = $1 AND enabled`,
    [id, reason],
  );
  return disabled > 0;
}

/** The other endpoints of the operator. */
export async function operatorEndpoints(database: Sql, except: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'SELECT id FROM webhook_endpoints WHERE enabled AND key_id IS NULL AND id <> $1',
    [except],
  );
  return rows.map(({ id }) => id);
}

/** An endpoint that the service has disabled, or that has failed for more than an hour. */
export interface TroubledEndpoint extends Pick<
  EndpointRow,
  'id' | 'hauler_id' | 'disabled_reason' | 'failing_since' | 'updated_at'
> {
  /** Deliveries that did not arrive. */
  readonly waiting: number;
  /** Of the newest delivery that failed. */
  readonly reason: DeliveryReason | null;
}

export function troubledEndpoints(database: Sql): Promise<TroubledEndpoint[]> {
  return database.query<TroubledEndpoint>(
    `SELECT id, hauler_id, disabled_reason, failing_since, updated_at, (
         SELECT count(*)::float8 FROM webhook_deliveries AS d WHERE d.endpoint_id = e.id AND d.status <> 'delivered') AS waiting, (
         SELECT reason FROM webhook_deliveries AS d WHERE d.endpoint_id = e.id AND reason IS NOT NULL AND reason <> 'disabled'
         ORDER BY id DESC LIMIT 1) AS reason
     FROM webhook_endpoints AS e
     WHERE disabled_reason IN ('gone', 'failing') OR enabled AND failing_since < now() - interval '1 hour'`,
    [],
  );
}
