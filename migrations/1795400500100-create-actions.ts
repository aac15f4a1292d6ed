import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The action log: what admins and partners changed by a call. `changes` is JSON text, which jsonb might refuse. */
export class CreateActions1795400500100 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE actions (
        id uuid NOT NULL PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT now(),
        actor text NOT NULL,
        action text NOT NULL,
        resource text NOT NULL,
        changes text
      );
      CREATE INDEX actions_at_idx ON actions (at, id);
      CREATE INDEX actions_resource_idx ON actions (resource, at, id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE actions');
  }
}
