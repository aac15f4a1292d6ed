import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countDays, uncountDays } from './sql/count-days.js';

const FILTERS = { connection_id: 'uuid', truck_id: 'text', camera_id: 'text', source: 'text', status: 'text' };

/** The columns of a due row (`jobs/`). */
const DUE = `
        due_at timestamptz,
        leased_until timestamptz,
        lease_token uuid,
        attempts integer NOT NULL DEFAULT 0,
        last_error text`;

const CLIPS = `
      CREATE TABLE video_requests (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        connection_id uuid NOT NULL,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        status text NOT NULL,
        reason text,
        deadline_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        PRIMARY KEY (hauler_id, id)
      );
      CREATE INDEX video_requests_id_idx ON video_requests (id);
      CREATE INDEX video_requests_connection_idx ON video_requests (connection_id, id);
      CREATE INDEX video_requests_truck_idx ON video_requests (truck_id, id);
      CREATE INDEX video_requests_status_idx ON video_requests (status, id);

      CREATE TABLE video_request_parts (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        request_id uuid NOT NULL,
        number integer NOT NULL,
        connection_id uuid NOT NULL,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        status text NOT NULL,
        reason text,
        partner_request_id text,
        submit_attempts integer NOT NULL DEFAULT 0,
        submitted_at timestamptz,
        deadline_at timestamptz NOT NULL,
        polls integer NOT NULL DEFAULT 0,
        next_poll_at timestamptz,
        polled_individually_at timestamptz,
        not_found integer NOT NULL DEFAULT 0,${DUE},
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT video_request_parts_number_key UNIQUE (hauler_id, request_id, number)
      );
      CREATE INDEX video_request_parts_due_idx ON video_request_parts (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_request_parts_group_idx ON video_request_parts (connection_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_request_parts_leased_idx ON video_request_parts (leased_until) WHERE leased_until IS NOT NULL;
      CREATE INDEX video_request_parts_partner_idx ON video_request_parts (connection_id, partner_request_id)
        WHERE partner_request_id IS NOT NULL;
      CREATE INDEX video_request_parts_polled_idx ON video_request_parts (connection_id, customer_id, next_poll_at)
        WHERE next_poll_at IS NOT NULL;

      -- Steps that changed something. The id contains the time.
      CREATE TABLE clip_events (
        hauler_id uuid NOT NULL,
        request_id uuid NOT NULL,
        id uuid NOT NULL,
        part_id uuid NOT NULL,
        recording_id uuid,
        kind text NOT NULL,
        text text NOT NULL,
        PRIMARY KEY (hauler_id, request_id, id)
      );

      CREATE TABLE video_polls (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        customer_id text NOT NULL,
        next_page integer NOT NULL DEFAULT 1,${DUE},
        PRIMARY KEY (hauler_id, connection_id, customer_id)
      );
      CREATE INDEX video_polls_due_idx ON video_polls (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_polls_group_idx ON video_polls (connection_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_polls_leased_idx ON video_polls (leased_until) WHERE leased_until IS NOT NULL`;

const CONTINUOUS = `
      CREATE TABLE video_subscriptions (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        connection_id uuid NOT NULL,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text,
        start_time timestamptz NOT NULL,
        interval_seconds integer NOT NULL,
        enabled boolean NOT NULL,
        read_until timestamptz NOT NULL,
        last_read_at timestamptz,
        deferred_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        deleted_at timestamptz,${DUE},
        PRIMARY KEY (hauler_id, id)
      );
      CREATE INDEX video_subscriptions_id_idx ON video_subscriptions (id);
      CREATE INDEX video_subscriptions_truck_idx ON video_subscriptions (connection_id, truck_id);
      CREATE INDEX video_subscriptions_due_idx ON video_subscriptions (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_subscriptions_group_idx ON video_subscriptions (connection_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_subscriptions_leased_idx ON video_subscriptions (leased_until) WHERE leased_until IS NOT NULL;

      CREATE TABLE video_windows (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        subscription_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        reason text,${DUE},
        PRIMARY KEY (hauler_id, id)
      );
      CREATE INDEX video_windows_subscription_idx ON video_windows (subscription_id, start_time);
      CREATE INDEX video_windows_due_idx ON video_windows (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_windows_group_idx ON video_windows (connection_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_windows_leased_idx ON video_windows (leased_until) WHERE leased_until IS NOT NULL;

      CREATE TABLE partner_camera_names (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        truck_id text NOT NULL,
        requested_name text NOT NULL,
        returned_name text NOT NULL,
        PRIMARY KEY (hauler_id, connection_id, truck_id, requested_name, returned_name)
      );
      CREATE INDEX partner_camera_names_truck_idx ON partner_camera_names (connection_id, truck_id)`;

