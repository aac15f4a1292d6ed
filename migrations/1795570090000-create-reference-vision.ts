import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countDays, uncountDays } from './sql/count-days.js';

const FILTERS = { customer_id: 'text', truck_id: 'text', camera_id: 'text' };

/** The reference partner's side of Vision: camera names, recordings, clip requests and prepared clips. */
export class CreateReferenceVision1795570090000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE reference_camera_names (
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        name text NOT NULL,
        camera_id text NOT NULL,
        PRIMARY KEY (customer_id, truck_id, name)
      );
      CREATE TABLE reference_recordings (
        id uuid PRIMARY KEY,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        size_bytes bigint NOT NULL,
        sha256 text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT reference_recordings_start_key UNIQUE (customer_id, truck_id, camera_id, start_time)
      );
      CREATE INDEX reference_recordings_truck_idx ON reference_recordings (customer_id, truck_id, start_time, id);
      CREATE TABLE reference_video_requests (
        id uuid PRIMARY KEY,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        status text NOT NULL CHECK (status IN ('processing', 'ready', 'failed')),
        message text,
        created_at timestamptz NOT NULL DEFAULT now(),
        finished_at timestamptz,
        due_at timestamptz,
        leased_until timestamptz,
        lease_token uuid,
        attempts integer NOT NULL DEFAULT 0,
        last_error text
      );
      CREATE INDEX reference_video_requests_due_idx ON reference_video_requests (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX reference_video_requests_leased_idx ON reference_video_requests (leased_until)
        WHERE leased_until IS NOT NULL;
      CREATE INDEX reference_video_requests_status_idx ON reference_video_requests (status, created_at, id);
      CREATE INDEX reference_video_requests_created_idx ON reference_video_requests (created_at, id);
      CREATE TABLE reference_clips (
        id uuid PRIMARY KEY,
        request_id uuid NOT NULL,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        size_bytes bigint NOT NULL,
        sha256 text NOT NULL,
        gaps jsonb,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT reference_clips_request_key UNIQUE (request_id)
      );
      CREATE INDEX reference_clips_customer_idx ON reference_clips (customer_id, start_time, id);
      CREATE INDEX reference_clips_truck_idx ON reference_clips (customer_id, truck_id, start_time, id)`);
    await queryRunner.query(countDays('reference_recordings', 'reference_recording_days', FILTERS));
    await queryRunner.query(countDays('reference_clips', 'reference_clip_days', FILTERS));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE reference_clips, reference_video_requests, reference_recordings, reference_camera_names`);
    await queryRunner.query(uncountDays('reference_recording_days'));
    await queryRunner.query(uncountDays('reference_clip_days'));
  }
}
