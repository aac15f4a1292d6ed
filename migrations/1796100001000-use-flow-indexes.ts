import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The new indexes take the names of the old ones, by which instances of the version before know a race of two pushes. */
export class UseFlowIndexes1796100001000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE tickets DROP CONSTRAINT tickets_inbound_key, DROP CONSTRAINT tickets_outbound_key;
      ALTER INDEX tickets_inbound_flow_key RENAME TO tickets_inbound_key;
      ALTER INDEX tickets_outbound_flow_key RENAME TO tickets_outbound_key`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER INDEX tickets_inbound_key RENAME TO tickets_inbound_flow_key;
      ALTER INDEX tickets_outbound_key RENAME TO tickets_outbound_flow_key;
      ALTER TABLE tickets ADD CONSTRAINT tickets_inbound_key UNIQUE (hauler_id, inbound_number, site_id),
        ADD CONSTRAINT tickets_outbound_key UNIQUE (hauler_id, outbound_number, site_id)`);
  }
}
