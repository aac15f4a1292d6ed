import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * Recordings have one partition per month (UTC) of their start. The service creates partitions for the next months, and for recordings
 * of the last ten years when they are listed; all other times are in the partition of the rest. Five indexes in place of 13:
 * docs/engineering/recordings.md names the statements of each.
 *
 * The primary key begins with the id, so that it also finds a recording by its id alone, and new rows are at its end.
 */
export class PartitionRecordings1795610001000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE recordings RENAME TO unpartitioned_recordings;
      ALTER TABLE unpartitioned_recordings RENAME CONSTRAINT recordings_pkey TO unpartitioned_recordings_pkey;
      CREATE TABLE recordings (LIKE unpartitioned_recordings INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)
        PARTITION BY RANGE (start_time);
      CREATE TABLE recordings_rest PARTITION OF recordings DEFAULT;
      DO $body$
      DECLARE
        this_month timestamptz := date_trunc('month', now(), 'UTC');
        month timestamp;
      BEGIN
        FOR month IN
          SELECT m FROM (
            SELECT DISTINCT date_trunc('month', start_time, 'UTC') AT TIME ZONE 'UTC' AS m FROM unpartitioned_recordings
            UNION SELECT (this_month AT TIME ZONE 'UTC') + n * interval '1 month' FROM generate_series(0, 2) AS n) AS months
          WHERE m >= (this_month AT TIME ZONE 'UTC') - interval '120 months'
            AND m <= (this_month AT TIME ZONE 'UTC') + interval '2 months'
        LOOP
          EXECUTE format('CREATE TABLE %I PARTITION OF recordings FOR VALUES FROM (%L) TO (%L)',
            'recordings_' || to_char(month, 'YYYYMM'), month AT TIME ZONE 'UTC',
            (month + interval '1 month') AT TIME ZONE 'UTC');
        END LOOP;
      END $body$;
      INSERT INTO recordings SELECT * FROM unpartitioned_recordings;
      DROP TABLE unpartitioned_recordings;

      ALTER TABLE recordings ADD CONSTRAINT recordings_pkey PRIMARY KEY (id, hauler_id, start_time);
      CREATE UNIQUE INDEX recordings_camera_key
        ON recordings (hauler_id, connection_id, truck_id, camera_id, start_time, end_time, part_id) INCLUDE (status)
        NULLS NOT DISTINCT;
      CREATE INDEX recordings_part_idx ON recordings (hauler_id, part_id, connection_id, truck_id, camera_id, start_time)
        WHERE part_id IS NOT NULL OR end_time - start_time > interval '1 hour';
      CREATE INDEX recordings_status_idx ON recordings (status, start_time, id) INCLUDE (connection_id);
      CREATE INDEX recordings_due_idx ON recordings (connection_id, fetch_by, due_at) WHERE due_at IS NOT NULL`);
  }
}
