import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is known of recordings after their month was dropped: chunks of a connection that begin before `start_before` are not fetched
 * again when they are listed, and a clip whose file retention deleted stays one.
 */
export class DropOldRecordings1795700000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE recording_floors (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        start_before timestamptz NOT NULL,
        PRIMARY KEY (hauler_id, connection_id)
      );
      ALTER TABLE video_request_parts ADD COLUMN rows_dropped_at timestamptz`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE video_request_parts DROP COLUMN rows_dropped_at; DROP TABLE recording_floors');
  }
}
