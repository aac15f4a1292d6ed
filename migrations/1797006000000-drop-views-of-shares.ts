import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** A link lasts until it expires or is revoked. One that was limited would be open for more views than its maker allowed: it ends. */
export class DropViewsOfShares1797006000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE recording_shares SET revoked_at = now() WHERE max_views IS NOT NULL AND revoked_at IS NULL;
      ALTER TABLE recording_shares DROP COLUMN max_views, DROP COLUMN views, DROP COLUMN last_viewed_at`);
  }
}
