import type { Querying } from '../database/sql.js';
import type { DayBytes } from './exchange-budget.js';

/** Adds the bytes of a batch to those of today, and returns what all instances stored today. */
export async function countBytes(database: Querying, { total, keyless }: Omit<DayBytes, 'day'>): Promise<DayBytes> {
  const rows = await database.query<DayBytes[]>(
    `INSERT INTO exchange_days AS d (day, bytes, keyless_bytes)
     VALUES ((now() AT TIME ZONE 'UTC')::date, $1, $2)
     ON CONFLICT (day) DO UPDATE
        SET bytes = d.bytes + excluded.bytes, keyless_bytes = d.keyless_bytes + excluded.keyless_bytes
     RETURNING to_char(day, 'YYYY-MM-DD') AS day, bytes::float8 AS total, keyless_bytes::float8 AS keyless`,
    [total, keyless],
  );
  return rows[0]!;
}

/** Which of the exchanges are stored. */
export async function storedIds(database: Querying, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }[]>('SELECT id FROM exchanges WHERE id = ANY($1::uuid[])', [ids]);
  return new Set(rows.map(({ id }) => id));
}

/** Creates the partitions of the days from `first` to `last` (UTC) that do not exist. */
export async function createPartitions(database: Querying, first: Date, last: Date): Promise<void> {
  await database.query(
    `SELECT create_exchange_partitions(($1::timestamptz AT TIME ZONE 'UTC')::date, ($2::timestamptz AT TIME ZONE 'UTC')::date)`,
    [first, last],
  );
}
