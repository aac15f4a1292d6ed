import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countDays, uncountDays } from './sql/count-days.js';

const FILTERS = { customer_id: 'text', truck_id: 'text', camera_id: 'text' };
const COUNTED = { reference_recordings: 'reference_recording_days', reference_clips: 'reference_clip_days' };

/**
 * The lists of the reference partner count their rows when they are read, from indexes that have all columns of the filters: no
 * triggers, no counters.
 */
export class ListWithoutCounters1795570450000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, days] of Object.entries(COUNTED)) {
      await queryRunner.query(`
        DROP TRIGGER ${days}_insert ON ${table}; DROP TRIGGER ${days}_update ON ${table}; DROP TRIGGER ${days}_delete ON ${table}`);
      await queryRunner.query(uncountDays(days));
    }
    await queryRunner.query(`
      DROP INDEX reference_recordings_truck_idx, reference_clips_truck_idx, reference_clips_customer_idx;
      CREATE INDEX reference_recordings_truck_idx ON reference_recordings (customer_id, truck_id, start_time, id)
        INCLUDE (camera_id, end_time);
      CREATE INDEX reference_clips_truck_idx ON reference_clips (customer_id, truck_id, start_time, id)
        INCLUDE (camera_id, end_time);
      CREATE INDEX reference_clips_customer_idx ON reference_clips (customer_id, start_time, id)
        INCLUDE (truck_id, camera_id, end_time)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX reference_recordings_truck_idx, reference_clips_truck_idx, reference_clips_customer_idx;
      CREATE INDEX reference_recordings_truck_idx ON reference_recordings (customer_id, truck_id, start_time, id);
      CREATE INDEX reference_clips_truck_idx ON reference_clips (customer_id, truck_id, start_time, id);
      CREATE INDEX reference_clips_customer_idx ON reference_clips (customer_id, start_time, id)`);
    for (const [table, days] of Object.entries(COUNTED)) {
      await queryRunner.query(countDays(table, days, FILTERS));
      await queryRunner.query(`
        INSERT INTO ${days} (customer_id, truck_id, camera_id, day, rows)
        SELECT customer_id, truck_id, camera_id, (start_time AT TIME ZONE 'UTC')::date, count(*) FROM ${table} GROUP BY 1, 2, 3, 4`);
    }
  }
}
