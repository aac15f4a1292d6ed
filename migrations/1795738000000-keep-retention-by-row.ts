import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Each hauler has its retention in a row, and `removed_files` has the files whose recordings were removed and that are still to be
 * deleted. `file_removed_at` of a part says that retention has deleted a file of it. Old rows are deleted one by one, so that nothing
 * is written down of months. A hauler without a row, because no default was recorded, gets one from the service.
 */
export class KeepRetentionByRow1795738000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE removed_files (
        hauler_id uuid NOT NULL,
        recording_id uuid NOT NULL,
        -- The erasure that removed the recording; null where retention did.
        erasure_id uuid,
        size_bytes bigint NOT NULL,
        -- Exchanges that were redacted with it: the receipt of the erasure counts them with the file.
        exchanges integer NOT NULL DEFAULT 0,
        PRIMARY KEY (hauler_id, recording_id)
      );

      ALTER TABLE hauler_retention
        ALTER changed_at DROP NOT NULL, ALTER changed_at DROP DEFAULT, ALTER changed_by DROP NOT NULL,
        ADD CONSTRAINT hauler_retention_change_check CHECK (num_nonnulls(changed_at, changed_by) IN (0, 2));
      INSERT INTO hauler_retention (hauler_id, on_demand_days, continuous_days)
      SELECT hauler.id, longest.days, longest.days FROM haulers AS hauler, LATERAL (
        SELECT CASE WHEN bool_and(days IS NOT NULL) THEN max(days) END AS days FROM retention_defaults
        WHERE ended_at IS NULL OR ended_at > hauler.created_at) AS longest
      WHERE EXISTS (SELECT FROM retention_defaults)
      ON CONFLICT DO NOTHING;
      DROP TABLE retention_defaults, recording_floors;

      ALTER TABLE video_request_parts ADD file_removed_at timestamptz;
      UPDATE video_request_parts AS part SET file_removed_at = removed.at
      FROM (
        SELECT hauler_id, id, rows_dropped_at AS at FROM video_request_parts WHERE rows_dropped_at IS NOT NULL
        UNION ALL SELECT hauler_id, part_id, min(deleted_at) FROM recordings
        WHERE part_id IS NOT NULL AND deleted_at IS NOT NULL GROUP BY hauler_id, part_id) AS removed
      WHERE (part.hauler_id, part.id) = (removed.hauler_id, removed.id);
      ALTER TABLE video_request_parts DROP rows_dropped_at;

      CREATE INDEX recordings_kept_idx ON recordings (hauler_id, source, stored_at, id) WHERE status = 'stored';
      DROP INDEX recordings_part_idx;
      CREATE INDEX recordings_part_idx ON recordings (hauler_id, part_id, connection_id, truck_id, camera_id, start_time)
        WHERE part_id IS NOT NULL OR end_time - start_time > interval '1 hour'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_kept_idx, recordings_part_idx;
      CREATE INDEX recordings_part_idx ON recordings (hauler_id, part_id, connection_id, truck_id, camera_id, start_time)
        WHERE part_id IS NOT NULL OR end_time - start_time > interval '1 hour' OR stored_at < start_time;
      ALTER TABLE video_request_parts ADD rows_dropped_at timestamptz;
      UPDATE video_request_parts SET rows_dropped_at = file_removed_at;
      ALTER TABLE video_request_parts DROP file_removed_at;
      CREATE TABLE recording_floors (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        start_before timestamptz NOT NULL,
        PRIMARY KEY (hauler_id, connection_id)
      );
      CREATE TABLE retention_defaults (
        since timestamptz PRIMARY KEY DEFAULT now(),
        days integer,
        ended_at timestamptz
      );
      CREATE UNIQUE INDEX retention_defaults_current_key ON retention_defaults ((true)) WHERE ended_at IS NULL;
      DELETE FROM hauler_retention WHERE changed_by IS NULL;
      ALTER TABLE hauler_retention
        DROP CONSTRAINT hauler_retention_change_check,
        ALTER changed_at SET NOT NULL, ALTER changed_at SET DEFAULT now(), ALTER changed_by SET NOT NULL;
      DROP TABLE removed_files`);
  }
}
