import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which version of the service has migrated the database, and the oldest one that can use it since. At most one row. */
export class RememberVersions1795570520000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE schema_version (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        version text NOT NULL,
        oldest_compatible_version text NOT NULL,
        migrated_at timestamptz NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE schema_version');
  }
}
