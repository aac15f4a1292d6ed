import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The response of the reference partner is one compressed body in the row of its hauler. The pieces were those of one stream. */
export class StoreSiteDataInOneRow1795736000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE reference_site_data ADD body bytea;
      ALTER TABLE reference_site_data ALTER COLUMN body SET STORAGE EXTERNAL;
      UPDATE reference_site_data AS stored SET body = (
        SELECT string_agg(piece.bytes, ''::bytea ORDER BY piece.position) FROM reference_site_data_chunks AS piece
        WHERE piece.hauler_id = stored.hauler_id AND piece.version = stored.version);
      ALTER TABLE reference_site_data
        ALTER COLUMN body SET NOT NULL,
        DROP version, DROP previous_version, DROP gzip_length, DROP chunks;
      DROP TABLE reference_site_data_chunks`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE reference_site_data_chunks (
        hauler_id uuid NOT NULL,
        version uuid NOT NULL,
        position integer NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (hauler_id, version, position)
      );
      ALTER TABLE reference_site_data_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
      ALTER TABLE reference_site_data
        ADD version uuid NOT NULL DEFAULT gen_random_uuid(),
        ADD previous_version uuid,
        ADD gzip_length bigint,
        ADD chunks integer NOT NULL DEFAULT 1;
      INSERT INTO reference_site_data_chunks SELECT hauler_id, version, 0, body FROM reference_site_data;
      UPDATE reference_site_data SET gzip_length = length(body);
      ALTER TABLE reference_site_data
        ALTER COLUMN version DROP DEFAULT, ALTER COLUMN chunks DROP DEFAULT, ALTER COLUMN gzip_length SET NOT NULL,
        DROP body`);
  }
}
