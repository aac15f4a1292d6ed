import type { EntityManager } from 'typeorm';
import { Injectable } from '@nestjs/common';
import { storableText } from '../../contracts/common/text.js';
import type { Querying } from '../../database/querying.js';
import { uuidv7 } from '../../database/uuid.js';
import type { CatalogOwner } from './catalog-apply.js';
import { NO_COUNTS, type RunCounts } from './kinds.js';
import type { Remark } from './remarks.js';
import { ACTIVE, RUN_STATES, type RunStatus } from './run-states.js';
import { type RowTarget, sendRows } from './send-rows.js';

/** A run that this process has in hand. */
export interface BegunRun extends CatalogOwner {
  readonly id: string;
  /** From 1; more than that: it was cut off before, by a kill, a stop or the database. */
  readonly attempts: number;
}

export interface RunResult {
  readonly status: RunStatus;
  readonly counts?: RunCounts;
  /** A sentence. */
  readonly error?: string;
}

const RUNS_WITH_REMARKS = 20;

const REMARKS: RowTarget = {
  columns: { position: 'integer', severity: 'text', kind: 'text', path: 'text', reason: 'text', raw: 'text' },
  sql: (rows) => `
    INSERT INTO sync_remarks (hauler_id, run_id, position, severity, kind, path, reason, raw)
    SELECT $1, $2, r.* FROM ${rows} AS r`,
  parameters: [],
};

/** Statements over the rows of runs and of their remarks. */
@Injectable()
export class SyncRuns {
  /** The active run of a connection, or a new one that waits. */
  async open(database: Querying, owner: CatalogOwner): Promise<string> {
    for (;;) {
      const [created] = await database.query<{ id: string }[]>(
        `INSERT INTO sync_runs (id, hauler_id, connection_id, status, counts) VALUES ($1, $2, $3, 'queued', $4)
         ON CONFLICT (hauler_id, connection_id) WHERE ${ACTIVE} DO NOTHING RETURNING id`,
        [uuidv7(), owner.haulerId, owner.connectionId, JSON.stringify(NO_COUNTS)],
      );
      if (created !== undefined) return created.id;
      const [active] = await database.query<{ id: string }[]>(
        `SELECT id FROM sync_runs WHERE hauler_id = $1 AND connection_id = $2 AND ${ACTIVE}`,
        [owner.haulerId, owner.connectionId],
      );
      // It has ended between the two statements otherwise.
      if (active !== undefined) return active.id;
    }
  }

  /** Begins the run that waits, takes over the one that another instance has left, or opens a new one. */
  async begin(manager: EntityManager, owner: CatalogOwner): Promise<BegunRun> {
    const id = await this.open(manager, owner);
    const [rows] = await manager.query<[{ attempts: number }[], number]>(
      `UPDATE sync_runs SET status = 'running', started_at = now(), attempts = attempts + 1
       WHERE hauler_id = $1 AND id = $2 RETURNING attempts`,
      [owner.haulerId, id],
    );
    return { ...owner, id, attempts: rows[0]?.attempts ?? 1 };
  }

  async finish(database: Querying, run: BegunRun, { status, counts, error }: RunResult): Promise<void> {
    await database.query(
      `UPDATE sync_runs SET status = $3, counts = coalesce($4::jsonb, counts), error = $5, finished_at = now()
       WHERE hauler_id = $1 AND id = $2 AND status = ANY ($6::text[])`,
      [
        run.haulerId,
        run.id,
        status,
        counts === undefined ? null : JSON.stringify(counts),
        error ?? null,
        RUN_STATES.before(status),
      ],
    );
  }

  async keepRemarks(manager: EntityManager, { haulerId, id }: BegunRun, remarks: readonly Remark[]): Promise<void> {
    const rows = remarks.map(({ severity, kind, path, reason, raw }, position) => [
      String(position),
      severity,
      kind,
      path,
      storableText(reason),
      raw,
    ]);
    await sendRows(manager, { ...REMARKS, parameters: [haulerId, id] }, rows);
  }

  /** Remarks fill: only the newest runs of a connection keep them, and each run clears what has just fallen behind. */
  async pruneRemarks(manager: EntityManager, { haulerId, connectionId }: BegunRun): Promise<void> {
    await manager.query(
      `DELETE FROM sync_remarks WHERE hauler_id = $1 AND run_id IN (
         SELECT id FROM sync_runs WHERE hauler_id = $1 AND connection_id = $2
         ORDER BY created_at DESC, id DESC OFFSET ${RUNS_WITH_REMARKS} LIMIT 100)`,
      [haulerId, connectionId],
    );
  }

  /** An answer that has not changed has the same faults again. */
  async repeatRemarks(manager: EntityManager, { haulerId, id }: BegunRun, earlierRunId: string): Promise<void> {
    await manager.query(
      `INSERT INTO sync_remarks (hauler_id, run_id, position, severity, kind, path, reason, raw)
       SELECT hauler_id, $2, position, severity, kind, path, reason, raw FROM sync_remarks
       WHERE hauler_id = $1 AND run_id = $3`,
      [haulerId, id, earlierRunId],
    );
  }
}
