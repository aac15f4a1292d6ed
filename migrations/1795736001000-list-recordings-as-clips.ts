import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A request of the reference partner has a clip for each recording; one that was not trimmed shares the file of its recording. */
export class ListRecordingsAsClips1795736001000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE reference_clips ADD recording_id uuid, DROP gaps, DROP CONSTRAINT reference_clips_request_key;
      CREATE INDEX reference_clips_request_idx ON reference_clips (request_id, start_time, id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX reference_clips_request_idx;
      DELETE FROM reference_clips AS clip WHERE recording_id IS NOT NULL OR EXISTS (
        SELECT 1 FROM reference_clips AS other WHERE other.request_id = clip.request_id AND other.id < clip.id);
      ALTER TABLE reference_clips
        DROP recording_id, ADD gaps jsonb, ADD CONSTRAINT reference_clips_request_key UNIQUE (request_id)`);
  }
}
