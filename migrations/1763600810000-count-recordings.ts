import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countDays, uncountDays } from './sql/count-days.js';

const FILTERS = { connection_id: 'uuid', truck_id: 'text', camera_id: 'text', source: 'text', status: 'text' };

/** Recordings are counted by day, so that a deep page of millions is found as fast as the first one. */
export class CountRecordings1763600810000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(countDays('recordings', 'recording_days', FILTERS));
    const columns = Object.keys(FILTERS).join(', ');
    await queryRunner.query(`
      INSERT INTO recording_days (${columns}, day, rows)
      SELECT ${columns}, (start_time AT TIME ZONE 'UTC')::date AS day, count(*) FROM recordings GROUP BY ${columns}, day;
      CREATE INDEX recording_days_day_idx ON recording_days (day);
      CREATE INDEX recordings_open_idx ON recordings (status, start_time, id) WHERE status <> 'stored'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_open_idx;
      DROP TRIGGER recording_days_insert ON recordings; DROP TRIGGER recording_days_delete ON recordings;
      DROP TRIGGER recording_days_update ON recordings`);
    await queryRunner.query(uncountDays('recording_days'));
  }
}
