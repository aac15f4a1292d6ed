import { Injectable } from '@nestjs/common';
import { Database } from '../core/database/database.js';
import { IS_FAILED, REASON } from '../exchanges/exchange-list.sql.js';

/** The calls of a connection, from their hours, and its next one. */
export interface HealthRow {
  readonly id: string;
  /** Since the start of the hours that were asked for. */
  readonly calls: number;
  readonly failed: number;
  /** Ids contain the time. */
  readonly success_id: string | null;
  readonly failure_id: string | null;
  /** Of the last failure, while its exchange is kept; 0 without a response. */
  readonly status: number | null;
  readonly reason: string | null;
  /** Of a vision connection: the next list, poll or request. */
  readonly next_at: Date | null;
}

const HOURS = 'connection_hours AS h WHERE (h.hauler_id, h.connection_id) = (c.hauler_id, c.id)';

/** The first of each index. */
const nextOf = (table: string) =>
  `(SELECT min(due_at) FROM ${table} AS w WHERE w.connection_id = c.id AND w.due_at IS NOT NULL)`;

const HEALTH = `
  SELECT c.id, coalesce(day.calls, 0)::float8 AS calls, coalesce(day.failed, 0)::float8 AS failed,
    success.id AS success_id, failure.id AS failure_id, call.status, call.reason, CASE WHEN c.interface = 'vision' THEN least(
      ${['video_subscriptions', 'video_windows', 'video_polls', 'video_request_parts'].map(nextOf).join(', ')}) END AS next_at
  FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS c (hauler_id, id, interface)
  CROSS JOIN LATERAL (SELECT sum(calls) AS calls, sum(failed) AS failed FROM ${HOURS} AND h.hour >= $4) AS day
  LEFT JOIN LATERAL (SELECT last_success_id AS id FROM ${HOURS} AND last_success_id IS NOT NULL ORDER BY hour DESC LIMIT 1)
    AS success ON true
  LEFT JOIN LATERAL (SELECT last_failure_id AS id FROM ${HOURS} AND last_failure_id IS NOT NULL ORDER BY hour DESC LIMIT 1)
    AS failure ON true
  LEFT JOIN LATERAL (SELECT status, CASE WHEN ${IS_FAILED} THEN ${REASON} END AS reason FROM exchanges AS e
    WHERE e.id = failure.id AND e.hauler_id = c.hauler_id LIMIT 1) AS call ON true`;

interface Called {
  readonly haulerId: string;
  readonly id: string;
  readonly interface: string;
}

const lastOf = (column: string) =>
  `(SELECT h.${column} FROM ${HOURS} AND h.${column} IS NOT NULL ORDER BY hour DESC LIMIT 1)`;

const HAULERS = `
  SELECT own.id, count.*, (SELECT max(k.last_used_at) FROM api_keys AS k
      WHERE k.hauler_id = own.id AND k.interfaces && ARRAY['scale', 'account']) AS last_push_at,
    coalesce(refused.pushes, 0)::float8 AS refused_pushes
  FROM unnest($1::uuid[]) AS own (id)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS connections, count(*) FILTER (WHERE c.enabled AND (c.last_error IS NOT NULL
      OR coalesce(${lastOf('last_failure_id')} > ${lastOf('last_success_id')},
        $3 AND ${lastOf('last_failure_id')} IS NOT NULL)))::int AS failing_connections
    FROM connections AS c WHERE c.hauler_id = own.id AND c.deleted_at IS NULL) AS count
  LEFT JOIN (
    SELECT hauler_id, sum(count) AS pushes FROM exchange_hours
    WHERE hour >= $2 AND direction = 'inbound' AND route IN ('createTicket', 'createAccount') AND ${IS_FAILED} AND NOT by_sandbox
    GROUP BY hauler_id) AS refused ON refused.hauler_id = own.id`;

/** How connections fare, and the haulers that have them. */
@Injectable()
export class ConnectionHealths {
  constructor(private readonly database: Database) {}

  async find(connections: readonly Called[], since: Date): Promise<ReadonlyMap<string, HealthRow>> {
    if (connections.length === 0) return new Map();
    const rows = await this.database.query<HealthRow>(HEALTH, [
      connections.map(({ haulerId }) => haulerId),
      connections.map(({ id }) => id),
      connections.map(({ interface: name }) => name),
      since,
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** `isCounted`: calls that succeed are counted too. */
  async ofHaulers(ids: readonly string[], since: Date, isCounted: boolean): Promise<ReadonlyMap<string, object>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.query<{ readonly id: string }>(HAULERS, [ids, since, isCounted]);
    return new Map(rows.map((row) => [row.id, row]));
  }
}
