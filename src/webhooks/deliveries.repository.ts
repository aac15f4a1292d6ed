import type { WebhookDeliveryQuery, WebhookEndpointRemoval } from '../contracts/admin/webhooks.routes.js';
import type { DeliveryReason, DeliveryStatus } from '../contracts/webhooks/delivery.values.js';
import type { EventData, SentTopic } from '../contracts/webhooks/topics.values.js';
import type { SqlList } from '../core/database/list-page.js';
import type { Sql } from '../core/database/sql.js';
import { uuidv7 } from '../core/database/uuid.js';

export interface DeliveryRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly hauler_id: string | null;
  readonly topic: SentTopic;
  /** JSON. */
  readonly data: string;
  readonly created_at: Date;
  readonly status: DeliveryStatus;
  readonly reason: DeliveryReason | null;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly ended_at: Date | null;
  readonly due_at: Date | null;
  readonly attempts: number;
}

export type EndedTest = Omit<DeliveryRow, 'due_at' | 'ended_at'>;

/** One that waits for its first try. */
export async function insertDelivery(
  database: Sql,
  endpointId: string,
  { topic, data }: { readonly topic: SentTopic; readonly data: EventData },
): Promise<void> {
  await database.query(
    'INSERT INTO webhook_deliveries (id, endpoint_id, hauler_id, topic, data) VALUES ($1, $2, $3, $4, $5)',
    [uuidv7(), endpointId, data['haulerId'] ?? null, topic, JSON.stringify(data)],
  );
}

/** A test that has ended: it is tried outside of the lanes. */
export async function insertTest(database: Sql, row: EndedTest): Promise<void> {
  await database.query(
    `INSERT INTO webhook_deliveries
       (id, endpoint_id, hauler_id, topic, data, created_at, status, reason, response_status, response_body, attempts, due_at, ended_at)
     SELECT id, endpoint_id, hauler_id, topic, data, created_at, status, reason, response_status, response_body, attempts, NULL, now()
     FROM json_populate_record(NULL::webhook_deliveries, $1)`,
    [JSON.stringify(row)],
  );
}

/** `keyId`: of the endpoints of a partner's first key; of all if it is null. */
export async function findDelivery(database: Sql, id: string, keyId: string | null): Promise<DeliveryRow | undefined> {
  return database.first<DeliveryRow>(
    `SELECT * FROM webhook_deliveries
     WHERE id = $1 AND ($2::uuid IS NULL OR endpoint_id IN (SELECT id FROM webhook_endpoints WHERE key_id = $2))`,
    [id, keyId],
  );
}

export const deliveryList = (query: WebhookDeliveryQuery, keyId: string | null): SqlList => ({
  name: 'webhook-deliveries',
  sql: `SELECT * FROM webhook_deliveries
    WHERE ($1::uuid IS NULL OR endpoint_id = $1) AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR topic = $3)
      AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
      AND ($6::uuid IS NULL OR endpoint_id IN (SELECT id FROM webhook_endpoints WHERE key_id = $6))`,
  parameters: [
    query.endpointId ?? null,
    query.status ?? null,
    query.topic ?? null,
    query.from ?? null,
    query.to ?? null,
    keyId,
  ],
  key: ['id'],
  order: 'DESC',
});

const AGAIN = `status = 'pending', reason = NULL, ended_at = NULL, due_at = now(), attempts = 0, last_error = NULL`;

/** Returns whether it is due now: not while it is being delivered. */
export async function retryDelivery(database: Sql, id: string): Promise<boolean> {
  const retried = await database.change(`UPDATE webhook_deliveries SET ${AGAIN} WHERE id = $1 AND started_at IS NULL`, [
    id,
  ]);
  return retried > 0;
}

const FAILED = `endpoint_id = $1 AND status = 'failed' AND created_at >= $2 AND created_at < $3 AND started_at IS NULL`;

export function retryFailed(database: Sql, endpointId: string, from: string, to: string): Promise<number> {
  return database.change(`UPDATE webhook_deliveries SET ${AGAIN} WHERE ${FAILED}`, [endpointId, from, to]);
}

/** Those that `retryFailed` would try again. */
export async function countFailed(database: Sql, endpointId: string, from: string, to: string): Promise<number> {
  const sql = `SELECT count(*)::float8 AS count FROM webhook_deliveries WHERE ${FAILED}`;
  return (await database.only<{ count: number }>(sql, [endpointId, from, to])).count;
}

