import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * The bytes of today's exchanges are the size of the partition of today. An instance of 0.2.0, which adds to this table, refuses
 * this database (`OLDEST_COMPATIBLE_VERSION`).
 */
export class DropExchangeDays1796102000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE exchange_days');
  }
}
