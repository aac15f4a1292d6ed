import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The times within a clip that were not recorded: `[{ "startTime", "endTime" }]`, on the platform side with a `reason`.
 * Null where there are none.
 */
export class AddClipGaps1795400600100 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE recordings ADD COLUMN gaps jsonb');
    await queryRunner.query('ALTER TABLE reference_clips ADD COLUMN gaps jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE reference_clips DROP COLUMN gaps');
    await queryRunner.query('ALTER TABLE recordings DROP COLUMN gaps');
  }
}
