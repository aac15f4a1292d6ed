import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a re-reading is due follows from the time of the last reading (decision 48). */
export class RereadWithoutPlan1795739000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE video_subscriptions DROP COLUMN rereadings');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE video_subscriptions ADD COLUMN rereadings jsonb NOT NULL DEFAULT '{}'");
  }
}
