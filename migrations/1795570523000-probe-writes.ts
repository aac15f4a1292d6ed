import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Where the readiness check writes. A row takes more than half a page and is neither compressed nor moved out, so that each one
 * asks the disk for a page: updates succeed on a full disk.
 */
export class ProbeWrites1795570523000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE write_probes (filler text NOT NULL);
      ALTER TABLE write_probes ALTER filler SET STORAGE PLAIN`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE write_probes');
  }
}
