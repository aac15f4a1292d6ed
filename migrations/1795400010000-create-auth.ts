import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Haulers and API keys. */
export class CreateAuth1795400010000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // No foreign key to haulers: a site key may be limited to a hauler that only the partner side knows.
    await queryRunner.query(`
      CREATE TABLE haulers (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX haulers_created_idx ON haulers (created_at DESC, id DESC);

      CREATE TABLE api_keys (
        id uuid PRIMARY KEY,
        hash bytea NOT NULL,
        prefix text NOT NULL,
        hauler_id uuid,
        customer_id text,
        interfaces text[] NOT NULL,
        name text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz,
        replaces_id uuid REFERENCES api_keys (id),
        overlap_seconds integer,
        activated_at timestamptz,
        retires_at timestamptz,
        CONSTRAINT api_keys_hash_key UNIQUE (hash),
        CONSTRAINT api_keys_interfaces_check
          CHECK (cardinality(interfaces) > 0 AND interfaces <@ ARRAY['scale', 'account', 'site', 'vision']),
        CONSTRAINT api_keys_hauler_check
          CHECK (hauler_id IS NOT NULL OR NOT interfaces && ARRAY['scale', 'account']),
        CONSTRAINT api_keys_rotation_check CHECK ((replaces_id IS NULL) = (overlap_seconds IS NULL))
      );
      CREATE INDEX api_keys_created_idx ON api_keys (created_at DESC, id DESC);
      CREATE INDEX api_keys_hauler_idx ON api_keys (hauler_id, created_at DESC, id DESC);
      CREATE INDEX api_keys_replaces_idx ON api_keys (replaces_id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE api_keys, haulers');
  }
}
