import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A number for each hauler's catalog that rises with every run and every confirmation that changes it; a hauler without
 * a row has number 0. While it stands, the parents that a run has read are still all that there are. Beside
 * `catalog_layouts`, whose rows tickets lock, and which does not rise for what is new.
 */
export class NumberCatalogChanges1763600860000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE catalog_changes (
        hauler_id uuid PRIMARY KEY REFERENCES haulers (id) ON DELETE CASCADE,
        number bigint NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE catalog_changes');
  }
}
