import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Connections to partners. The row of a site connection is also the due row of its synchronisation. The row of a deleted
 * connection stays, without its keys, because other rows refer to it.
 */
export class CreatePartnerClient1795570050000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE connections (
        hauler_id uuid NOT NULL CONSTRAINT connections_hauler_fkey REFERENCES haulers (id),
        id uuid NOT NULL,
        interface text NOT NULL CONSTRAINT connections_interface_check CHECK (interface IN ('site', 'vision')),
        base_url text NOT NULL,
        sealed_key text NOT NULL,
        sealed_next_key text,
        customer_id text,
        interval_seconds integer NOT NULL CONSTRAINT connections_interval_check CHECK (interval_seconds > 0),
        enabled boolean NOT NULL,
        run_requested_at timestamptz,
        due_at timestamptz,
        leased_until timestamptz,
        lease_token uuid,
        attempts integer NOT NULL DEFAULT 0,
        last_error text,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        deleted_at timestamptz,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT connections_customer_check CHECK ((customer_id IS NOT NULL) = (interface = 'vision'))
      );
      CREATE INDEX connections_id_idx ON connections (id);
      CREATE INDEX connections_due_idx ON connections (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX connections_leased_idx ON connections (leased_until) WHERE leased_until IS NOT NULL;
      CREATE INDEX connections_created_idx ON connections (created_at DESC, id DESC) WHERE deleted_at IS NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE connections');
  }
}
