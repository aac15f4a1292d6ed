import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * The tables of 0.2.0, for an empty database. It has the name of the last of the 39 migrations of 0.2.0, whose work this is: a database
 * that 0.2.0 has migrated has it already.
 */
export class CountRequests1795570540000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SCHEMA);
  }
}

const SCHEMA = `
CREATE TABLE haulers (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX haulers_created_idx ON haulers (created_at DESC, id DESC);

-- Connections to partners. The row of a site connection is also the due row of its synchronisation. The row of a deleted
-- connection stays, without its keys, because other rows refer to it.
CREATE TABLE connections (
  hauler_id uuid NOT NULL CONSTRAINT connections_hauler_fkey REFERENCES haulers (id),
  id uuid NOT NULL,
  interface text NOT NULL CHECK (interface IN ('site', 'vision')),
  base_url text NOT NULL,
  sealed_key text NOT NULL,
  sealed_next_key text,
  customer_id text,
  interval_seconds integer NOT NULL CONSTRAINT connections_interval_check CHECK (interval_seconds > 0),
  enabled boolean NOT NULL,
  run_requested_at timestamptz,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  started_at timestamptz,
  first_byte_timeout_seconds integer CONSTRAINT connections_first_byte_timeout_check
    CHECK (first_byte_timeout_seconds BETWEEN 1 AND 3600),
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT connections_customer_check CHECK ((customer_id IS NOT NULL) = (interface = 'vision'))
);
CREATE INDEX connections_id_idx ON connections (id);
CREATE INDEX connections_due_idx ON connections (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX connections_created_idx ON connections (created_at DESC, id DESC) WHERE deleted_at IS NULL;

-- No foreign key to haulers: a site key may be limited to a hauler that only the partner side knows. A key of a connection
-- opens no interface: it reads how the platform fares with one partner, in the partner API.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  hash bytea NOT NULL UNIQUE,
  prefix text NOT NULL,
  hauler_id uuid,
  customer_id text,
  interfaces text[] NOT NULL,
  name text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  replaces_id uuid REFERENCES api_keys (id),
  overlap_seconds integer,
  activated_at timestamptz,
  retires_at timestamptz,
  all_customers boolean NOT NULL DEFAULT false,
  connection_id uuid,
  CONSTRAINT api_keys_hauler_check CHECK (hauler_id IS NOT NULL OR NOT interfaces && ARRAY['scale', 'account']),
  CONSTRAINT api_keys_rotation_check CHECK ((replaces_id IS NULL) = (overlap_seconds IS NULL)),
  CONSTRAINT api_keys_customer_check CHECK (all_customers = ('vision' = ANY (interfaces) AND customer_id IS NULL)),
  CONSTRAINT api_keys_interfaces_check CHECK (interfaces <@ ARRAY['scale', 'account', 'site', 'vision']
    AND (cardinality(interfaces) > 0) = (connection_id IS NULL)),
  CONSTRAINT api_keys_connection_check CHECK (connection_id IS NULL OR hauler_id IS NOT NULL),
  CONSTRAINT api_keys_connection_fkey FOREIGN KEY (hauler_id, connection_id) REFERENCES connections (hauler_id, id)
);
CREATE INDEX api_keys_created_idx ON api_keys (created_at DESC, id DESC);
CREATE INDEX api_keys_hauler_idx ON api_keys (hauler_id, created_at DESC, id DESC);
CREATE INDEX api_keys_replaces_idx ON api_keys (replaces_id);
CREATE INDEX api_keys_connection_idx ON api_keys (connection_id, created_at DESC, id DESC)
  WHERE connection_id IS NOT NULL;

-- What admins and partners changed by a call. The changes are JSON text, because jsonb refuses some of it. error: why an
-- action failed that may have changed something.
CREATE TABLE actions (
  id uuid PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  resource text NOT NULL,
  changes text,
  error text
);
CREATE INDEX actions_at_idx ON actions (at, id);
CREATE INDEX actions_resource_idx ON actions (resource, at, id);

-- The first response of each Idempotency-Key (decision 16). No foreign key to haulers: rows live for a day, and the check would
-- lock the row of the hauler on the hot path.
CREATE TABLE idempotency_keys (
  hauler_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  status smallint,
  headers jsonb,
  body text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (hauler_id, path, key)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- The two flows of a ticket are columns, not rows: they are always read together, and one row less per ticket makes ingestion
-- faster. Contents and received bodies are text, because they are stored exactly as received: an unknown field may hold 1e309,
-- which jsonb refuses. There are no foreign keys: checking the hauler would lock its row for every ticket.
CREATE TABLE tickets (
  hauler_id uuid NOT NULL,
  id uuid NOT NULL,
  site_id uuid NOT NULL,
  revision integer NOT NULL,
  contents_version timestamptz,
  inbound_updated_at timestamptz,
  outbound_updated_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  inbound_number text COLLATE "C",
  outbound_number text COLLATE "C",
  materials text NOT NULL,
  custom_fields text,
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT tickets_inbound_key UNIQUE (hauler_id, inbound_number, site_id),
  CONSTRAINT tickets_outbound_key UNIQUE (hauler_id, outbound_number, site_id)
);
CREATE INDEX tickets_id_idx ON tickets (id);
CREATE INDEX tickets_site_idx ON tickets (site_id, id);

CREATE TABLE ticket_revisions (
  hauler_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  revision integer NOT NULL,
  received_at timestamptz NOT NULL,
  result text NOT NULL CHECK (result IN ('created', 'updated', 'stale')),
  body text NOT NULL,
  exchange_id uuid,
  api_key_id uuid,
  request_id text,
  PRIMARY KEY (hauler_id, ticket_id, revision)
);

CREATE SEQUENCE account_numbers START 100001;
-- Customers of haulers (section 2.4). The unique constraint is on a digest of the normalised name, because a name can be longer
-- than an index entry may be.
CREATE TABLE accounts (
  hauler_id uuid NOT NULL REFERENCES haulers (id),
  id uuid NOT NULL,
  account_number text NOT NULL,
  account_name text NOT NULL,
  name_digest bytea NOT NULL,
  search_text text NOT NULL,
  address_id uuid,
  street text,
  unit text,
  city text,
  state text,
  country text,
  zip text,
  contact_id uuid,
  first_name text,
  last_name text,
  email text,
  phone text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT accounts_name_taken UNIQUE (hauler_id, name_digest),
  CONSTRAINT accounts_number_key UNIQUE (hauler_id, account_number),
  CONSTRAINT accounts_address_check
    CHECK (address_id IS NOT NULL OR num_nonnulls(street, unit, city, state, country, zip) = 0),
  CONSTRAINT accounts_contact_check
    CHECK (contact_id IS NOT NULL OR num_nonnulls(first_name, last_name, email, phone) = 0)
);
CREATE INDEX accounts_id_idx ON accounts (id);

-- The catalog of each hauler (section 2.4a). A record refers to its parent by the partner's id, without a foreign key: the parent
-- of a valid record may be in quarantine (decision 32).
CREATE TABLE sites (
  id uuid NOT NULL,
  hauler_id uuid NOT NULL REFERENCES haulers (id),
  connection_id uuid,
  external_id uuid NOT NULL,
  active boolean NOT NULL DEFAULT true,
  flagged_reason text,
  partner_updated_at timestamptz,
  deactivated_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  name text NOT NULL,
  line1 text,
  city text,
  state text,
  country text,
  zip_code text,
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT sites_external_id_key UNIQUE (hauler_id, external_id),
  CONSTRAINT sites_address_check CHECK (num_nulls(line1, city, state, country, zip_code) IN (0, 5))
);
CREATE INDEX sites_id_idx ON sites (id);
CREATE INDEX sites_active_idx ON sites (active, id);
CREATE INDEX sites_connection_idx ON sites (connection_id, external_id);
CREATE INDEX sites_external_id_idx ON sites (external_id);

CREATE TABLE kiosks (
  id uuid NOT NULL,
  hauler_id uuid NOT NULL REFERENCES haulers (id),
  connection_id uuid,
  external_id uuid NOT NULL,
  active boolean NOT NULL DEFAULT true,
  flagged_reason text,
  partner_updated_at timestamptz,
  deactivated_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  site_external_id uuid NOT NULL,
  name text NOT NULL,
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT kiosks_external_id_key UNIQUE (hauler_id, external_id)
);
CREATE INDEX kiosks_id_idx ON kiosks (id);
CREATE INDEX kiosks_active_idx ON kiosks (active, id);
CREATE INDEX kiosks_connection_idx ON kiosks (connection_id, external_id);
CREATE INDEX kiosks_site_idx ON kiosks (site_external_id, id);

-- A material of several sites or kiosks (decision 33) has the first parent in one column, and the others in an array.
CREATE TABLE materials (
  id uuid NOT NULL,
  hauler_id uuid NOT NULL REFERENCES haulers (id),
  connection_id uuid,
  external_id uuid NOT NULL,
  active boolean NOT NULL DEFAULT true,
  flagged_reason text,
  partner_updated_at timestamptz,
  deactivated_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  site_external_id uuid,
  kiosk_external_id uuid,
  material_type text NOT NULL,
  measure_unit text NOT NULL,
  more_site_ids uuid[],
  more_kiosk_ids uuid[],
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT materials_external_id_key UNIQUE (hauler_id, external_id),
  CONSTRAINT materials_parent_check CHECK (num_nonnulls(site_external_id, kiosk_external_id) > 0)
);
CREATE INDEX materials_id_idx ON materials (id);
CREATE INDEX materials_active_idx ON materials (active, id);
CREATE INDEX materials_connection_idx ON materials (connection_id, external_id);
CREATE INDEX materials_site_idx ON materials (site_external_id, id);
CREATE INDEX materials_kiosk_idx ON materials (kiosk_external_id, id);
CREATE INDEX materials_more_sites_idx ON materials USING gin (more_site_ids) WHERE more_site_ids IS NOT NULL;
CREATE INDEX materials_more_kiosks_idx ON materials USING gin (more_kiosk_ids) WHERE more_kiosk_ids IS NOT NULL;

-- The synchronisation runs that maintain the catalog. refusals counts quarantined and flagged records by rule.
CREATE TABLE sync_runs (
  id uuid NOT NULL,
  hauler_id uuid NOT NULL REFERENCES haulers (id),
  connection_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'held', 'rejected', 'no_data')),
  attempts integer NOT NULL DEFAULT 0,
  counts jsonb NOT NULL,
  error text,
  guard jsonb,
  note text,
  has_changes boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  refusals jsonb,
  PRIMARY KEY (hauler_id, id)
);
CREATE UNIQUE INDEX sync_runs_active_key ON sync_runs (hauler_id, connection_id)
  WHERE status IN ('queued', 'running');
CREATE INDEX sync_runs_id_idx ON sync_runs (id);
CREATE INDEX sync_runs_created_idx ON sync_runs (created_at, id);
CREATE INDEX sync_runs_connection_idx ON sync_runs (connection_id, created_at, id);
CREATE INDEX sync_runs_status_idx ON sync_runs (status, created_at, id);

CREATE TABLE sync_issues (
  hauler_id uuid NOT NULL,
  run_id uuid NOT NULL,
  position integer NOT NULL,
  severity text NOT NULL,
  kind text NOT NULL,
  path text NOT NULL,
  reason text NOT NULL,
  raw text NOT NULL,
  rule text,
  PRIMARY KEY (hauler_id, run_id, position),
  FOREIGN KEY (hauler_id, run_id) REFERENCES sync_runs (hauler_id, id) ON DELETE CASCADE
);
CREATE INDEX sync_issues_run_idx ON sync_issues (run_id, position);

CREATE TABLE sync_holds (
  hauler_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  kind text NOT NULL,
  external_id uuid NOT NULL,
  rejected boolean NOT NULL DEFAULT false,
  PRIMARY KEY (hauler_id, connection_id, kind, external_id)
);

CREATE TABLE sync_changes (
  hauler_id uuid NOT NULL,
  run_id uuid NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  change text NOT NULL,
  external_id uuid NOT NULL,
  name text NOT NULL,
  before jsonb,
  after jsonb,
  PRIMARY KEY (hauler_id, run_id, position),
  FOREIGN KEY (hauler_id, run_id) REFERENCES sync_runs (hauler_id, id) ON DELETE CASCADE
);
CREATE INDEX sync_changes_run_idx ON sync_changes (run_id, position);

-- The platform side of Vision. Rows with due_at are work (work/): started_at says since when a row is worked on.
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

-- One poll serves all open parts of a customer, so a poll has its own row, and a part holds only the time of its next poll.
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
  not_found integer NOT NULL DEFAULT 0,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  started_at timestamptz,
  may_be_taken boolean NOT NULL DEFAULT false,
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT video_request_parts_number_key UNIQUE (hauler_id, request_id, number)
);
CREATE INDEX video_request_parts_due_idx ON video_request_parts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX video_request_parts_group_idx ON video_request_parts (connection_id, due_at) WHERE due_at IS NOT NULL;
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
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  started_at timestamptz,
  PRIMARY KEY (hauler_id, connection_id, customer_id)
);
CREATE INDEX video_polls_due_idx ON video_polls (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX video_polls_group_idx ON video_polls (connection_id, due_at) WHERE due_at IS NOT NULL;

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
  deleted_at timestamptz,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  started_at timestamptz,
  rereadings jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (hauler_id, id)
);
CREATE INDEX video_subscriptions_id_idx ON video_subscriptions (id);
CREATE INDEX video_subscriptions_truck_idx ON video_subscriptions (connection_id, truck_id);
CREATE INDEX video_subscriptions_due_idx ON video_subscriptions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX video_subscriptions_group_idx ON video_subscriptions (connection_id, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE video_windows (
  hauler_id uuid NOT NULL,
  id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  start_time timestamptz NOT NULL,
  end_time timestamptz NOT NULL,
  reason text,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  started_at timestamptz,
  reread_day date,
  PRIMARY KEY (hauler_id, id)
);
CREATE INDEX video_windows_subscription_idx ON video_windows (subscription_id, start_time);
CREATE INDEX video_windows_due_idx ON video_windows (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX video_windows_group_idx ON video_windows (connection_id, due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX video_windows_reread_day_key ON video_windows (hauler_id, subscription_id, reread_day);

CREATE TABLE partner_camera_names (
  hauler_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  truck_id text NOT NULL,
  requested_name text NOT NULL,
  returned_name text NOT NULL,
  PRIMARY KEY (hauler_id, connection_id, truck_id, requested_name, returned_name)
);
CREATE INDEX partner_camera_names_truck_idx ON partner_camera_names (connection_id, truck_id);

-- The row of a recording is also the due row of its download. gaps are the times within a clip that were not recorded,
-- [{ startTime, endTime, reason }]. Partners give one id to several clips of a request.
CREATE TABLE recordings (
  hauler_id uuid NOT NULL,
  id uuid NOT NULL,
  connection_id uuid NOT NULL,
  part_id uuid,
  source text NOT NULL CHECK (source IN ('on-demand', 'continuous')),
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
  updated_at timestamptz NOT NULL,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  started_at timestamptz,
  tried_since timestamptz NOT NULL DEFAULT now(),
  reason_code text,
  PRIMARY KEY (hauler_id, id),
  CONSTRAINT recordings_part_check CHECK ((part_id IS NOT NULL) = (source = 'on-demand'))
);
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
CREATE INDEX recordings_due_idx ON recordings (connection_id, due_at) WHERE due_at IS NOT NULL AND relinks >= 0;

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
CREATE INDEX vision_findings_connection_idx ON vision_findings (connection_id, first_seen_at DESC, digest);

-- The response of the reference partner for each hauler: one compressed body, in chunks (decision 37).
CREATE TABLE reference_site_data (
  hauler_id uuid PRIMARY KEY,
  version uuid NOT NULL,
  previous_version uuid,
  digest text NOT NULL,
  byte_length bigint NOT NULL,
  gzip_length bigint NOT NULL,
  chunks integer NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE reference_site_data_chunks (
  hauler_id uuid NOT NULL,
  version uuid NOT NULL,
  position integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (hauler_id, version, position)
);
ALTER TABLE reference_site_data_chunks ALTER bytes SET STORAGE EXTERNAL;

CREATE TABLE reference_camera_names (
  customer_id text NOT NULL,
  truck_id text NOT NULL,
  name text NOT NULL,
  camera_id text NOT NULL,
  PRIMARY KEY (customer_id, truck_id, name)
);

-- The lists of the reference partner count their rows when they are read, from indexes that have all columns of the filters.
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
CREATE INDEX reference_recordings_truck_idx
  ON reference_recordings (customer_id, truck_id, start_time, id) INCLUDE (camera_id, end_time);

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
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  sandbox jsonb,
  started_at timestamptz
);
CREATE INDEX reference_video_requests_due_idx ON reference_video_requests (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX reference_video_requests_status_idx ON reference_video_requests (status, created_at, id);
CREATE INDEX reference_video_requests_created_idx ON reference_video_requests (created_at, id);

CREATE TABLE reference_clips (
  id uuid PRIMARY KEY,
  request_id uuid NOT NULL CONSTRAINT reference_clips_request_key UNIQUE,
  customer_id text NOT NULL,
  truck_id text NOT NULL,
  camera_id text NOT NULL,
  start_time timestamptz NOT NULL,
  end_time timestamptz NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 text NOT NULL,
  gaps jsonb,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX reference_clips_truck_idx
  ON reference_clips (customer_id, truck_id, start_time, id) INCLUDE (camera_id, end_time);
CREATE INDEX reference_clips_customer_idx
  ON reference_clips (customer_id, start_time, id) INCLUDE (truck_id, camera_id, end_time);

-- The folders that have held videos. If one of them is empty at start, its volume is not mounted.
CREATE TABLE storage_roots (
  root text PRIMARY KEY
);

-- Active scenarios of the sandbox, and the operations on which each acts.
CREATE TABLE sandbox_scenarios (
  subject text NOT NULL CHECK (subject IN ('haulers', 'customers')),
  subject_id text NOT NULL,
  name text NOT NULL,
  parameters jsonb NOT NULL,
  remaining_times integer,
  ends_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  routes text[] NOT NULL,
  PRIMARY KEY (subject, subject_id, name, routes)
);

CREATE TABLE reference_clocks (
  customer_id text PRIMARY KEY,
  offset_ms bigint NOT NULL
);

-- HTTP exchanges, with one partition per UTC day. The id begins with the time. status is 0 without a response. request_form and
-- response_form are bit sets: 1 base64, 2 redacted, 4 truncated. in_revision: the body is the text of a revision of the ticket,
-- and is not stored again. refs has kind:value; a name that haulers share has a further element with the hauler. Indexes of
-- failures are partial, because most exchanges are successful pushes. Readers scan what a GIN index has gathered and not yet added,
-- so it must stay small.
CREATE TABLE exchanges (
  id uuid PRIMARY KEY,
  hauler_id uuid,
  connection_id uuid,
  api_key_id uuid,
  replay_of uuid,
  request_bytes bigint NOT NULL,
  response_bytes bigint NOT NULL,
  duration_ms real NOT NULL,
  status smallint NOT NULL,
  request_form smallint NOT NULL,
  response_form smallint NOT NULL,
  in_revision boolean NOT NULL,
  direction text NOT NULL,
  interface text NOT NULL,
  route text,
  method text NOT NULL,
  path text NOT NULL,
  key_prefix text,
  request_id text,
  failure text,
  error_code text,
  result text,
  scenario text,
  ignored_fields text,
  refs text[],
  request_headers text NOT NULL,
  request_body text,
  request_sha256 text,
  response_headers text,
  response_body text,
  response_sha256 text
) PARTITION BY RANGE (id);
CREATE INDEX exchanges_hauler_idx ON exchanges (hauler_id, direction, interface, id);
CREATE INDEX exchanges_interface_idx ON exchanges (direction, interface, id);
CREATE INDEX exchanges_key_idx ON exchanges (api_key_id, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX exchanges_connection_idx ON exchanges (connection_id, id) WHERE connection_id IS NOT NULL;
CREATE INDEX exchanges_request_idx ON exchanges USING hash (request_id);
CREATE INDEX exchanges_status_idx ON exchanges (status, id) WHERE status <> 200;
CREATE INDEX exchanges_hauler_status_idx ON exchanges (hauler_id, status, id) WHERE status <> 200;
CREATE INDEX exchanges_code_idx ON exchanges (error_code, id) WHERE error_code IS NOT NULL;
CREATE INDEX exchanges_hauler_code_idx ON exchanges (hauler_id, error_code, id) WHERE error_code IS NOT NULL;
CREATE INDEX exchanges_refs_idx ON exchanges USING gin (refs) WITH (gin_pending_list_limit = 1024);
CREATE INDEX exchanges_failed_idx ON exchanges (id) WHERE status >= 400 OR status = 0 OR failure IS NOT NULL;
CREATE INDEX exchanges_reason_idx ON exchanges ((CASE
    WHEN status >= 400 THEN coalesce(substring(result from '^\\d{3} (.+)$'), error_code, failure, 'http-' || status::text)
    ELSE coalesce(failure, 'no-response') END), id)
  WHERE status >= 400 OR status = 0 OR failure IS NOT NULL;
CREATE FUNCTION pg_temp.day_start(day date) RETURNS text LANGUAGE sql IMMUTABLE AS $body$
  SELECT substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-0000-0000-000000000000'
    FROM (SELECT lpad(to_hex((extract(epoch FROM day::timestamp) * 1000)::bigint), 12, '0') AS hex) AS start
$body$;
DO $body$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  FOR n IN 0..3 LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF exchanges FOR VALUES FROM (%L) TO (%L)',
      'exchanges_' || to_char(today + n, 'YYYYMMDD'), pg_temp.day_start(today + n), pg_temp.day_start(today + n + 1));
  END LOOP;
END $body$;
DROP FUNCTION pg_temp.day_start(date);

-- Counts exchanges by hour, so that the overview of a day reads some hundred rows. Absent texts are empty, because a primary key
-- has no nulls; last_id is the newest exchange.
CREATE TABLE exchange_hours (
  hour timestamptz NOT NULL,
  direction text COLLATE "C" NOT NULL,
  interface text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  error_code text COLLATE "C" NOT NULL,
  result text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  last_id uuid NOT NULL,
  PRIMARY KEY (hour, direction, interface, route, status, error_code, result)
) WITH (fillfactor = 70);

CREATE TABLE exchange_days (
  day date PRIMARY KEY,
  bytes bigint NOT NULL,
  keyless_bytes bigint NOT NULL
) WITH (fillfactor = 50);

-- Neither the cookie nor the token is stored: a dump of the database opens nothing.
CREATE TABLE console_sessions (
  cookie_hash bytea PRIMARY KEY,
  token_mac bytea,
  key_id uuid REFERENCES api_keys (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT console_sessions_secret_check CHECK ((token_mac IS NULL) <> (key_id IS NULL))
);
CREATE INDEX console_sessions_expires_idx ON console_sessions (expires_at);
CREATE INDEX console_sessions_key_idx ON console_sessions (key_id);

-- One instance owns a lane of work, such as a connection, and works on all of its rows.
CREATE TABLE lanes (
  kind text NOT NULL,
  lane text NOT NULL,
  owner uuid NOT NULL,
  since timestamptz NOT NULL,
  owned_until timestamptz NOT NULL,
  PRIMARY KEY (kind, lane)
) WITH (fillfactor = 50);

-- What was read when: continuous recordings are read again by age (decision 48).
CREATE TABLE video_readings (
  hauler_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  start_time timestamptz NOT NULL,
  end_time timestamptz NOT NULL,
  read_at timestamptz NOT NULL,
  PRIMARY KEY (hauler_id, subscription_id, start_time, end_time)
);

-- Which version of the service has migrated the database, and the oldest one that can use it since. At most one row.
CREATE TABLE schema_version (
  one boolean DEFAULT true PRIMARY KEY CHECK (one),
  version text NOT NULL,
  oldest_compatible_version text NOT NULL,
  migrated_at timestamptz NOT NULL
);

-- Where the readiness check writes. A row takes more than half a page and is neither compressed nor moved out, so that each one
-- asks the disk for a page: updates succeed on a full disk.
CREATE TABLE write_probes (
  filler text NOT NULL
);
ALTER TABLE write_probes ALTER filler SET STORAGE PLAIN;

CREATE TABLE backup_verifications (
  is_last boolean DEFAULT true PRIMARY KEY CONSTRAINT backup_verifications_last_check CHECK (is_last),
  verified_at timestamptz NOT NULL,
  archive_created_at timestamptz NOT NULL
);

-- A row says that no partner is called, on any instance.
CREATE TABLE outbound_stop (
  one boolean DEFAULT true PRIMARY KEY CHECK (one),
  reason text NOT NULL,
  since timestamptz NOT NULL DEFAULT now()
);

CREATE UNLOGGED TABLE request_counts (
  key_id uuid PRIMARY KEY,
  requests bigint NOT NULL,
  ends_at timestamptz NOT NULL
)`;
