import { Injectable } from '@nestjs/common';
import type { FoundKind } from '../../contracts/admin/search.routes.js';
import { Database } from '../../core/database/database.js';

/** A thing that was found. Sentences are made of it in `search.rules.ts`. */
export interface FoundRow {
  readonly kind: FoundKind;
  readonly id: string;
  readonly hauler_id: string | null;
  readonly hauler: string | null;
  readonly name: string | null;
  readonly state: string | null;
  readonly more: string | null;
  readonly at: Date | null;
  readonly connection_id: string | null;
  readonly truck_id: string | null;
}

/** Of one kind. */
const MAX_EACH = 5;

/** The haulers that the caller may see: each is one step in an index that begins with the hauler. */
const OWN = 'SELECT id FROM haulers WHERE $2::uuid[] IS NULL OR id = ANY ($2)';
const IS_OWN = '($2::uuid[] IS NULL OR hauler_id = ANY ($2))';

/**
 * By an id of ours, or a partner's id of a record of its catalog: each table by an index of ids. What has no hauler, and what concerns
 * all of them, is for callers without a limit.
 */
const BY_ID = `
  SELECT 'ticket' AS kind, id, hauler_id, coalesce(inbound_number, outbound_number) AS name, NULL AS state,
    revision::text AS more, updated_at AS at, NULL::uuid AS connection_id, NULL AS truck_id
    FROM tickets WHERE id = $1
  UNION ALL
  SELECT 'account', id, hauler_id, account_name, NULL, account_number, updated_at, NULL, NULL FROM accounts WHERE id = $1
  UNION ALL
  SELECT 'hauler', id, id, name, NULL, NULL, created_at, NULL, NULL FROM haulers WHERE id = $1
  UNION ALL
  SELECT 'connection', id, hauler_id, interface, CASE WHEN enabled THEN NULL ELSE 'paused' END, base_url, updated_at, id, NULL
    FROM connections WHERE id = $1 AND deleted_at IS NULL
  UNION ALL
  SELECT 'key', id, hauler_id, prefix, CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at < now() THEN 'expired' END,
    name, coalesce(last_used_at, created_at), NULL, NULL FROM api_keys WHERE id = $1
  UNION ALL
  SELECT 'run', id, hauler_id, NULL, status, error, coalesce(finished_at, created_at), connection_id, NULL
    FROM sync_runs WHERE id = $1
  UNION ALL
  SELECT 'clip', id, hauler_id, camera_id, status, reason, start_time, connection_id, truck_id FROM video_requests WHERE id = $1
  UNION ALL
  SELECT 'truck', id, hauler_id, camera_id, CASE WHEN enabled THEN 'followed' ELSE 'paused' END, NULL, last_read_at,
    connection_id, truck_id FROM video_subscriptions WHERE id = $1 AND deleted_at IS NULL
  UNION ALL
  SELECT 'recording', id, hauler_id, camera_id, status, reason, start_time, connection_id, truck_id FROM recordings WHERE id = $1
  UNION ALL
  SELECT 'hold', id, hauler_id, case_id, CASE WHEN released_at IS NULL THEN 'active' ELSE 'released' END, reason, created_at,
    connection_id, truck_id FROM holds WHERE id = $1
  UNION ALL
  SELECT 'erasure', id, hauler_id, NULL, status, reason, created_at, NULL, NULL FROM erasures WHERE id = $1 AND $2::uuid[] IS NULL
  UNION ALL
  SELECT 'webhook', id, hauler_id, url, CASE WHEN enabled THEN NULL ELSE 'disabled' END, disabled_reason, created_at, NULL, NULL
    FROM webhook_endpoints WHERE id = $1 AND $2::uuid[] IS NULL
  UNION ALL
  SELECT 'delivery', id, hauler_id, topic, status, endpoint_id::text, created_at, NULL, NULL
    FROM webhook_deliveries WHERE id = $1 AND $2::uuid[] IS NULL
  UNION ALL
  (SELECT 'site', external_id, hauler_id, name, CASE WHEN active THEN NULL ELSE 'inactive' END, NULL, updated_at, NULL, NULL
    FROM sites WHERE id = $1 OR external_id = $1 LIMIT ${MAX_EACH})
  UNION ALL
  SELECT 'kiosk', external_id, hauler_id, name, CASE WHEN active THEN NULL ELSE 'inactive' END, NULL, updated_at, connection_id, NULL
    FROM kiosks WHERE id = $1
  UNION ALL
  SELECT 'material', external_id, hauler_id, material_type, CASE WHEN active THEN NULL ELSE 'inactive' END, NULL, updated_at, NULL, NULL
    FROM materials WHERE id = $1
  UNION ALL
  (SELECT 'kiosk', r.external_id, hauler_id, name, CASE WHEN active THEN NULL ELSE 'inactive' END, NULL, updated_at, connection_id, NULL
    FROM (${OWN}) AS own,
      LATERAL (SELECT * FROM kiosks WHERE hauler_id = own.id AND external_id = $1 LIMIT 1) AS r LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'material', r.external_id, hauler_id, material_type, CASE WHEN active THEN NULL ELSE 'inactive' END, NULL, updated_at,
      NULL, NULL
    FROM (${OWN}) AS own,
      LATERAL (SELECT * FROM materials WHERE hauler_id = own.id AND external_id = $1 LIMIT 1) AS r LIMIT ${MAX_EACH})`;

