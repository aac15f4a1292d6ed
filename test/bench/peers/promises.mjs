// The statements and tables of the peer that keeps the same promises. It reads the sites and materials of the service.

export const CREATE_PROMISE_TABLES = `
  CREATE TABLE peer_keys (hash bytea PRIMARY KEY, hauler_id uuid NOT NULL);
  CREATE TABLE peer_kept_tickets (
    hauler_id uuid NOT NULL,
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    inbound_number text COLLATE "C",
    inbound_updated_at timestamptz,
    outbound_number text COLLATE "C",
    outbound_updated_at timestamptz,
    materials jsonb NOT NULL,
    custom_fields jsonb,
    revision integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (hauler_id, id),
    UNIQUE (hauler_id, inbound_number, site_id),
    UNIQUE (hauler_id, outbound_number, site_id)
  );
  CREATE TABLE peer_revisions (
    hauler_id uuid NOT NULL,
    ticket_id uuid NOT NULL,
    revision integer NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    body text NOT NULL,
    request_id text NOT NULL,
    PRIMARY KEY (hauler_id, ticket_id, revision)
  );
  CREATE TABLE peer_exchanges (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    hauler_id uuid,
    request_id text NOT NULL,
    status smallint NOT NULL,
    duration_ms real NOT NULL,
    request_headers text NOT NULL,
    request_body text NOT NULL,
    response_body text NOT NULL
  );
  CREATE INDEX ON peer_exchanges (hauler_id, at);
  CREATE INDEX ON peer_exchanges (request_id);
  CREATE INDEX ON peer_exchanges (status, at)`;

export const FIND_KEY = 'SELECT hauler_id FROM peer_keys WHERE hash = $1';

export const FIND_RECORDS = `
  SELECT EXISTS (SELECT FROM sites WHERE hauler_id = $1 AND external_id = $2) AS site,
         (SELECT count(*)::int FROM materials
           WHERE hauler_id = $1 AND external_id = ANY($3::uuid[]) AND $2 = ANY(site_ids)) AS materials`;

export const UPSERT = `
  INSERT INTO peer_kept_tickets
    (hauler_id, id, site_id, inbound_number, inbound_updated_at, outbound_number, outbound_updated_at, materials, custom_fields)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (hauler_id, inbound_number, site_id) DO UPDATE
    SET inbound_updated_at = excluded.inbound_updated_at,
        outbound_number = excluded.outbound_number,
        outbound_updated_at = excluded.outbound_updated_at,
        materials = excluded.materials,
        custom_fields = excluded.custom_fields,
        revision = peer_kept_tickets.revision + 1,
        updated_at = now()
  RETURNING id, revision`;

export const INSERT_REVISION =
  'INSERT INTO peer_revisions (hauler_id, ticket_id, revision, body, request_id) VALUES ($1, $2, $3, $4, $5)';

export const INSERT_EXCHANGE = `
  INSERT INTO peer_exchanges
    (id, hauler_id, request_id, status, duration_ms, request_headers, request_body, response_body)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
