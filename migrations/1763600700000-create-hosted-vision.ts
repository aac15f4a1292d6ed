import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countDays, uncountDays } from './sql/count-days.js';

const FILTERS = { customer_id: 'text', truck_id: 'text', camera_id: 'text' };

/** The partner side of Vision: cameras and their names, recordings, requests, and the clips made for them. */
export class CreateHostedVision1763600700000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE hosted_camera_names (
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        name text NOT NULL,
        camera_id text NOT NULL,
        PRIMARY KEY (customer_id, truck_id, name)
      );
      CREATE TABLE hosted_recordings (
        id uuid PRIMARY KEY,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        size_bytes bigint NOT NULL,
        sha256 text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT hosted_recordings_start_key UNIQUE (customer_id, truck_id, camera_id, start_time)
      );
      CREATE INDEX hosted_recordings_truck_idx ON hosted_recordings (customer_id, truck_id, start_time, id);
      CREATE TABLE hosted_video_requests (
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
      CREATE INDEX hosted_video_requests_due_idx ON hosted_video_requests (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX hosted_video_requests_created_idx ON hosted_video_requests (created_at, id);
      CREATE TABLE hosted_videos (
        id uuid PRIMARY KEY,
        request_id uuid NOT NULL,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        size_bytes bigint NOT NULL,
        sha256 text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT hosted_videos_request_key UNIQUE (request_id)
      );
      CREATE INDEX hosted_videos_customer_idx ON hosted_videos (customer_id, start_time, id);
      CREATE INDEX hosted_videos_truck_idx ON hosted_videos (customer_id, truck_id, start_time, id);`);
    await queryRunner.query(countDays('hosted_recordings', 'hosted_recording_days', FILTERS));
    await queryRunner.query(countDays('hosted_videos', 'hosted_video_days', FILTERS));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE hosted_videos, hosted_video_requests, hosted_recordings, hosted_camera_names');
    await queryRunner.query(uncountDays('hosted_recording_days'));
    await queryRunner.query(uncountDays('hosted_video_days'));
  }
}
