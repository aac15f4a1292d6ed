import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * A row of `coverage_days` has the sums of a camera's day (UTC) once the day is settled: no recording of it waits for its file. Until then,
 * and while `stored` is null, the day is computed from its recordings. Each column has the milliseconds from the start of the day until
 * each of its 25 full hours, so that the sum between two hours is a difference.
 */
export class SettleCoverageDays1795734000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE coverage_days (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        day date NOT NULL,
        stored integer[],
        expired integer[],
        failed integer[],
        PRIMARY KEY (hauler_id, connection_id, truck_id, camera_id, day)
      ) WITH (fillfactor = 60);
      LOCK TABLE recordings IN SHARE MODE;
      INSERT INTO coverage_days (hauler_id, connection_id, truck_id, camera_id, day)
      SELECT DISTINCT hauler_id, connection_id, truck_id, camera_id, day::date
      FROM recordings, generate_series(date_trunc('day', start_time AT TIME ZONE 'UTC'),
        least(end_time, start_time + interval '31 days') AT TIME ZONE 'UTC' - interval '1 microsecond', interval '1 day') AS day;
      CREATE INDEX coverage_days_unsettled_idx ON coverage_days (day, hauler_id, connection_id, truck_id, camera_id)
        WHERE stored IS NULL`);
  }
}
