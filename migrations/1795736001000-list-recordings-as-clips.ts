import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** A request of the reference partner has a clip for each recording; one that was not trimmed shares the file of its recording. */
export class ListRecordingsAsClips1795736001000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE reference_clips ADD recording_id uuid, DROP gaps, DROP CONSTRAINT reference_clips_request_key;
      CREATE INDEX reference_clips_request_idx ON reference_clips (request_id, start_time, id)`);
  }
}
