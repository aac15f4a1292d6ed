import { Injectable } from '@nestjs/common';
import type { Erasure, ErasureCounts, ErasureQuery } from '../../contracts/admin/erasures.routes.js';
import { Database } from '../../core/database/database.js';
import { type ListPage, listPage } from '../../core/database/list-page.js';
import { instantSql, type Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { isWithin } from '../../vision/holds/held.sql.js';
import { cameraSql } from '../../vision/camera.sql.js';

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
  readonly erased: Partial<ErasureCounts>;
  readonly reason: string | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly created_by: string;
  readonly finished_at: Date | null;
}

/** A hold of footage that was to be erased. */
export interface BlockingHold {
  readonly id: string;
  readonly case_id: string;
}

const COLUMNS = `hauler_id, id, account_id, connection_id, truck_id, camera_id, ${instantSql('start_time')} AS "from",
  ${instantSql('end_time')} AS "to", status, erased, reason, last_error, created_at, created_by, finished_at`;

@Injectable()
export class ErasuresRepository {
  constructor(private readonly database: Database) {}

  /** Due at once. */
  async insert(transaction: Sql, target: ErasureTarget, by: string): Promise<ErasureRow> {
    return transaction.only<ErasureRow>(
      `INSERT INTO erasures (hauler_id, id, account_id, connection_id, truck_id, camera_id, start_time, end_time, status,
         created_by, due_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9, now()) RETURNING ${COLUMNS}`,
      [
        target.hauler_id,
        uuidv7(),
        target.account_id,
        target.connection_id,
        target.truck_id,
        target.camera_id,
        target.from,
        target.to,
        by,
      ],
    );
  }

  async find(database: Sql, id: string): Promise<ErasureRow | undefined> {
    return database.first<ErasureRow>(`SELECT ${COLUMNS} FROM erasures WHERE id = $1`, [id]);
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
    return listPage(this.database, list, query);
  }

  /** The active holds over the range of an erasure, and those of recordings that are partly within it. */
  blockingHolds(database: Sql, { hauler_id, id }: Pick<ErasureRow, 'hauler_id' | 'id'>): Promise<BlockingHold[]> {
    return database.query<BlockingHold>(
      `SELECT hold.id, hold.case_id FROM erasures AS erasure JOIN holds AS hold ON hold.released_at IS NULL
         AND (hold.hauler_id, hold.connection_id, hold.truck_id)
           = (erasure.hauler_id, erasure.connection_id, erasure.truck_id)
       WHERE erasure.hauler_id = $1 AND erasure.id = $2
         AND (hold.start_time < erasure.end_time AND hold.end_time > erasure.start_time
             AND (hold.camera_id IS NULL OR erasure.camera_id IS NULL OR ${cameraSql('hold')} = ${cameraSql('erasure')})
           OR EXISTS (SELECT FROM recordings AS r WHERE ${isWithin('r', 'erasure')} AND ${isWithin('r', 'hold')}
             AND r.start_time > erasure.start_time - interval '31 days'))
       ORDER BY hold.created_at, hold.id`,
      [hauler_id, id],
    );
  }
}