/** By a number or name, whole, in one of the spellings $1; the name of a hauler by a part of it ($3). */
const BY_TEXT = `
  (SELECT 'ticket' AS kind, t.id, hauler_id, coalesce(inbound_number, outbound_number) AS name, NULL AS state,
      revision::text AS more, updated_at AS at, NULL::uuid AS connection_id, NULL AS truck_id
    FROM (${OWN}) AS own CROSS JOIN unnest($1::text[]) AS sought (number),
      LATERAL (SELECT * FROM tickets WHERE hauler_id = own.id AND inbound_number = sought.number LIMIT ${MAX_EACH}) AS t
    LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'ticket', t.id, hauler_id, outbound_number, NULL, revision::text, updated_at, NULL, NULL
    FROM (${OWN}) AS own CROSS JOIN unnest($1::text[]) AS sought (number),
      LATERAL (SELECT * FROM tickets WHERE hauler_id = own.id AND outbound_number = sought.number
        AND inbound_number IS DISTINCT FROM outbound_number LIMIT ${MAX_EACH}) AS t
    LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'account', a.id, hauler_id, account_name, NULL, account_number, updated_at, NULL, NULL
    FROM (${OWN}) AS own CROSS JOIN unnest($1::text[]) AS sought (number),
      LATERAL (SELECT * FROM accounts WHERE hauler_id = own.id AND account_number = sought.number LIMIT 1) AS a
    LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'truck', c.id, c.hauler_id, NULL, NULL, NULL, NULL, c.id, truck.truck_id
    FROM connections AS c CROSS JOIN unnest($1::text[]) AS sought (truck),
      LATERAL (SELECT truck_id FROM cameras
        WHERE hauler_id = c.hauler_id AND connection_id = c.id AND truck_id = sought.truck LIMIT 1) AS truck
    WHERE c.interface = 'vision' AND c.deleted_at IS NULL AND ($2::uuid[] IS NULL OR c.hauler_id = ANY ($2))
    LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'truck', id, hauler_id, camera_id, CASE WHEN enabled THEN 'followed' ELSE 'paused' END, NULL, last_read_at, connection_id,
      truck_id
    FROM video_subscriptions WHERE truck_id = ANY ($1) AND deleted_at IS NULL AND ${IS_OWN} LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'clip', r.id, r.hauler_id, r.camera_id, r.status, r.reason, r.start_time, r.connection_id, r.truck_id
    FROM video_request_parts AS part JOIN video_requests AS r ON (r.hauler_id, r.id) = (part.hauler_id, part.request_id)
    WHERE part.partner_request_id = ANY ($1) AND ($2::uuid[] IS NULL OR part.hauler_id = ANY ($2)) LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'hold', id, hauler_id, case_id, CASE WHEN released_at IS NULL THEN 'active' ELSE 'released' END, reason, created_at,
      connection_id, truck_id
    FROM holds WHERE case_id = ANY ($1) AND ${IS_OWN} LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'key', id, hauler_id, prefix, CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at < now() THEN 'expired' END,
      name, coalesce(last_used_at, created_at), NULL, NULL
    FROM api_keys WHERE prefix = $4 AND ${IS_OWN} LIMIT ${MAX_EACH})
  UNION ALL
  (SELECT 'hauler', id, id, name, NULL, NULL, created_at, NULL, NULL
    FROM haulers WHERE lower(name) LIKE lower($3) AND ($2::uuid[] IS NULL OR id = ANY ($2)) LIMIT ${MAX_EACH})`;

/** By any part of the name, number or e-mail address: the search of the page Accounts, without its pages. */
const ACCOUNTS = `
  SELECT 'account' AS kind, id, hauler_id, account_name AS name, NULL AS state, account_number AS more, updated_at AS at,
    NULL::uuid AS connection_id, NULL AS truck_id
  FROM accounts WHERE search_text LIKE $1 AND ${IS_OWN} ORDER BY id DESC LIMIT ${MAX_EACH}`;

/** What is looked for by number or name. */
export interface SoughtText {
  readonly spellings: readonly string[];
  /** A pattern of LIKE; null of a text that is too short for one. */
  readonly haulerPattern: string | null;
  readonly accountPattern: string;
  /** The beginning of a key. */
  readonly keyPrefix: string;
}

/** Looks into many tables at once, each by an index. `haulers`: those that the caller may see; undefined for all. */
@Injectable()
export class SearchRepository {
  constructor(private readonly database: Database) {}

  byId(id: string, haulers: readonly string[] | undefined): Promise<FoundRow[]> {
    return this.find(BY_ID, [id, haulers ?? null]);
  }

  async byText(text: SoughtText, haulers: readonly string[] | undefined): Promise<FoundRow[]> {
    const { spellings, haulerPattern, accountPattern, keyPrefix } = text;
    const own = haulers ?? null;
    return [
      ...(await this.find(BY_TEXT, [spellings, own, haulerPattern, keyPrefix])),
      ...(await this.find(ACCOUNTS, [accountPattern, own])),
    ];
  }

  /** Planned with its values: how many rows a name has differs by orders of magnitude. */
  private find(sql: string, values: readonly unknown[]): Promise<FoundRow[]> {
    const named = `SELECT found.*, h.name AS hauler FROM (${sql}) AS found LEFT JOIN haulers AS h ON h.id = found.hauler_id
      WHERE $2::uuid[] IS NULL OR found.hauler_id = ANY ($2)`;
    return this.database.query<FoundRow>(named, values, { prepared: false });
  }
}
