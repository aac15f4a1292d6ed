import type { BenchDatabase } from './database.js';

const TRUCKS = 1_000;

/**
 * Chunks of a year ago of the first connection, one per minute of each of 4,000 cameras. Only their rows exist. Indexes
 * and counts of days are built after the rows, which takes a fifth of the time.
 */
export async function addRecordings({ client }: BenchDatabase, count: number): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE tablename = 'recordings' AND indexname <> 'recordings_pkey'`,
  );
  await client.query("SET maintenance_work_mem = '512MB'");
  await client.query('ALTER TABLE recordings DISABLE TRIGGER USER');
  await client.query(`DROP INDEX ${indexes.map(({ name }) => name).join(', ')}`);
  await client.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, size_bytes, sha256, fetch_ms, stored_at, created_at,
       updated_at)
     SELECT c.hauler_id, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, c.id, 'continuous', 'old-' || n,
       c.customer_id, 'TRUCK-' || n / 4 % ${TRUCKS}, (ARRAY['front', 'rear', 'left', 'right'])[n % 4 + 1], at,
       at + interval '1 minute', 60, 'stored', at, 10240, repeat('5', 64), 5, at, at, at
     FROM (SELECT hauler_id, id, customer_id FROM connections ORDER BY id LIMIT 1) AS c, generate_series(1, $1) AS n,
       LATERAL (SELECT date_trunc('minute', now()) - interval '1 year' + n / ${4 * TRUCKS} * interval '1 minute' AS at) AS times`,
    [count],
  );
  for (const { definition } of indexes) await client.query(definition);
  await client.query('ALTER TABLE recordings ENABLE TRIGGER USER');
  await client.query(
    `INSERT INTO recording_days (connection_id, truck_id, camera_id, source, status, day, rows)
     SELECT connection_id, truck_id, camera_id, source, status, (start_time AT TIME ZONE 'UTC')::date, count(*)
     FROM recordings GROUP BY 1, 2, 3, 4, 5, 6`,
  );
  await client.query('VACUUM (ANALYZE) recordings, recording_days');
}
