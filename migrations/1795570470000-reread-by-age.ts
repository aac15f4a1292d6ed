import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Continuous recordings are read again by age (decision 48): when each re-reading was planned, which days wait, and what was read when. */
export class RereadByAge1795570470000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE video_subscriptions ADD COLUMN rereadings jsonb NOT NULL DEFAULT '{}';
      ALTER TABLE video_windows ADD COLUMN reread_day date;
      CREATE UNIQUE INDEX video_windows_reread_day_key ON video_windows (hauler_id, subscription_id, reread_day);
      CREATE TABLE video_readings (
        hauler_id uuid NOT NULL,
        subscription_id uuid NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        read_at timestamptz NOT NULL,
        PRIMARY KEY (hauler_id, subscription_id, start_time, end_time)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE video_readings;
      DELETE FROM video_windows WHERE reread_day IS NOT NULL;
      DROP INDEX video_windows_reread_day_key;
      ALTER TABLE video_windows DROP COLUMN reread_day;
      ALTER TABLE video_subscriptions DROP COLUMN rereadings`);
  }
}
