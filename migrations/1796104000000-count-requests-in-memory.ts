import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each instance counts the requests of keys alone. An older instance beside it then does the same, and logs a warning. */
export class CountRequestsInMemory1796104000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE IF EXISTS request_counts');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE UNLOGGED TABLE request_counts (
        key_id uuid PRIMARY KEY,
        requests bigint NOT NULL,
        ends_at timestamptz NOT NULL
      )`);
  }
}
