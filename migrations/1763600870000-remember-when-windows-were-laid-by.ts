import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When a window of a subscription was last laid by. Beside `last_read_at`, which an admin reads as the last success: the
 * later of them is the last look, and what was listed late is looked for from 6 hours before it on.
 */
export class RememberWhenWindowsWereLaidBy1763600870000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE video_subscriptions ADD COLUMN laid_by_at timestamptz;
      UPDATE video_subscriptions SET laid_by_at = read_until
        WHERE read_until > start_time AND coalesce(last_read_at < read_until, true)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE video_subscriptions DROP COLUMN laid_by_at');
  }
}
