import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Active scenarios of the sandbox, the clocks of customers, and the scenario of a requested clip. */
export class CreateSandbox1795570250000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE sandbox_scenarios (
        subject text NOT NULL CHECK (subject IN ('haulers', 'customers')),
        subject_id text NOT NULL,
        name text NOT NULL,
        parameters jsonb NOT NULL,
        remaining_times integer,
        ends_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (subject, subject_id, name)
      );
      CREATE TABLE reference_clocks (
        customer_id text PRIMARY KEY,
        offset_ms bigint NOT NULL
      );
      ALTER TABLE reference_video_requests ADD COLUMN sandbox jsonb`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE reference_video_requests DROP COLUMN sandbox;
      DROP TABLE reference_clocks, sandbox_scenarios`);
  }
}
