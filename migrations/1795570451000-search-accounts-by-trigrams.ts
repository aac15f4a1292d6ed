import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The search of accounts uses pg_trgm, a trusted extension that the owner of a database may create. Where the role may not, or
 * the server does not have it, an index of the beginnings of names is created instead, and `doctor` says so.
 */
export class SearchAccountsByTrigrams1795570451000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE accounts DROP COLUMN search_grams;
      DO $do$
      DECLARE
        home name;
      BEGIN
        BEGIN
          CREATE EXTENSION IF NOT EXISTS pg_trgm;
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
        SELECT nspname INTO home FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_trgm';
        IF home IS NOT NULL AND has_schema_privilege(home, 'USAGE') THEN
          EXECUTE format('CREATE INDEX accounts_search_idx ON accounts USING gin (search_text %I.gin_trgm_ops)', home);
        ELSE
          CREATE INDEX accounts_prefix_idx ON accounts (left(search_text, 200) text_pattern_ops, id);
        END IF;
      END $do$`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The extension stays, because others may use it. The former version does not find the accounts that exist already.
    await queryRunner.query(`
      DROP INDEX IF EXISTS accounts_search_idx, accounts_prefix_idx;
      ALTER TABLE accounts ADD COLUMN search_grams integer[] NOT NULL DEFAULT '{}';
      ALTER TABLE accounts ALTER COLUMN search_grams DROP DEFAULT;
      CREATE INDEX accounts_search_idx ON accounts USING gin (search_grams)`);
  }
}
