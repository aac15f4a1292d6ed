import type { Sql } from '../core/database/sql.js';

/**
 * Gives a hauler without a retention of its own, or each, that of `VIDEO_RETENTION_DAYS` (0: for ever). A variable that is changed later
 * changes nothing for it.
 */
export async function storeMissingRetentions(database: Sql, days: number, haulerId?: string): Promise<void> {
  await database.query(
    `INSERT INTO hauler_retention (hauler_id, on_demand_days, continuous_days)
     SELECT id, nullif($1::integer, 0), nullif($1::integer, 0) FROM haulers WHERE $2::uuid IS NULL OR id = $2
     ON CONFLICT DO NOTHING`,
    [days, haulerId ?? null],
  );
}
