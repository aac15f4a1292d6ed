import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the partner side answers for each hauler: one ready-made answer, compressed, in pieces (decision 37). */
export class CreateHostedSiteData1763600600000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE hosted_site_data (
        hauler_id uuid PRIMARY KEY,
        version uuid NOT NULL,
        previous_version uuid,
        digest text NOT NULL,
        byte_length bigint NOT NULL,
        gzip_length bigint NOT NULL,
        chunks integer NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE TABLE hosted_site_data_chunks (
        hauler_id uuid NOT NULL,
        version uuid NOT NULL,
        position integer NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (hauler_id, version, position)
      );
      ALTER TABLE hosted_site_data_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE hosted_site_data_chunks, hosted_site_data');
  }
}
