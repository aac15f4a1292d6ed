import type { MigrationInterface, QueryRunner } from 'typeorm';

const RECORD = `
        id uuid NOT NULL,
        hauler_id uuid NOT NULL REFERENCES haulers (id),
        connection_id uuid,
        external_id uuid NOT NULL,
        active boolean NOT NULL DEFAULT true,
        flagged_reason text,
        partner_updated_at timestamptz,
        deactivated_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),`;

/**
 * The catalog of each hauler (section 2.4a), and the synchronisation runs that maintain it. A record refers to its parent by the
 * partner's id, without a foreign key: the parent of a valid record may be in quarantine (decision 32).
 */
export class CreateSiteSync1795570060000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE sites (${RECORD}
        name text NOT NULL,
        line1 text,
        city text,
        state text,
        country text,
        zip_code text,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT sites_external_id_key UNIQUE (hauler_id, external_id),
        CONSTRAINT sites_address_check CHECK (num_nulls(line1, city, state, country, zip_code) IN (0, 5))
      );
      CREATE TABLE kiosks (${RECORD}
        site_external_id uuid NOT NULL,
        name text NOT NULL,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT kiosks_external_id_key UNIQUE (hauler_id, external_id)
      );
      CREATE TABLE materials (${RECORD}
        site_external_id uuid,
        kiosk_external_id uuid,
        material_type text NOT NULL,
        measure_unit text NOT NULL,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT materials_external_id_key UNIQUE (hauler_id, external_id),
        CONSTRAINT materials_parent_check CHECK (num_nonnulls(site_external_id, kiosk_external_id) > 0)
      );
      CREATE INDEX sites_id_idx ON sites (id);
      CREATE INDEX sites_active_idx ON sites (active, id);
      CREATE INDEX sites_connection_idx ON sites (connection_id, external_id);
      CREATE INDEX sites_external_id_idx ON sites (external_id);
      CREATE INDEX kiosks_id_idx ON kiosks (id);
      CREATE INDEX kiosks_active_idx ON kiosks (active, id);
      CREATE INDEX kiosks_connection_idx ON kiosks (connection_id, external_id);
      CREATE INDEX kiosks_site_idx ON kiosks (site_external_id, id);
      CREATE INDEX materials_id_idx ON materials (id);
      CREATE INDEX materials_active_idx ON materials (active, id);
      CREATE INDEX materials_connection_idx ON materials (connection_id, external_id);
      CREATE INDEX materials_site_idx ON materials (site_external_id, id);
      CREATE INDEX materials_kiosk_idx ON materials (kiosk_external_id, id)`);
    await queryRunner.query(`
      CREATE TABLE sync_runs (
        id uuid NOT NULL,
        hauler_id uuid NOT NULL REFERENCES haulers (id),
        connection_id uuid NOT NULL,
        status text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        counts jsonb NOT NULL,
        error text,
        guard jsonb,
        note text,
        has_changes boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz,
        finished_at timestamptz,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT sync_runs_status_check
          CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'held', 'rejected', 'no_data'))
      );
      CREATE UNIQUE INDEX sync_runs_active_key ON sync_runs (hauler_id, connection_id)
        WHERE status IN ('queued', 'running');
      CREATE INDEX sync_runs_id_idx ON sync_runs (id);
      CREATE INDEX sync_runs_created_idx ON sync_runs (created_at, id);
      CREATE INDEX sync_runs_connection_idx ON sync_runs (connection_id, created_at, id);
      CREATE INDEX sync_runs_status_idx ON sync_runs (status, created_at, id);

      CREATE TABLE sync_issues (
        hauler_id uuid NOT NULL,
        run_id uuid NOT NULL,
        position integer NOT NULL,
        severity text NOT NULL,
        kind text NOT NULL,
        path text NOT NULL,
        reason text NOT NULL,
        raw text NOT NULL,
        PRIMARY KEY (hauler_id, run_id, position),
        FOREIGN KEY (hauler_id, run_id) REFERENCES sync_runs (hauler_id, id) ON DELETE CASCADE
      );
      CREATE INDEX sync_issues_run_idx ON sync_issues (run_id, position);

      CREATE TABLE sync_holds (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        kind text NOT NULL,
        external_id uuid NOT NULL,
        rejected boolean NOT NULL DEFAULT false,
        PRIMARY KEY (hauler_id, connection_id, kind, external_id)
      );

      CREATE TABLE sync_changes (
        hauler_id uuid NOT NULL,
        run_id uuid NOT NULL,
        position bigint GENERATED ALWAYS AS IDENTITY,
        kind text NOT NULL,
        change text NOT NULL,
        external_id uuid NOT NULL,
        name text NOT NULL,
        before jsonb,
        after jsonb,
        PRIMARY KEY (hauler_id, run_id, position),
        FOREIGN KEY (hauler_id, run_id) REFERENCES sync_runs (hauler_id, id) ON DELETE CASCADE
      );
      CREATE INDEX sync_changes_run_idx ON sync_changes (run_id, position)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE sync_changes, sync_holds, sync_issues, sync_runs, materials, kiosks, sites`);
  }
}
