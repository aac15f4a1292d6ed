import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why an action failed that may have changed something; null for one that succeeded. */
export class AddActionErrors1795570410000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE actions ADD COLUMN error text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE actions DROP COLUMN error');
  }
}
