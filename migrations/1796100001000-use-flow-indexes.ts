import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** The new indexes take the names of the old ones, by which instances of the version before know a race of two pushes. */
export class UseFlowIndexes1796100001000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE tickets DROP CONSTRAINT tickets_inbound_key, DROP CONSTRAINT tickets_outbound_key;
      ALTER INDEX tickets_inbound_flow_key RENAME TO tickets_inbound_key;
      ALTER INDEX tickets_outbound_flow_key RENAME TO tickets_outbound_key`);
  }
}
