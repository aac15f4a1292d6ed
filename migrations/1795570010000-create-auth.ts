import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Haulers, API keys, and the action log: what admins and partners changed by a call. */
export class CreateAuth1795570010000 implements MigrationInterface {
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
      CREATE INDEX api_keys_replaces_idx ON api_keys (replaces_id);

      -- The changes are JSON text, because jsonb refuses some of it.
      CREATE TABLE actions (
        id uuid NOT NULL PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT now(),
        actor text NOT NULL,
        action text NOT NULL,
        resource text NOT NULL,
        changes text
      );
      CREATE INDEX actions_at_idx ON actions (at, id);
      CREATE INDEX actions_resource_idx ON actions (resource, at, id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE actions, api_keys, haulers');
  }
}
