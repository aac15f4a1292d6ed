import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Steps of the parts of video requests that changed something. The id contains the time. */
export class CreateClipEvents1795400700600 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE clip_events (
        hauler_id uuid NOT NULL,
        request_id uuid NOT NULL,
        id uuid NOT NULL,
        part_id uuid NOT NULL,
        recording_id uuid,
        kind text NOT NULL,
        text text NOT NULL,
        PRIMARY KEY (hauler_id, request_id, id)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE clip_events');
  }
}
