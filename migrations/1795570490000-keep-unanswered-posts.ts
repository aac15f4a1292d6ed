import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A clip that is tried again knows that the partner may have taken an earlier POST whose answer was lost. */
export class KeepUnansweredPosts1795570490000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE video_request_parts ADD may_be_taken boolean NOT NULL DEFAULT false`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE video_request_parts DROP may_be_taken`);
  }
}
