import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A row of `coverage_days` has the sums of a camera's day (UTC) once the day is settled: no recording of it waits for its file. Until then,
 * and while `stored` is null, the day is computed from its recordings. Each column has the milliseconds from the start of the day until
 * each of its 25 full hours, so that the sum between two hours is a difference.
 */
export class SettleCoverageDays1795734000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE coverage_days
        DROP is_shared, DROP milliseconds,
        ADD stored integer[], ADD expired integer[], ADD failed integer[];
      CREATE INDEX coverage_days_unsettled_idx ON coverage_days (day, hauler_id, connection_id, truck_id, camera_id)
        WHERE stored IS NULL`);
  }

  /** Of shared days, the recordings are read. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX coverage_days_unsettled_idx;
      ALTER TABLE coverage_days
        DROP stored, DROP expired, DROP failed,
        ADD is_shared boolean NOT NULL DEFAULT true,
        ADD milliseconds bigint[] NOT NULL DEFAULT array_fill(0::bigint, ARRAY[96]);
      ALTER TABLE coverage_days ALTER is_shared DROP DEFAULT, ALTER milliseconds DROP DEFAULT`);
  }
}
