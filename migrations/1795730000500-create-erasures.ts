import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * What was erased by request: the receipt, without what was erased. An erasure of footage also keeps its range from being fetched again,
 * so that its row stays.
 */
export class EraseAtOnce1795730000500 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE erasures (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        account_id uuid,
        connection_id uuid,
        truck_id text,
        camera_id text,
        start_time timestamptz,
        end_time timestamptz,
        status text NOT NULL CONSTRAINT erasures_status_check CHECK (status IN ('running', 'done', 'stopped', 'failed')),
        erased jsonb NOT NULL DEFAULT '{}',
        reason text,
        created_at timestamptz NOT NULL DEFAULT now(),
        created_by text NOT NULL,
        finished_at timestamptz,
        due_at timestamptz,
        started_at timestamptz,
        attempts integer NOT NULL DEFAULT 0,
        last_error text,
        PRIMARY KEY (hauler_id, id)
      );
      CREATE UNIQUE INDEX erasures_id_key ON erasures (id);
      CREATE INDEX erasures_due_idx ON erasures (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX erasures_lane_idx ON erasures (hauler_id, due_at) WHERE due_at IS NOT NULL`);
  }
}
