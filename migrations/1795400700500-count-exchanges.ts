import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Exchanges counted by hour, so that the overview of a day reads some hundred rows and not all exchanges. The writer of
 * exchanges adds to it in the same transaction. Absent texts are empty, because a primary key has no nulls. `last_id` is
 * the newest exchange of the row.
 */
export class CountExchanges1795400700500 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE exchange_hours (
        hour timestamptz NOT NULL,
        direction text COLLATE "C" NOT NULL,
        interface text COLLATE "C" NOT NULL,
        route text COLLATE "C" NOT NULL,
        status smallint NOT NULL,
        error_code text COLLATE "C" NOT NULL,
        result text COLLATE "C" NOT NULL,
        count bigint NOT NULL,
        last_id uuid NOT NULL,
        PRIMARY KEY (hour, direction, interface, route, status, error_code, result)
      ) WITH (fillfactor = 70)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE exchange_hours');
  }
}
