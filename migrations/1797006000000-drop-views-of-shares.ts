import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A link lasts until it expires or is revoked. One that was limited would be open for more views than its maker allowed: it ends. */
export class DropViewsOfShares1797006000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE recording_shares SET revoked_at = now() WHERE max_views IS NOT NULL AND revoked_at IS NULL;
      ALTER TABLE recording_shares DROP COLUMN max_views, DROP COLUMN views, DROP COLUMN last_viewed_at`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('restore a backup of the version before'));
  }
}
