import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The bytes of exchanges by UTC day, of all instances together: `EXCHANGE_MAX_BYTES_PER_DAY` bounds them. The writer of exchanges adds to
 * them in the transaction of each batch. `keyless_bytes` is the part of calls without a valid key.
 */
export class CreateExchangeDays1795570421000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE exchange_days (
        day date PRIMARY KEY,
        bytes bigint NOT NULL,
        keyless_bytes bigint NOT NULL
      ) WITH (fillfactor = 50)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE exchange_days');
  }
}
