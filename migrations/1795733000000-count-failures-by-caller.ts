import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `exchange_hours` counts failures by hauler, connection, key and cause too, so that `GET /exchanges/reasons` reads the same counter as
 * the overview. Of other exchanges these columns have their defaults, as of those that were counted before. The nil UUID stands for
 * none, because a primary key has no nulls.
 */
export class CountFailuresByCaller1795733000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE exchange_hours
        ADD failure text COLLATE "C" NOT NULL DEFAULT '',
        ADD hauler_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
        ADD connection_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
        ADD api_key_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
        ADD by_sandbox boolean NOT NULL DEFAULT false,
        DROP CONSTRAINT exchange_hours_pkey,
        ADD PRIMARY KEY (hour, direction, interface, route, status, error_code, result, failure, hauler_id, connection_id,
          api_key_id, by_sandbox)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TEMPORARY TABLE hours ON COMMIT DROP AS
        SELECT hour, direction, interface, route, status, error_code, result, sum(count)::bigint AS count,
          max(last_id::text)::uuid AS last_id
        FROM exchange_hours WHERE NOT by_sandbox OR status BETWEEN 1 AND 399 GROUP BY 1, 2, 3, 4, 5, 6, 7;
      TRUNCATE exchange_hours;
      ALTER TABLE exchange_hours
        DROP CONSTRAINT exchange_hours_pkey,
        DROP failure, DROP hauler_id, DROP connection_id, DROP api_key_id, DROP by_sandbox,
        ADD PRIMARY KEY (hour, direction, interface, route, status, error_code, result);
      INSERT INTO exchange_hours (hour, direction, interface, route, status, error_code, result, count, last_id)
        SELECT * FROM hours`);
  }
}
