import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The search for connections with due recordings has an index of its own: its predicate, which holds for every row, keeps the
 * search from using the index of all waiting recordings. With statistics from a time with fewer of them, PostgreSQL
 * preferred that one, and read all of them for each connection.
 */
export class FindLanesOfDownloads1795570462000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_due_idx;
      CREATE INDEX recordings_due_idx ON recordings (connection_id, due_at) WHERE due_at IS NOT NULL AND relinks >= 0`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_due_idx;
      CREATE INDEX recordings_due_idx ON recordings (connection_id, due_at) WHERE due_at IS NOT NULL AND deleted_at IS NULL`);
  }
}
