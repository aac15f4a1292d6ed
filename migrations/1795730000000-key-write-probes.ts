import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Every table that is changed has a key: a publication refuses the deletions of a table that has none. */
export class KeyWriteProbes1795730000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE write_probes ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY');
  }
}
