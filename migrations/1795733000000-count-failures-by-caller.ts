import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * `exchange_hours` counts failures by hauler, connection, key and cause too, so that `GET /exchanges/reasons` reads the same counter as
 * the overview. Of other exchanges these columns have their defaults, as of those that were counted before. The nil UUID stands for
 * none, because a primary key has no nulls.
 */
export class CountFailuresByCaller1795733000000 extends Migration {
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
}
