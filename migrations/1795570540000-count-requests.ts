import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The requests of each key in its current minute, over all instances. Unlogged: after a crash of the database the minutes
 * begin again.
 */
export class CountRequests1795570540000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE UNLOGGED TABLE request_counts (
        key_id uuid PRIMARY KEY,
        requests bigint NOT NULL,
        ends_at timestamptz NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE request_counts');
  }
}
