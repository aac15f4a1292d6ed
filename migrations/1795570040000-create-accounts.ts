import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Customers of haulers (section 2.4). The unique constraint is on a digest of the normalised name, because a name can be
 * longer than an index entry may be. The service computes the n-grams of the search instead of pg_trgm: not every server
 * lets the role create an extension, and with the locale C pg_trgm knows ASCII letters only.
 */
export class CreateAccounts1795570040000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE SEQUENCE account_numbers START 100001;
      CREATE TABLE accounts (
        hauler_id uuid NOT NULL REFERENCES haulers (id),
        id uuid NOT NULL,
        account_number text NOT NULL,
        account_name text NOT NULL,
        name_digest bytea NOT NULL,
        search_text text NOT NULL,
        search_grams integer[] NOT NULL,
        address_id uuid,
        street text,
        unit text,
        city text,
        state text,
        country text,
        zip text,
        contact_id uuid,
        first_name text,
        last_name text,
        email text,
        phone text,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT accounts_name_taken UNIQUE (hauler_id, name_digest),
        CONSTRAINT accounts_number_key UNIQUE (hauler_id, account_number),
        CONSTRAINT accounts_address_check
          CHECK (address_id IS NOT NULL OR num_nonnulls(street, unit, city, state, country, zip) = 0),
        CONSTRAINT accounts_contact_check
          CHECK (contact_id IS NOT NULL OR num_nonnulls(first_name, last_name, email, phone) = 0)
      );
      CREATE INDEX accounts_id_idx ON accounts (id);
      CREATE INDEX accounts_search_idx ON accounts USING gin (search_grams)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE accounts; DROP SEQUENCE account_numbers');
  }
}
