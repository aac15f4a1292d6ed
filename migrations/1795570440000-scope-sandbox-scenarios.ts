import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The operations on which a scenario acts: those that its starter opens. Active scenarios end with the migration. */
export class ScopeSandboxScenarios1795570440000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM sandbox_scenarios;
      ALTER TABLE sandbox_scenarios
        ADD COLUMN routes text[] NOT NULL,
        DROP CONSTRAINT sandbox_scenarios_pkey,
        ADD PRIMARY KEY (subject, subject_id, name, routes)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM sandbox_scenarios;
      ALTER TABLE sandbox_scenarios
        DROP CONSTRAINT sandbox_scenarios_pkey,
        DROP COLUMN routes,
        ADD PRIMARY KEY (subject, subject_id, name)`);
  }
}
