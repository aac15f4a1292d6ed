import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * The unique indexes of flows without the tickets that lack the flow: most have no outbound flow, and each had an entry there.
 * Built beside the old ones without a lock, which the next migration drops.
 */
export class BuildFlowIndexes1796100000000 extends Migration {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const direction of ['inbound', 'outbound']) {
      // What is left of an attempt that was interrupted.
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS tickets_${direction}_flow_key`);
      await queryRunner.query(
        `CREATE UNIQUE INDEX CONCURRENTLY tickets_${direction}_flow_key ON tickets (hauler_id, ${direction}_number, site_id)
          WHERE ${direction}_number IS NOT NULL`,
      );
    }
  }
}
