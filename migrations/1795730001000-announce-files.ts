import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The files that are being stored, and whose rows are not written yet: a repair of the storage leaves them. */
export class AnnounceFiles1795730001000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE storing_files (
        id uuid PRIMARY KEY,
        name text,
        renewed_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE storing_files');
  }
}
