import type { Sql } from '../database/sql.js';

/** Why no partner is called, and since when. */
export interface OutboundStop {
  readonly reason: string;
  readonly since: Date;
}

export async function findOutboundStop(database: Sql): Promise<OutboundStop | undefined> {
  return (await database.query<OutboundStop>('SELECT reason, since FROM outbound_stop', []))[0];
}

/** Keeps the time of a stop that exists. */
export async function storeOutboundStop(database: Sql, reason: string): Promise<void> {
  await database.query(
    'INSERT INTO outbound_stop (reason) VALUES ($1) ON CONFLICT (one) DO UPDATE SET reason = excluded.reason',
    [reason],
  );
}

export async function deleteOutboundStop(database: Sql): Promise<void> {
  await database.query('DELETE FROM outbound_stop', []);
}
