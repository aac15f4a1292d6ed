import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The bytes of today's exchanges are the size of the partition of today. An instance of 0.2.0, which adds to this table, refuses
 * this database (`OLDEST_COMPATIBLE_VERSION`).
 */
export class DropExchangeDays1796102000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE exchange_days');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE exchange_days (
        day date PRIMARY KEY,
        bytes bigint NOT NULL,
        keyless_bytes bigint NOT NULL
      ) WITH (fillfactor = 50)`);
  }
}
