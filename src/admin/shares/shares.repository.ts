import { Injectable } from '@nestjs/common';
import type { ListQuery } from '../../contracts/admin/list.dto.js';
import type { ShareQuery } from '../../contracts/admin/shares.routes.js';
import { Database } from '../../core/database/database.js';
import { type ListPage, listPage } from '../../core/database/list-page.js';

/** A link that works, as its page needs it. */
export interface OpenShare {
  readonly hauler_id: string;
  readonly id: string;
  readonly recording_id: string;
  readonly ticket_id: string | null;
  readonly expires_at: Date;
}

export interface NewShare {
  readonly id: string;
  readonly recordingId: string;
  readonly ticketId: string | null;
  readonly tokenHash: Buffer;
  readonly reason: string;
  readonly expiresAt: Date;
}

type ShareFilter = Pick<ShareQuery, 'haulerId' | 'status'> & { readonly recordingId?: string };

const STATUS = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
  ELSE 'active' END`;

/** By the index of a resource. */
const VIEWS = `FROM actions AS view WHERE view.resource = 'recording:' || recording_id AND view.action = 'share.viewed'
  AND view.changes::json ->> 'share' = recording_shares.id::text`;

const COLUMNS = `hauler_id, id, recording_id, ticket_id, reason, ${STATUS} AS status, created_at, expires_at, revoked_at,
  (SELECT count(*)::float8 ${VIEWS}) AS views, (SELECT max(view.at) ${VIEWS}) AS last_viewed_at`;

/** Its file can be played. */
const IS_OPEN = `revoked_at IS NULL AND expires_at > now() AND EXISTS (SELECT FROM recordings AS r
  WHERE (r.hauler_id, r.id, r.start_time) = (s.hauler_id, s.recording_id, s.start_time) AND r.status = 'stored')`;

/** The links to recordings. A token is looked up by its hash, so that the time of a look-up reveals nothing about any token. */
@Injectable()
export class SharesRepository {
  constructor(private readonly database: Database) {}

  /** Undefined if the recording is not stored. */
  async insert(share: NewShare): Promise<object | undefined> {
    const { id, recordingId, ticketId, tokenHash, reason, expiresAt } = share;
    return this.database.first<object>(
      `INSERT INTO recording_shares (hauler_id, id, recording_id, start_time, ticket_id, token_hash, reason, created_at,
         expires_at)
       SELECT hauler_id, $2, id, start_time, $3::uuid, $4, $5, now(), $6 FROM recordings
       WHERE id = $1 AND status = 'stored'
       RETURNING ${COLUMNS}`,
      [recordingId, id, ticketId, tokenHash, reason, expiresAt],
    );
  }

  /** Newest first. */
  page(query: ListQuery, filter: ShareFilter): Promise<ListPage<object>> {
    const { recordingId = null, haulerId = null, status = null } = filter;
    const sql = `SELECT ${COLUMNS}, hauler_id AS list_hauler FROM recording_shares WHERE ($1::uuid IS NULL OR recording_id = $1)
      AND ($2::uuid IS NULL OR hauler_id = $2) AND ($3::text IS NULL OR ${STATUS} = $3)`;
    const list = { name: `shares ${recordingId ?? ''}`, sql, parameters: [recordingId, haulerId, status] };
    return listPage<object>(this.database, { ...list, hasHaulers: true, key: ['id'], order: 'DESC' }, query);
  }

  async get(id: string): Promise<object | undefined> {
    const sql = `SELECT ${COLUMNS} FROM recording_shares WHERE id = $1`;
    return this.database.first<object>(sql, [id]);
  }

  /** A link that was revoked before stays as it is. False for an unknown link. */
  async revoke(id: string): Promise<boolean> {
    const rows = await this.database.query(
      `WITH revoked AS (
         UPDATE recording_shares SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING id)
       SELECT id FROM revoked`,
      [id],
    );
    return rows.length > 0;
  }

  /** A link that works. */
  async find(tokenHash: Buffer): Promise<OpenShare | undefined> {
    return this.database.first<OpenShare>(
      `SELECT hauler_id, id, recording_id, ticket_id, expires_at FROM recording_shares AS s
       WHERE token_hash = $1 AND ${IS_OPEN}`,
      [tokenHash],
    );
  }
}
