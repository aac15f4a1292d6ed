import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A poll reads the list of a customer from its start each time. */
export class DropPageOfPolls1795570471000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE video_polls DROP COLUMN next_page');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE video_polls ADD COLUMN next_page integer NOT NULL DEFAULT 1');
  }
}
