import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Those of 0.2.0. */
const INDEXES_BEFORE = `
      ALTER TABLE recordings ADD PRIMARY KEY (hauler_id, id);
      CREATE INDEX recordings_id_idx ON recordings (id);
      CREATE UNIQUE INDEX recordings_chunk_key
        ON recordings (hauler_id, connection_id, truck_id, camera_id, start_time, end_time) INCLUDE (status)
        WHERE source = 'continuous';
      CREATE INDEX recordings_clip_camera_idx ON recordings (connection_id, truck_id, camera_id, start_time)
        WHERE source = 'on-demand';
      CREATE UNIQUE INDEX recordings_clip_key
        ON recordings (hauler_id, part_id, partner_recording_id, camera_id, start_time, end_time)
        WHERE part_id IS NOT NULL;
      CREATE INDEX recordings_partner_idx ON recordings (connection_id, partner_recording_id) WHERE source = 'continuous';
      CREATE INDEX recordings_fetch_idx ON recordings (connection_id, fetch_by) WHERE due_at IS NOT NULL;
      CREATE INDEX recordings_start_idx ON recordings (start_time, id);
      CREATE INDEX recordings_truck_idx ON recordings (connection_id, truck_id, start_time, id);
      CREATE INDEX recordings_stored_idx ON recordings (stored_at) WHERE status = 'stored';
      CREATE INDEX recordings_open_idx ON recordings (status, start_time, id) WHERE status <> 'stored';
      CREATE INDEX recordings_long_idx ON recordings (connection_id, truck_id, camera_id, start_time)
        WHERE end_time - start_time > interval '1 hour';
      CREATE INDEX recordings_waiting_idx ON recordings (fetch_by) WHERE due_at IS NOT NULL AND deleted_at IS NULL;
      CREATE INDEX recordings_due_idx ON recordings (connection_id, due_at) WHERE due_at IS NOT NULL AND relinks >= 0`;

/**
 * Recordings have one partition per month (UTC) of their start. The service creates partitions for the next months, and for recordings
 * of the last ten years when they are listed; all other times are in the partition of the rest. Five indexes in place of 13:
 * docs/engineering/recordings.md names the statements of each.
 *
 * The primary key begins with the id, so that it also finds a recording by its id alone, and new rows are at its end.
 * `stored_hours` counts stored files by the hour of their download, which an index served before.
 */
export class PartitionRecordings1795610001000 implements MigrationInterface {
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

      CREATE TABLE stored_hours (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        hour timestamptz NOT NULL,
        recordings integer NOT NULL,
        PRIMARY KEY (hour, hauler_id, connection_id)
      ) WITH (fillfactor = 50);
      INSERT INTO stored_hours
      SELECT hauler_id, connection_id, date_trunc('hour', stored_at, 'UTC'), count(*) FROM unpartitioned_recordings
      WHERE status = 'stored' AND stored_at > now() - interval '2 days' GROUP BY 1, 2, 3;
      DROP TABLE unpartitioned_recordings;

      ALTER TABLE recordings ADD CONSTRAINT recordings_pkey PRIMARY KEY (id, hauler_id, start_time);
      CREATE UNIQUE INDEX recordings_camera_key
        ON recordings (hauler_id, connection_id, truck_id, camera_id, start_time, end_time, part_id) INCLUDE (status)
        NULLS NOT DISTINCT;
      CREATE INDEX recordings_part_idx ON recordings (hauler_id, part_id, connection_id, truck_id, camera_id, start_time)
        WHERE part_id IS NOT NULL OR end_time - start_time > interval '1 hour' OR stored_at < start_time;
      CREATE INDEX recordings_status_idx ON recordings (status, start_time, id) INCLUDE (connection_id);
      CREATE INDEX recordings_due_idx ON recordings (connection_id, fetch_by, due_at) WHERE due_at IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE recordings RENAME TO partitioned_recordings;
      ALTER TABLE partitioned_recordings RENAME CONSTRAINT recordings_pkey TO partitioned_recordings_pkey;
      CREATE TABLE recordings (LIKE partitioned_recordings INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE);
      INSERT INTO recordings SELECT * FROM partitioned_recordings;
      DROP TABLE partitioned_recordings, stored_hours;
      ${INDEXES_BEFORE}`);
  }
}
