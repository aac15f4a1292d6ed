import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `downloading` is shown of an available recording that is in work; it is no stored state any more. */
export class ShowDownloadsByStart1795570461000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `UPDATE recordings SET status = 'available', started_at = coalesce(started_at, updated_at) WHERE status = 'downloading'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `UPDATE recordings SET status = 'downloading' WHERE status = 'available' AND started_at IS NOT NULL AND link IS NOT NULL`,
    );
  }
}
