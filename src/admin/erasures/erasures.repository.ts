import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Erasure, ErasureCounts, ErasureQuery } from '../../contracts/admin/erasure.dto.js';
import { type ListPage, listPage } from '../../database/list-page.js';
import { instantSql, type Querying } from '../../database/sql.js';
import { uuidv7 } from '../../database/uuid.js';
import { isWithin, sameCamera } from '../../vision/holds/held.sql.js';

/** What is erased: an account, or a range of a truck. The other columns are null. */
export interface ErasureTarget {
  readonly hauler_id: string;
  readonly account_id: string | null;
  readonly connection_id: string | null;
  readonly truck_id: string | null;
  readonly camera_id: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

export interface ErasureRow extends ErasureTarget {
  readonly id: string;
  readonly status: Erasure['status'];
  readonly code: string;
  readonly preview: ErasureCounts;
  readonly erased: Partial<ErasureCounts>;
  readonly reason: string | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly created_by: string;
  readonly confirmed_at: Date | null;
  readonly confirmed_by: string | null;
  readonly finished_at: Date | null;
}

/** A hold of footage that was to be erased. */
export interface BlockingHold {
  readonly id: string;
  readonly case_id: string;
}

const COLUMNS = `hauler_id, id, account_id, connection_id, truck_id, camera_id, ${instantSql('start_time')} AS "from",
  ${instantSql('end_time')} AS "to", status, code, preview, erased, reason, last_error, created_at, created_by,
  confirmed_at, confirmed_by, finished_at`;

/** How long a preview can be confirmed. */
export const CONFIRMABLE_MS = 3_600_000;

@Injectable()
export class ErasuresRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(manager: EntityManager, target: ErasureTarget, code: string, by: string): Promise<ErasureRow> {
    const [row] = await manager.query<[ErasureRow]>(
      `INSERT INTO erasures (hauler_id, id, account_id, connection_id, truck_id, camera_id, start_time, end_time, status,
         code, preview, created_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'previewed', $9, '{}', $10) RETURNING ${COLUMNS}`,
      [
        ...[target.hauler_id, uuidv7(), target.account_id, target.connection_id, target.truck_id, target.camera_id],
        ...[target.from, target.to, code, by],
      ],
    );
    return row;
  }

  async storePreview(manager: EntityManager, { hauler_id, id }: ErasureRow, counts: ErasureCounts): Promise<void> {
    await manager.query('UPDATE erasures SET preview = $3 WHERE hauler_id = $1 AND id = $2', [
      hauler_id,
      id,
      JSON.stringify(counts),
    ]);
  }

  async find(database: Querying, id: string): Promise<ErasureRow | undefined> {
    const [row] = await database.query<ErasureRow[]>(`SELECT ${COLUMNS} FROM erasures WHERE id = $1`, [id]);
    return row;
  }

  list(query: ErasureQuery): Promise<ListPage<ErasureRow>> {
    const list = {
      name: 'erasures',
      sql: `SELECT ${COLUMNS} FROM erasures
        WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ($2::text IS NULL OR status = $2)`,
      parameters: [query.haulerId ?? null, query.status ?? null],
      key: ['created_at', 'id'],
      order: 'DESC',
    } as const;
    return listPage(this.dataSource, list, query);
  }

  /** Makes a preview due. Returns false if it is none any more. */
  async start(manager: EntityManager, { hauler_id, id }: ErasureRow, by: string): Promise<boolean> {
    const [, count] = await manager.query<[unknown[], number]>(
      `UPDATE erasures SET status = 'running', confirmed_at = now(), confirmed_by = $3, due_at = now()
       WHERE hauler_id = $1 AND id = $2 AND status = 'previewed'`,
      [hauler_id, id, by],
    );
    return count > 0;
  }

  /** The active holds over the range of an erasure, and those of recordings that are partly within it. */
  blockingHolds(database: Querying, { hauler_id, id }: Pick<ErasureRow, 'hauler_id' | 'id'>): Promise<BlockingHold[]> {
    return database.query(
      `SELECT hold.id, hold.case_id FROM erasures AS erasure JOIN holds AS hold ON hold.released_at IS NULL
         AND (hold.hauler_id, hold.connection_id, hold.truck_id)
           = (erasure.hauler_id, erasure.connection_id, erasure.truck_id)
       WHERE erasure.hauler_id = $1 AND erasure.id = $2
         AND (hold.start_time < erasure.end_time AND hold.end_time > erasure.start_time
             AND (hold.camera_id IS NULL OR erasure.camera_id IS NULL OR ${sameCamera('hold', 'erasure')})
           OR EXISTS (SELECT FROM recordings AS r WHERE ${isWithin('r', 'erasure')} AND ${isWithin('r', 'hold')}
             AND r.start_time > erasure.start_time - interval '31 days'))
       ORDER BY hold.created_at, hold.id`,
      [hauler_id, id],
    );
  }
}
