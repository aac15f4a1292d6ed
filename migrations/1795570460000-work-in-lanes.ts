import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  'connections',
  'video_request_parts',
  'video_polls',
  'video_subscriptions',
  'video_windows',
  'recordings',
  'reference_video_requests',
];

/**
 * Scheduled work (`work/`): one instance owns a lane, such as a connection, and works on all of its rows, so a row has no lease
 * any more. `started_at` says since when a row is worked on. Dropping the columns of the leases drops their indexes.
 */
export class WorkInLanes1795570460000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE lanes (
        kind text NOT NULL,
        lane text NOT NULL,
        owner uuid NOT NULL,
        since timestamptz NOT NULL,
        owned_until timestamptz NOT NULL,
        PRIMARY KEY (kind, lane)
      ) WITH (fillfactor = 50)`);
    for (const table of TABLES) {
      await queryRunner.query(`
        ALTER TABLE ${table} ADD COLUMN started_at timestamptz, DROP COLUMN leased_until, DROP COLUMN lease_token`);
    }
    // The predicates keep the start of rows from using these indexes (see the search for lanes).
    await queryRunner.query(`
      CREATE INDEX recordings_waiting_idx ON recordings (fetch_by) WHERE due_at IS NOT NULL AND deleted_at IS NULL;
      CREATE INDEX recordings_due_idx ON recordings (connection_id, due_at) WHERE due_at IS NOT NULL AND deleted_at IS NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX recordings_waiting_idx, recordings_due_idx');
    for (const table of TABLES) {
      await queryRunner.query(`
        ALTER TABLE ${table} DROP COLUMN started_at, ADD COLUMN leased_until timestamptz, ADD COLUMN lease_token uuid;
        CREATE INDEX ${table}_leased_idx ON ${table} (leased_until) WHERE leased_until IS NOT NULL`);
    }
    await queryRunner.query(`
      CREATE INDEX recordings_unleased_fetch_idx ON recordings (fetch_by) WHERE due_at IS NOT NULL AND leased_until IS NULL;
      CREATE INDEX recordings_unleased_due_idx ON recordings (due_at) WHERE due_at IS NOT NULL AND leased_until IS NULL;
      DROP TABLE lanes`);
  }
}
