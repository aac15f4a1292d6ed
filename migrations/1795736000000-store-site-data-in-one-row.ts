import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** The response of the reference partner is one compressed body in the row of its hauler. The pieces were those of one stream. */
export class StoreSiteDataInOneRow1795736000000 extends Migration {
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
}
