import { onlyRow, type Sql } from '../../core/database/sql.js';

/** A standby that is connected. Without pg_monitor, PostgreSQL hides all but its name. */
export interface Standby {
  readonly name: string;
  readonly state: string | null;
  readonly sync_state: string | null;
  readonly lag_seconds: number;
}

export const standbys = (database: Sql): Promise<Standby[]> =>
  database.query<Standby>(
    `SELECT coalesce(nullif(application_name, ''), 'a standby') AS name, state, sync_state,
       coalesce(extract(epoch FROM replay_lag), 0)::float8 AS lag_seconds
     FROM pg_stat_replication WHERE application_name NOT LIKE '%basebackup%' ORDER BY 1`,
    [],
  );

/** A replication slot that nothing reads, as a standby that is away leaves one. */
export interface UnreadSlot {
  readonly name: string;
  /** Bytes of the write-ahead log that are kept for it. */
  readonly kept_bytes: number;
}

export const unreadSlots = (database: Sql): Promise<UnreadSlot[]> =>
  database.query<UnreadSlot>(
    `SELECT slot_name AS name, coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
       ELSE pg_current_wal_lsn() END, restart_lsn), 0)::float8 AS kept_bytes
     FROM pg_replication_slots WHERE NOT active AND NOT temporary ORDER BY 1`,
    [],
  );

/** `synchronous_standby_names` of the server; empty if commits wait for no standby. */
export async function synchronousNames(database: Sql): Promise<string> {
  const sql = "SELECT current_setting('synchronous_standby_names') AS names";
  return onlyRow(await database.query<{ names: string }>(sql, [])).names;
}

/** Milliseconds since the epoch. */
export async function databaseClock(database: Sql): Promise<number> {
  const sql = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now';
  return onlyRow(await database.query<{ now: number }>(sql, [])).now;
}
