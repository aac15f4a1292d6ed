import { Injectable } from '@nestjs/common';
import type { ListQuery } from '../../contracts/admin/list.dto.js';
import type { ShareQuery, ShareStatus } from '../../contracts/admin/share.dto.js';
import { Database } from '../../database/database.js';
import { type ListPage, listPage } from '../../database/list-page.js';
import type { Sql } from '../../database/sql.js';

export interface ShareRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly recording_id: string;
  readonly ticket_id: string | null;
  readonly reason: string;
  readonly status: ShareStatus;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly max_views: number | null;
  readonly views: number;
  readonly last_viewed_at: Date | null;
  readonly revoked_at: Date | null;
}

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
  readonly maxViews: number | null;
}

type ShareFilter = Pick<ShareQuery, 'haulerId' | 'status'> & { readonly recordingId?: string };

const STATUS = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
  WHEN views >= max_views THEN 'usedUp' ELSE 'active' END`;

const COLUMNS = `hauler_id, id, recording_id, ticket_id, reason, ${STATUS} AS status, created_at, expires_at, max_views,
  views, last_viewed_at, revoked_at`;

/** Its file can be played. */
const IS_OPEN = `revoked_at IS NULL AND expires_at > now() AND EXISTS (SELECT FROM recordings AS r
  WHERE (r.hauler_id, r.id, r.start_time) = (s.hauler_id, s.recording_id, s.start_time) AND r.status = 'stored')`;

const HAS_VIEWS = '(max_views IS NULL OR views < max_views)';

/** The links to recordings. A token is looked up by its hash, so that the time of a look-up reveals nothing about any token. */
@Injectable()
export class SharesRepository {
  constructor(private readonly database: Database) {}

  /** Undefined if the recording is not stored. */
  async insert(share: NewShare): Promise<ShareRow | undefined> {
    const { id, recordingId, ticketId, tokenHash, reason, expiresAt, maxViews } = share;
    const [row] = await this.database.query<ShareRow>(
      `INSERT INTO recording_shares (hauler_id, id, recording_id, start_time, ticket_id, token_hash, reason, created_at,
         expires_at, max_views)
       SELECT hauler_id, $2, id, start_time, $3::uuid, $4, $5, now(), $6, $7::integer FROM recordings
       WHERE id = $1 AND status = 'stored'
       RETURNING ${COLUMNS}`,
      [recordingId, id, ticketId, tokenHash, reason, expiresAt, maxViews],
    );
    return row;
  }

  /** Newest first. */
  page(query: ListQuery, filter: ShareFilter): Promise<ListPage<ShareRow>> {
    const { recordingId = null, haulerId = null, status = null } = filter;
    const sql = `SELECT ${COLUMNS}, hauler_id AS list_hauler FROM recording_shares WHERE ($1::uuid IS NULL OR recording_id = $1)
      AND ($2::uuid IS NULL OR hauler_id = $2) AND ($3::text IS NULL OR ${STATUS} = $3)`;
    const list = { name: `shares ${recordingId ?? ''}`, sql, parameters: [recordingId, haulerId, status] };
    return listPage<ShareRow>(this.database, { ...list, hasHaulers: true, key: ['id'], order: 'DESC' }, query);
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

  /** A link that works. `isViewed`: a view of it was counted, so that the limit does not matter. */
  async find(tokenHash: Buffer, isViewed: boolean): Promise<OpenShare | undefined> {
    const [row] = await this.database.query<OpenShare>(
      `SELECT hauler_id, id, recording_id, ticket_id, expires_at FROM recording_shares AS s
       WHERE token_hash = $1 AND ${IS_OPEN} AND ($2 OR ${HAS_VIEWS})`,
      [tokenHash, isViewed],
    );
    return row;
  }

  /** Counts a view with what `record` stores, or neither. False if the link has none left: of parallel calls no more pass than may. */
  countView(
    { hauler_id, id }: Pick<OpenShare, 'hauler_id' | 'id'>,
    record: (view: number, transaction: Sql) => Promise<void>,
  ): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const view = await countView(transaction, hauler_id, id);
      if (view !== undefined) await record(view, transaction);
      return view !== undefined;
    });
  }
}

async function countView(database: Sql, haulerId: string, id: string): Promise<number | undefined> {
  const [row] = await database.query<{ readonly views: number }>(
    `WITH viewed AS (
         UPDATE recording_shares AS s SET views = views + 1, last_viewed_at = now()
         WHERE hauler_id = $1 AND id = $2 AND ${IS_OPEN} AND ${HAS_VIEWS} RETURNING views)
       SELECT views FROM viewed`,
    [haulerId, id],
  );
  return row?.views;
}
