import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * When a re-reading is due follows from the time of the last reading (decision 48). Lost recordings of a connection are found
 * among any number that retention has deleted, so that all can be tried again in batches.
 */
export class RereadWithoutPlan1795739000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE video_subscriptions DROP COLUMN rereadings;
      CREATE INDEX recordings_lost_idx ON recordings (connection_id, start_time, id)
        WHERE status IN ('failed', 'expired') AND deleted_at IS NULL`);
  }
}
