import type { Sql } from '../database/sql.js';

export interface CheckedDatabase {
  readonly version: string;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  readonly synchronousNames: string;
}

export async function checkedDatabase(database: Sql): Promise<CheckedDatabase> {
  const [row] = await database.query<CheckedDatabase>(
    `SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS "isStandby",
            current_setting('transaction_read_only')::boolean AS "isReadOnly",
            current_setting('synchronous_standby_names') AS "synchronousNames"`,
    [],
  );
  return row as CheckedDatabase;
}

/** A standby that is connected. Without pg_monitor, PostgreSQL hides all but its name. */
export interface Standby {
  readonly name: string;
  readonly state: string | null;
  readonly syncState: string | null;
  readonly lagSeconds: number;
}

export const standbys = (database: Sql): Promise<Standby[]> =>
  database.query<Standby>(
    `SELECT coalesce(nullif(application_name, ''), 'a standby') AS name, state, sync_state AS "syncState",
            coalesce(extract(epoch FROM replay_lag), 0)::float8 AS "lagSeconds"
       FROM pg_stat_replication WHERE application_name NOT LIKE '%basebackup%' ORDER BY 1`,
    [],
  );

export interface PartitionedTable {
  readonly name: string;
  readonly partitions: number;
  /** Days or months (UTC) of the newest one after the current one. */
  readonly ahead: number | null;
  readonly unit: 'days' | 'months';
}

export const partitionedTables = (database: Sql): Promise<PartitionedTable[]> =>
  database.query<PartitionedTable>(
    `SELECT t.relname AS name, count(p.relname)::int AS partitions,
            CASE WHEN max(u.unit) = 'days' THEN max(u.start) - max(u.today)
              ELSE (12 * extract(year FROM max(u.start)) + extract(month FROM max(u.start))
                - 12 * extract(year FROM max(u.today)) - extract(month FROM max(u.today)))::int END AS ahead,
            coalesce(max(u.unit), 'months') AS unit
       FROM pg_class t LEFT JOIN pg_inherits i ON i.inhparent = t.oid LEFT JOIN pg_class p ON p.oid = i.inhrelid
            CROSS JOIN LATERAL (SELECT (now() AT TIME ZONE 'UTC')::date AS today,
              to_date(substring(p.relname FROM '_(\\d{6,8})$'), CASE WHEN p.relname ~ '_\\d{8}$' THEN 'YYYYMMDD' ELSE 'YYYYMM' END) AS start,
              CASE WHEN p.relname ~ '_\\d{8}$' THEN 'days' WHEN p.relname ~ '_\\d{6}$' THEN 'months' END AS unit) AS u
      WHERE t.relkind = 'p' AND t.relnamespace = current_schema()::regnamespace
      GROUP BY t.relname ORDER BY t.relname`,
    [],
  );

/** The tables of scheduled work, and their rows that may run. */
export const WORK: readonly { readonly kind: string; readonly table: string; readonly where: string }[] = [
  {
    kind: 'synchronisations',
    table: 'connections',
    where: `interface = 'site' AND deleted_at IS NULL AND (enabled OR run_requested_at IS NOT NULL)`,
  },
  { kind: 'downloads', table: 'recordings', where: 'true' },
  { kind: 'requests for clips', table: 'video_request_parts', where: `status = 'submitting'` },
  { kind: 'polls of clips', table: 'video_polls', where: 'true' },
  { kind: 'subscriptions', table: 'video_subscriptions', where: 'enabled AND deleted_at IS NULL' },
  { kind: 'lists of recordings', table: 'video_windows', where: 'true' },
  { kind: 'clips of the reference partner', table: 'reference_video_requests', where: 'true' },
  { kind: 'erasures', table: 'erasures', where: 'true' },
  // Those of an endpoint that is paused or disabled wait as they should.
  {
    kind: 'webhooks',
    table: 'webhook_deliveries',
    where: `EXISTS (SELECT FROM webhook_endpoints AS e WHERE e.id = endpoint_id AND e.enabled
      AND (e.paused_until IS NULL OR e.paused_until <= now()))`,
  },
];

export interface WaitingWork {
  readonly kind: string;
  readonly waitedSeconds: number;
}

/** How long the oldest due row of each kind has waited. */
export async function waitingWork(database: Sql): Promise<WaitingWork[]> {
  const found: WaitingWork[] = [];
  for (const { kind, table, where } of WORK) {
    const [row] = await database.query<{ waited: number | null }>(
      `SELECT extract(epoch FROM now() - min(due_at))::float8 AS waited FROM ${table}
        WHERE due_at <= now() AND started_at IS NULL AND ${where}`,
      [],
    );
    found.push({ kind, waitedSeconds: row?.waited ?? 0 });
  }
  return found;
}

/** Milliseconds since the epoch. */
export async function databaseClock(database: Sql): Promise<number> {
  const [row] = await database.query<{ now: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
    [],
  );
  return row?.now ?? 0;
}
