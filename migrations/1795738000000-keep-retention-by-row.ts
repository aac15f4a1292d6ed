import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * Each hauler has its retention in a row, and `removed_files` has the files whose recordings were removed and that are still to be
 * deleted. `file_removed_at` of a part says that retention has deleted a file of it. A hauler without a row gets one from the
 * service.
 */
export class KeepRetentionByRow1795738000000 extends Migration {
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

      CREATE TABLE hauler_retention (
        hauler_id uuid PRIMARY KEY,
        on_demand_days integer,
        continuous_days integer,
        changed_at timestamptz,
        changed_by text,
        CONSTRAINT hauler_retention_change_check CHECK (num_nonnulls(changed_at, changed_by) IN (0, 2))
      );

      ALTER TABLE video_request_parts ADD file_removed_at timestamptz;
      UPDATE video_request_parts AS part SET file_removed_at = removed.at
      FROM (
        SELECT hauler_id, part_id, min(deleted_at) AS at FROM recordings
        WHERE part_id IS NOT NULL AND deleted_at IS NOT NULL GROUP BY hauler_id, part_id) AS removed
      WHERE (part.hauler_id, part.id) = (removed.hauler_id, removed.part_id);

      CREATE INDEX recordings_kept_idx ON recordings (hauler_id, source, stored_at, id) WHERE status = 'stored'`);
  }
}
