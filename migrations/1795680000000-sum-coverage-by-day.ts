import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The milliseconds of each camera's recordings by day (UTC), hour and state, which the service writes with the recordings. `milliseconds`
 * has 24 hours of stored, then of available, expired and failed recordings. Where `is_shared` is true, recordings share time or may have
 * gaps, and a reader looks at the recordings themselves.
 */
export class SumCoverageByDay1795680000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE coverage_days (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        day date NOT NULL,
        is_shared boolean NOT NULL,
        milliseconds bigint[] NOT NULL,
        PRIMARY KEY (hauler_id, connection_id, truck_id, camera_id, day)
      ) WITH (fillfactor = 60);
      LOCK TABLE recordings IN SHARE MODE;
      INSERT INTO coverage_days
      WITH footage AS (
        SELECT hauler_id, connection_id, truck_id, camera_id, status, date_trunc('milliseconds', start_time) AS starts,
          date_trunc('milliseconds', least(end_time, start_time + interval '744 hours')) AS ends,
          coalesce(part_id IS NOT NULL OR end_time - start_time > interval '1 hour'
            OR start_time < max(end_time) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            OR end_time > lead(start_time) OVER earlier, false) AS is_shared
        FROM recordings
        WINDOW earlier AS (PARTITION BY hauler_id, connection_id, truck_id, camera_id ORDER BY start_time, end_time)),
      hours AS (
        SELECT hauler_id, connection_id, truck_id, camera_id, (hour AT TIME ZONE 'UTC')::date AS day, is_shared,
          CASE status WHEN 'stored' THEN 0 WHEN 'available' THEN 24 WHEN 'expired' THEN 48 ELSE 72 END
            + extract(hour FROM hour AT TIME ZONE 'UTC')::integer AS slot,
          (extract(epoch FROM least(ends, hour + interval '1 hour') - greatest(starts, hour)) * 1000)::bigint AS milliseconds
        FROM footage, generate_series(date_trunc('hour', starts, 'UTC'), ends - interval '1 microsecond', interval '1 hour') AS hour
        WHERE starts < ends),
      slots AS (
        SELECT hauler_id, connection_id, truck_id, camera_id, day, slot, bool_or(is_shared) AS is_shared, sum(milliseconds)::bigint AS milliseconds
        FROM hours GROUP BY 1, 2, 3, 4, 5, 6),
      days AS (
        SELECT hauler_id, connection_id, truck_id, camera_id, day, bool_or(is_shared) AS is_shared,
          array_agg(slot) AS slots, array_agg(milliseconds) AS milliseconds
        FROM slots GROUP BY 1, 2, 3, 4, 5)
      SELECT hauler_id, connection_id, truck_id, camera_id, day, is_shared, ARRAY(
        SELECT coalesce(days.milliseconds[array_position(days.slots, slot)], 0) FROM generate_series(0, 95) AS slot ORDER BY slot)
      FROM days`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE coverage_days');
  }
}
