import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Every table that is changed has a key: a publication refuses the deletions of a table that has none. */
export class KeyWriteProbes1795730000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE write_probes ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE write_probes DROP COLUMN id');
  }
}
