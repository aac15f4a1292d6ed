import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs of the synchronisation of sites, what they set aside, and what a connection's next run must know of the last. */
export class CreateSyncRuns1763600650000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE sync_runs (
        id uuid NOT NULL,
        hauler_id uuid NOT NULL REFERENCES haulers (id),
        connection_id uuid NOT NULL,
        status text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        counts jsonb NOT NULL,
        error text,
        created_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz,
        finished_at timestamptz,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT sync_runs_status_check
          CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'held', 'no_data'))
      );
      CREATE UNIQUE INDEX sync_runs_active_key ON sync_runs (hauler_id, connection_id)
        WHERE status IN ('queued', 'running');
      CREATE INDEX sync_runs_id_idx ON sync_runs (id);
      CREATE INDEX sync_runs_created_idx ON sync_runs (created_at, id);
      CREATE INDEX sync_runs_connection_idx ON sync_runs (connection_id, created_at, id);
      CREATE INDEX sync_runs_status_idx ON sync_runs (status, created_at, id);

      CREATE TABLE sync_remarks (
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
      CREATE INDEX sync_remarks_run_idx ON sync_remarks (run_id, position);

      CREATE TABLE sync_holds (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        kind text NOT NULL,
        external_id uuid NOT NULL,
        PRIMARY KEY (hauler_id, connection_id, kind, external_id)
      );

      CREATE TABLE sync_states (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        base_url text NOT NULL,
        body_digest text,
        etag text,
        counts jsonb,
        run_id uuid,
        PRIMARY KEY (hauler_id, connection_id)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE sync_states, sync_holds, sync_remarks, sync_runs');
  }
}
