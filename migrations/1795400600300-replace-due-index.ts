import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For the oldest due recording. Its predicate keeps claims from using it: with statistics from a time without due rows,
 * PostgreSQL preferred the index of all due rows to that of the connection, and each claim read all of them.
 */
export class ReplaceDueIndex1795400600300 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_due_idx;
      CREATE INDEX recordings_unleased_due_idx ON recordings (due_at) WHERE due_at IS NOT NULL AND leased_until IS NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_unleased_due_idx;
      CREATE INDEX recordings_due_idx ON recordings (due_at) WHERE due_at IS NOT NULL`);
  }
}
