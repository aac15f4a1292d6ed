import type { Querying } from '../database/sql.js';
import type { BatchBytes, DayBytes } from './exchange-budget.js';

/** Adds the bytes of a batch to those of today. A text without parameters, which follows the COPY of the batch. */
export const daySql = ({ total, keyless }: BatchBytes): string => `
  INSERT INTO exchange_days AS d (day, bytes, keyless_bytes)
  VALUES ((now() AT TIME ZONE 'UTC')::date, ${total}, ${keyless})
      ON CONFLICT (day) DO UPDATE
     SET bytes = d.bytes + excluded.bytes, keyless_bytes = d.keyless_bytes + excluded.keyless_bytes`;

/** What all instances stored today (UTC). */
export async function bytesOfToday(database: Querying): Promise<DayBytes> {
  const [today] = await database.query<DayBytes[]>(
    `SELECT to_char(today, 'YYYY-MM-DD') AS day, coalesce(bytes, 0)::float8 AS total, coalesce(keyless_bytes, 0)::float8 AS keyless
       FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS now LEFT JOIN exchange_days ON day = today`,
    [],
  );
  return today as DayBytes;
}

/** Which of the exchanges are stored. */
export async function storedIds(database: Querying, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }[]>('SELECT id FROM exchanges WHERE id = ANY($1::uuid[])', [ids]);
  return new Set(rows.map(({ id }) => id));
}
