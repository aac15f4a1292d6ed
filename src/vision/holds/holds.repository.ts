import { Injectable } from '@nestjs/common';
import type { CreateHold, HoldQuery } from '../../contracts/admin/holds.routes.js';
import { Database } from '../../core/database/database.js';
import { type ListPage, listPage, type SqlList } from '../../core/database/list-page.js';
import { instantSql, type Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { isWithin } from './held.sql.js';

/** What is needed of a hold beside its answer, which has all columns of `COLUMNS`. */
export interface HoldRow {
  readonly hauler_id: string;
  readonly id: string;
  /** In microseconds, like the other times. */
  readonly from: string;
  readonly to: string;
  readonly released_at: Date | null;
}

const COLUMNS = `hauler_id, id, connection_id, truck_id, camera_id, ${instantSql('start_time')} AS "from",
  ${instantSql('end_time')} AS "to", case_id, reason, created_at, created_by, released_at, released_by, release_reason`;

/**
 * A removal of footage has this lock shared until its commit, and the creation of a hold has it alone: a removal sees every
 * hold, or the hold sees what was removed.
 */
const REMOVALS = "hashtextextended('removals of footage', 0)";

/** Nothing is held anew until the end of the transaction. */
export const lockRemoval = (transaction: Sql): Promise<unknown> =>
  transaction.query(`SELECT pg_advisory_xact_lock_shared(${REMOVALS})`, []);

/** Nothing is removed until the end of the transaction. */
export const lockHolding = (transaction: Sql): Promise<unknown> =>
  transaction.query(`SELECT pg_advisory_xact_lock(${REMOVALS})`, []);

/** The rules by which footage is kept. */
@Injectable()
export class HoldsRepository {
  constructor(private readonly database: Database) {}

  async insert(transaction: Sql, haulerId: string, hold: CreateHold, by: string): Promise<HoldRow> {
    const { connectionId, truckId, cameraId, from, to, caseId, reason } = hold;
    return transaction.only<HoldRow>(
      `INSERT INTO holds (hauler_id, id, connection_id, truck_id, camera_id, start_time, end_time, case_id, reason,
         created_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING ${COLUMNS}`,
      [haulerId, uuidv7(), connectionId, truckId, cameraId ?? null, from, to, caseId, reason, by],
    );
  }

  async find(id: string): Promise<HoldRow | undefined> {
    return this.database.first<HoldRow>(`SELECT ${COLUMNS} FROM holds WHERE id = $1`, [id]);
  }

  /** Undefined if there is no active hold of this id. */
  async release(database: Sql, id: string, by: string, reason: string): Promise<HoldRow | undefined> {
    return database.first<HoldRow>(
      `UPDATE holds SET released_at = now(), released_by = $2, release_reason = $3
       WHERE id = $1 AND released_at IS NULL RETURNING ${COLUMNS}`,
      [id, by, reason],
    );
  }

  /** Newest first. */
  list(query: HoldQuery): Promise<ListPage<HoldRow>> {
    const { haulerId, connectionId, truckId, caseId, status, from, to } = query;
    const list: SqlList = {
      name: 'holds',
      sql: `SELECT ${COLUMNS}, hauler_id AS list_hauler FROM holds
        WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ($2::uuid IS NULL OR connection_id = $2)
          AND ($3::text IS NULL OR truck_id = $3) AND ($4::text IS NULL OR case_id = $4)
          AND ($5::boolean IS NULL OR (released_at IS NULL) = $5)
          AND ($6::timestamptz IS NULL OR end_time > $6) AND ($7::timestamptz IS NULL OR start_time < $7)`,
      parameters: [
        ...[haulerId, connectionId, truckId, caseId].map((value) => value ?? null),
        status === undefined ? null : status === 'active',
        ...[from, to].map((value) => value ?? null),
      ],
      hasHaulers: true,
      key: ['created_at', 'id'],
      order: 'DESC',
    };
    return listPage(this.database, list, query);
  }

  /** The active holds of each of these recordings. */
  async ofRecordings(ids: readonly string[]): Promise<Map<string, string[]>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.query<{ id: string; holds: string[] }>(
      `SELECT r.id, array_agg(hold.id ORDER BY hold.created_at, hold.id) AS holds
       FROM recordings AS r JOIN holds AS hold ON hold.released_at IS NULL AND ${isWithin('r', 'hold')}
       WHERE r.id = ANY ($1::uuid[]) GROUP BY r.id`,
      [ids],
    );
    return new Map(rows.map(({ id, holds }) => [id, holds]));
  }

  /** Whether any recording, also a former one, request or subscription of the connection names the truck. */
  async knowsTruck(haulerId: string, connectionId: string, truckId: string): Promise<boolean> {
    const row = await this.database.only<{ known: boolean }>(
      `SELECT EXISTS (SELECT FROM cameras WHERE (hauler_id, connection_id, truck_id) = ($1, $2, $3))
         OR EXISTS (SELECT FROM video_subscriptions WHERE (hauler_id, connection_id, truck_id) = ($1, $2, $3))
         OR EXISTS (SELECT FROM video_requests WHERE (hauler_id, connection_id, truck_id) = ($1, $2, $3))
         OR EXISTS (SELECT FROM holds WHERE (hauler_id, connection_id, truck_id) = ($1, $2, $3)) AS known`,
      [haulerId, connectionId, truckId],
    );
    return row.known;
  }
}
