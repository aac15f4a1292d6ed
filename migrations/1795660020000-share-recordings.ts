import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * Links by which people without an account see a recording. Only the hash of a link's token is stored. The recording has no
 * foreign key: recordings are partitioned by `start_time`.
 */
export class ShareRecordings1795660020000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE recording_shares (
        hauler_id uuid NOT NULL REFERENCES haulers (id),
        id uuid NOT NULL,
        recording_id uuid NOT NULL,
        start_time timestamptz NOT NULL,
        ticket_id uuid,
        token_hash bytea NOT NULL CONSTRAINT recording_shares_token_key UNIQUE,
        reason text NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        max_views integer CONSTRAINT recording_shares_max_views_check CHECK (max_views > 0),
        views integer NOT NULL DEFAULT 0,
        last_viewed_at timestamptz,
        revoked_at timestamptz,
        PRIMARY KEY (hauler_id, id)
      );
      CREATE INDEX recording_shares_id_idx ON recording_shares (id);
      CREATE INDEX recording_shares_recording_idx ON recording_shares (recording_id, id)`);
  }
}