/** The waiting ones of an endpoint are due now. */
export async function makeDue(database: Sql, endpointId: string): Promise<void> {
  await database.query(
    `UPDATE webhook_deliveries SET due_at = now()
     WHERE endpoint_id = $1 AND status = 'pending' AND due_at > now() AND started_at IS NULL`,
    [endpointId],
  );
}

/** Ends the waiting ones of an endpoint that was disabled. */
export async function failWaiting(database: Sql, endpointId: string): Promise<void> {
  await database.query(
    `UPDATE webhook_deliveries SET status = 'failed', reason = 'disabled', due_at = NULL, ended_at = now()
     WHERE endpoint_id = $1 AND status = 'pending' AND started_at IS NULL`,
    [endpointId],
  );
}

/** What `deleteDeliveries` deletes. */
export async function countDeliveries(database: Sql, endpointId: string): Promise<WebhookEndpointRemoval> {
  return await database.only<WebhookEndpointRemoval>(
    `SELECT count(*)::float8 AS deliveries, count(*) FILTER (WHERE status = 'pending')::float8 AS pending
       FROM webhook_deliveries WHERE endpoint_id = $1`,
    [endpointId],
  );
}

export async function deleteDeliveries(database: Sql, endpointId: string): Promise<void> {
  await database.query('DELETE FROM webhook_deliveries WHERE endpoint_id = $1', [endpointId]);
}

/** Endpoints with due deliveries. Only those that are called: a receiver that is away may have very many of them. */
export const DELIVERY_LANES = `
  SELECT e.id::text AS lane, due.due_at AS urgency, due.due_at AS waiting_since
  FROM webhook_endpoints AS e CROSS JOIN LATERAL (
    SELECT d.due_at FROM webhook_deliveries AS d WHERE d.endpoint_id = e.id AND d.due_at <= now() ORDER BY d.due_at LIMIT 1) AS due
  WHERE e.enabled AND (e.paused_until IS NULL OR e.paused_until <= now())`;

/** Not while the endpoint is paused or disabled. */
export const CALLED_ENDPOINTS = `
  EXISTS (SELECT FROM webhook_endpoints AS e
    WHERE e.id = endpoint_id AND e.enabled AND (e.paused_until IS NULL OR e.paused_until <= now()))`;

const BATCH = 10_000;

/** Deletes those that ended before a number of days, and those without an endpoint. Returns how many. */
export function deleteOld(database: Sql, days: number): Promise<number> {
  return database.change(
    `DELETE FROM webhook_deliveries WHERE id IN (
       SELECT d.id FROM webhook_deliveries AS d
       WHERE d.ended_at < now() - $1 * interval '1 day'
          OR d.started_at IS NULL AND NOT EXISTS (SELECT FROM webhook_endpoints AS e WHERE e.id = d.endpoint_id)
       LIMIT ${BATCH})`,
    [days],
  );
}

/** Endpoints with more deliveries than `max`, and how many more. */
export function overfull(database: Sql, max: number): Promise<{ readonly id: string; readonly over: number }[]> {
  return database.query<{ readonly id: string; readonly over: number }>(
    `SELECT e.id, counted.rows - $1 AS over FROM webhook_endpoints AS e CROSS JOIN LATERAL (
       SELECT count(*)::int AS rows FROM webhook_deliveries AS d WHERE d.endpoint_id = e.id) AS counted
     WHERE counted.rows > $1`,
    [max],
  );
}

/** Deletes the oldest: first those that were delivered, then those that failed, then waiting ones, which are counted. */
export async function deleteOldest(database: Sql, endpointId: string, count: number): Promise<void> {
  await database.query(
    `WITH gone AS (
       DELETE FROM webhook_deliveries WHERE id IN (
         SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND started_at IS NULL
         ORDER BY CASE status WHEN 'delivered' THEN 0 WHEN 'failed' THEN 1 ELSE 2 END, id LIMIT $2)
       RETURNING status)
     UPDATE webhook_endpoints SET dropped = dropped + (SELECT count(*) FROM gone WHERE status <> 'delivered') WHERE id = $1`,
    [endpointId, count],
  );
}
