import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** A key that a rotation made knows the first key of its chain: the endpoints of a partner belong to it. */
export class StoreRootsOfKeys1797003000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE api_keys ADD COLUMN root_id uuid');
    await queryRunner.query(`
      WITH RECURSIVE chain AS (
        SELECT id, id AS root_id FROM api_keys WHERE replaces_id IS NULL
        UNION ALL SELECT k.id, chain.root_id FROM chain JOIN api_keys AS k ON k.replaces_id = chain.id)
      UPDATE api_keys AS k SET root_id = chain.root_id FROM chain WHERE k.id = chain.id AND k.replaces_id IS NOT NULL`);
    await queryRunner.query('CREATE INDEX api_keys_root_idx ON api_keys (root_id)');
  }
}
