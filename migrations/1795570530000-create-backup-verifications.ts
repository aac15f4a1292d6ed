import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The last archive that `backup verify` restored: one row. `/metrics` of every instance and `doctor` show its time. */
export class CreateBackupVerifications1795570530000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE backup_verifications (
        is_last boolean PRIMARY KEY DEFAULT true CONSTRAINT backup_verifications_last_check CHECK (is_last),
        verified_at timestamptz NOT NULL,
        archive_created_at timestamptz NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE backup_verifications');
  }
}