const RECORDINGS = `
      CREATE TABLE recordings (
        hauler_id uuid NOT NULL,
        id uuid NOT NULL,
        connection_id uuid NOT NULL,
        part_id uuid,
        source text NOT NULL CONSTRAINT recordings_source_check CHECK (source IN ('on-demand', 'continuous')),
        partner_recording_id text NOT NULL,
        customer_id text NOT NULL,
        truck_id text NOT NULL,
        camera_id text NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        duration_seconds integer NOT NULL,
        status text NOT NULL,
        reason text,
        link text,
        expires_at timestamptz,
        fetch_by timestamptz NOT NULL,
        relinks integer NOT NULL DEFAULT 0,
        received_bytes bigint NOT NULL DEFAULT 0,
        no_progress_attempts integer NOT NULL DEFAULT 0,
        draft_id text,
        draft_bytes bigint,
        draft_total bigint,
        draft_validator text,
        size_bytes bigint,
        sha256 text,
        gaps jsonb,
        fetch_ms integer,
        stored_at timestamptz,
        deleted_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,${DUE},
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT recordings_part_check CHECK ((part_id IS NOT NULL) = (source = 'on-demand'))
      );
      CREATE INDEX recordings_id_idx ON recordings (id);
      -- With the status, so that coverage is aggregated from indexes alone.
      CREATE UNIQUE INDEX recordings_chunk_key
        ON recordings (hauler_id, connection_id, truck_id, camera_id, start_time, end_time) INCLUDE (status)
        WHERE source = 'continuous';
      CREATE INDEX recordings_clip_camera_idx ON recordings (connection_id, truck_id, camera_id, start_time)
        WHERE source = 'on-demand';
      -- Partners give one id to several clips of a request.
      CREATE UNIQUE INDEX recordings_clip_key
        ON recordings (hauler_id, part_id, partner_recording_id, camera_id, start_time, end_time)
        WHERE part_id IS NOT NULL;
      CREATE INDEX recordings_partner_idx ON recordings (connection_id, partner_recording_id) WHERE source = 'continuous';
      CREATE INDEX recordings_fetch_idx ON recordings (connection_id, fetch_by) WHERE due_at IS NOT NULL;
      -- The next downloads of all connections, in the order of expiry.
      CREATE INDEX recordings_unleased_fetch_idx ON recordings (fetch_by) WHERE due_at IS NOT NULL AND leased_until IS NULL;
      -- For the oldest due recording. The predicate keeps claims from using it: with outdated statistics PostgreSQL preferred it
      -- to the index of the connection, and each claim read all due rows.
      CREATE INDEX recordings_unleased_due_idx ON recordings (due_at) WHERE due_at IS NOT NULL AND leased_until IS NULL;
      CREATE INDEX recordings_leased_idx ON recordings (leased_until) WHERE leased_until IS NOT NULL;
      CREATE INDEX recordings_start_idx ON recordings (start_time, id);
      CREATE INDEX recordings_truck_idx ON recordings (connection_id, truck_id, start_time, id);
      CREATE INDEX recordings_stored_idx ON recordings (stored_at) WHERE status = 'stored';
      CREATE INDEX recordings_open_idx ON recordings (status, start_time, id) WHERE status <> 'stored';

      CREATE TABLE vision_findings (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        digest text NOT NULL,
        path text NOT NULL,
        reason text NOT NULL,
        raw text,
        occurrences bigint NOT NULL DEFAULT 1,
        first_seen_at timestamptz NOT NULL,
        last_seen_at timestamptz NOT NULL,
        PRIMARY KEY (hauler_id, connection_id, digest)
      );
      CREATE INDEX vision_findings_seen_idx ON vision_findings (first_seen_at DESC, connection_id, digest);
      CREATE INDEX vision_findings_connection_idx ON vision_findings (connection_id, first_seen_at DESC, digest)`;

/**
 * The platform side of Vision: clip requests with their parts, subscriptions with the windows deferred for later, and
 * recordings. `gaps` are the times within a clip that were not recorded, `[{ startTime, endTime, reason }]`, null where there
 * are none. A recording's row is also the due row of its download. One poll serves all open parts of a customer, so a
 * poll has its own row and a part holds only the time of its next poll.
 */
export class CreateVision1795570070000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CLIPS);
    await queryRunner.query(CONTINUOUS);
    await queryRunner.query(RECORDINGS);
    await queryRunner.query(countDays('recordings', 'recording_days', FILTERS));
    await queryRunner.query('CREATE INDEX recording_days_day_idx ON recording_days (day)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE partner_camera_names, vision_findings, recordings, video_windows, video_subscriptions, video_polls,
        clip_events, video_request_parts, video_requests`);
    await queryRunner.query(uncountDays('recording_days'));
  }
}
