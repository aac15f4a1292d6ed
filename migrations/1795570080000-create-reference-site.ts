import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The response of the reference partner for each hauler: one compressed body, stored in chunks (decision 37). */
export class CreateReferenceSite1795570080000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE reference_site_data (
        hauler_id uuid PRIMARY KEY,
        version uuid NOT NULL,
        previous_version uuid,
        digest text NOT NULL,
        byte_length bigint NOT NULL,
        gzip_length bigint NOT NULL,
        chunks integer NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE TABLE reference_site_data_chunks (
        hauler_id uuid NOT NULL,
        version uuid NOT NULL,
        position integer NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (hauler_id, version, position)
      );
      ALTER TABLE reference_site_data_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE reference_site_data_chunks, reference_site_data');
  }
}
