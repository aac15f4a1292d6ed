import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countDays, uncountDays } from './sql/count-days.js';

const FILTERS = { connection_id: 'uuid', truck_id: 'text', camera_id: 'text', source: 'text', status: 'text' };

/** Coverage finds the cameras of a truck by the index of the chunks. Nothing else reads the counters. */
export class DropRecordingDays1795570453000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    const triggers = ['insert', 'update', 'delete'].map(
      (event) => `DROP TRIGGER recording_days_${event} ON recordings`,
    );
    await queryRunner.query(triggers.join('; '));
    await queryRunner.query(uncountDays('recording_days'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(countDays('recordings', 'recording_days', FILTERS));
    await queryRunner.query(`
      CREATE INDEX recording_days_day_idx ON recording_days (day);
      INSERT INTO recording_days (connection_id, truck_id, camera_id, source, status, day, rows)
      SELECT connection_id, truck_id, camera_id, source, status, (start_time AT TIME ZONE 'UTC')::date, count(*)
      FROM recordings GROUP BY 1, 2, 3, 4, 5, 6`);
  }
}
