import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Disposal tickets and their revisions.
 *
 * - The two flows of a ticket are columns, not rows: they are always read together, and one row less per ticket makes
 *   ingestion faster.
 * - Contents and received bodies are text, because they are stored exactly as received: an unknown field may hold 1e309,
 *   which jsonb refuses. Cast them to jsonb to query them.
 * - There are no foreign keys: checking the hauler would lock its row for every ticket.
 */
export class CreateScale1795570030000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tickets (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        site_id uuid NOT NULL,
        revision integer NOT NULL,
        contents_version timestamptz,
        inbound_updated_at timestamptz,
        outbound_updated_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        inbound_number text COLLATE "C",
        outbound_number text COLLATE "C",
        materials text NOT NULL,
        custom_fields text,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT tickets_inbound_key UNIQUE (hauler_id, inbound_number, site_id),
        CONSTRAINT tickets_outbound_key UNIQUE (hauler_id, outbound_number, site_id)
      );
      CREATE INDEX tickets_id_idx ON tickets (id);
      CREATE INDEX tickets_site_idx ON tickets (site_id, id);

      CREATE TABLE ticket_revisions (
        hauler_id uuid NOT NULL,
        ticket_id uuid NOT NULL,
        revision integer NOT NULL,
        received_at timestamptz NOT NULL,
        result text NOT NULL CONSTRAINT ticket_revisions_result_check CHECK (result IN ('created', 'updated', 'stale')),
        body text NOT NULL,
        exchange_id uuid,
        api_key_id uuid,
        request_id text,
        CONSTRAINT ticket_revisions_pkey PRIMARY KEY (hauler_id, ticket_id, revision)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE ticket_revisions, tickets');
  }
}
