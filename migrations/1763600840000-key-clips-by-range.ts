import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Partners have given one id to several clips of one request: each of them is a file of its own. */
export class KeyClipsByRange1763600840000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_clip_key;
      CREATE UNIQUE INDEX recordings_clip_key
        ON recordings (hauler_id, part_id, partner_recording_id, camera_id, start_time, end_time)
        WHERE part_id IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_clip_key;
      CREATE UNIQUE INDEX recordings_clip_key ON recordings (hauler_id, part_id, partner_recording_id)
        WHERE part_id IS NOT NULL`);
  }
}
