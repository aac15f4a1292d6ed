import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * The search of accounts needs pg_trgm, which ships with PostgreSQL. Where the migration of 0.2.0 could not create it, this one
 * says what the operator has to do, and builds the index once it is there.
 */
export class RequireTrigrams1796104001000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DO $do$
      DECLARE
        home name;
      BEGIN
        BEGIN
          CREATE EXTENSION IF NOT EXISTS pg_trgm;
        EXCEPTION
          WHEN insufficient_privilege THEN
            RAISE insufficient_privilege USING MESSAGE =
              SQLERRM || '. Run in this database, as its owner: CREATE EXTENSION pg_trgm';
          WHEN feature_not_supported OR undefined_file THEN
            RAISE feature_not_supported USING MESSAGE =
              SQLERRM || '. pg_trgm ships with PostgreSQL: install its contrib modules (postgresql-contrib)';
        END;
        SELECT nspname INTO home FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_trgm';
        EXECUTE format('CREATE INDEX IF NOT EXISTS accounts_search_idx ON accounts USING gin (search_text %I.gin_trgm_ops)', home);
        DROP INDEX IF EXISTS accounts_prefix_idx;
      END $do$`);
  }
}
