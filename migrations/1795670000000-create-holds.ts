import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Footage that a case needs: a rule over a range of a truck. It has no foreign key to recordings, because later ones belong to it too. */
export class CreateHolds1795670000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE holds (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        connection_id uuid NOT NULL,
        truck_id text NOT NULL,
        camera_id text,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        case_id text NOT NULL,
        reason text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        created_by text NOT NULL,
        released_at timestamptz,
        released_by text,
        release_reason text,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT holds_release_check CHECK (num_nonnulls(released_at, released_by, release_reason) IN (0, 3))
      );
      CREATE UNIQUE INDEX holds_id_key ON holds (id);
      CREATE INDEX holds_active_idx ON holds (connection_id, truck_id) WHERE released_at IS NULL`);
  }
}
