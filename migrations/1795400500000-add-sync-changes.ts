import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What each synchronisation run changed, the rule that held it, and the rejection of a held run. */
export class AddSyncChanges1795400500000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sync_runs DROP CONSTRAINT sync_runs_status_check;
      ALTER TABLE sync_runs ADD CONSTRAINT sync_runs_status_check
        CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'held', 'rejected', 'no_data'));
      ALTER TABLE sync_runs ADD COLUMN guard jsonb, ADD COLUMN note text,
        ADD COLUMN has_changes boolean NOT NULL DEFAULT false;
      ALTER TABLE sync_holds ADD COLUMN rejected boolean NOT NULL DEFAULT false;

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
      DROP TABLE sync_changes;
      DELETE FROM sync_holds WHERE rejected;
      ALTER TABLE sync_holds DROP COLUMN rejected;
      UPDATE sync_runs SET status = 'succeeded' WHERE status = 'rejected';
      ALTER TABLE sync_runs DROP COLUMN guard, DROP COLUMN note, DROP COLUMN has_changes;
      ALTER TABLE sync_runs DROP CONSTRAINT sync_runs_status_check;
      ALTER TABLE sync_runs ADD CONSTRAINT sync_runs_status_check
        CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'held', 'no_data'))`);
  }
}
