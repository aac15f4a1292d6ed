import type { SyncKind } from '../../contracts/admin/sync.values.js';
import { Injectable } from '@nestjs/common';
import type {
  QuarantinedRecord,
  QuarantineQuery,
  RemovalGuard,
  SyncCounts,
  SyncRunQuery,
} from '../../contracts/admin/sync-runs.routes.js';
import { Database } from '../../core/database/database.js';
import { deleteInSteps } from '../../core/database/sweep.js';
import { type ListPage, listPage } from '../../core/database/list-page.js';
import type { Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { defineStates, type StateOf } from '../../core/work/states.js';
import { type AbsentLists, absentSentence, noticedLists } from './absent-lists.rules.js';
import { FIELD, type Refusal } from './refusals.rules.js';

export type KindCounts = Readonly<SyncCounts>;

export type RunCounts = Readonly<Record<SyncKind, KindCounts>>;

const NO_KIND_COUNTS: KindCounts = {
  received: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  deactivated: 0,
  restored: 0,
  stale: 0,
  flagged: 0,
  held: 0,
  quarantined: 0,
};

export function forEachKind<T>(make: (kind: SyncKind) => T): Record<SyncKind, T> {
  return { sites: make('sites'), kiosks: make('kiosks'), materials: make('materials') };
}

export const NO_COUNTS: RunCounts = forEachKind(() => NO_KIND_COUNTS);

/** A run is queued until an instance executes it. A held run waits for an admin or a later answer. */
export const RUN_STATES = defineStates('a synchronisation run', {
  queued: ['running', 'failed'],
  running: ['succeeded', 'failed', 'held', 'no_data'],
  held: ['succeeded', 'rejected'],
  rejected: [],
  succeeded: [],
  failed: [],
  no_data: [],
});

export type RunStatus = StateOf<typeof RUN_STATES>;

/** The unique index `sync_runs_active_key` permits one active run for each connection. */
const IS_ACTIVE = `status IN ('queued', 'running')`;

/** The connection whose answer is applied, and the hauler whose catalog it changes. */
export interface CatalogKey {
  readonly haulerId: string;
  readonly connectionId: string;
}

export interface StartedRun extends CatalogKey {
  readonly id: string;
  /** From 1; each interruption (kill, stop, lost database) adds one. */
  readonly attempts: number;
}

export interface RunResult {
  readonly status: RunStatus;
  readonly counts?: RunCounts;
  /** A sentence. */
  readonly error?: string;
  /** The rules that held removals. */
  readonly guard?: readonly RemovalGuard[];
  readonly absentLists?: AbsentLists;
}

export interface RunRow {
  readonly id: string;
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly status: RunStatus;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly error: string | null;
  readonly counts: RunCounts;
  readonly guard: readonly RemovalGuard[] | null;
  readonly note: string | null;
  /** Null if it refused nothing; runs of earlier versions have none. */
  readonly refusals: readonly Refusal[] | null;
  readonly absent_lists: AbsentLists | null;
}

export type IssueRow = Omit<QuarantinedRecord, 'raw' | 'rule'> & {
  readonly rule: string | null;
  readonly raw: string;
  readonly position: number;
};

/** Only the newest runs of a connection keep their issues. */
const RUNS_WITH_ISSUES = 20;

const RETENTION = '30 days';

/** Name of the kind of work. */
export const SITE_SYNC_WORK = 'site synchronisation';
const RETENTION_BATCH = 100;

const COLUMNS =
  'id, hauler_id, connection_id, status, started_at, finished_at, error, counts, guard, note, refusals, absent_lists';
const FILTER = `($1::uuid IS NULL OR connection_id = $1) AND ($2::text IS NULL OR status = $2)
  AND ($3::boolean IS NOT TRUE OR NOT EXISTS (SELECT FROM sync_runs n WHERE n.connection_id = sync_runs.connection_id
    AND (n.created_at, n.id) > (sync_runs.created_at, sync_runs.id) AND n.status NOT IN ('queued', 'running')))
  AND ($4::boolean IS NULL OR $4 = jsonb_path_exists(counts, '$.*.quarantined ? (@ > 0)'))`;

/** The statements over `sync_runs` and `sync_issues`. */
@Injectable()
export class SyncRunsRepository {
  constructor(private readonly database: Database) {}

  /** Returns the active run of a connection, or queues a new one. */
  async queue(database: Sql, key: CatalogKey): Promise<string> {
    for (;;) {
      const created = await database.first<{ id: string }>(
        `INSERT INTO sync_runs (id, hauler_id, connection_id, status, counts) VALUES ($1, $2, $3, 'queued', $4)
         ON CONFLICT (hauler_id, connection_id) WHERE ${IS_ACTIVE} DO NOTHING RETURNING id`,
        [uuidv7(), key.haulerId, key.connectionId, JSON.stringify(NO_COUNTS)],
      );
      if (created !== undefined) return created.id;
      const active = await database.first<{ id: string }>(
        `SELECT id FROM sync_runs WHERE hauler_id = $1 AND connection_id = $2 AND ${IS_ACTIVE}`,
        [key.haulerId, key.connectionId],
      );
      // If there is none, the run ended between the two statements: try again.
      if (active !== undefined) return active.id;
    }
  }

  /** Starts the queued run, continues an interrupted run, or starts a new one. */
  async start(transaction: Sql, key: CatalogKey): Promise<StartedRun> {
    const id = await this.queue(transaction, key);
    const rows = await transaction.query<{ attempts: number }>(
      `UPDATE sync_runs SET status = 'running', started_at = now(), attempts = attempts + 1
       WHERE hauler_id = $1 AND id = $2 RETURNING attempts`,
      [key.haulerId, id],
    );
    return { ...key, id, attempts: rows[0]?.attempts ?? 1 };
  }

  async finish(
    database: Sql,
    run: StartedRun,
    { status, counts, error, guard = [], absentLists = {} }: RunResult,
  ): Promise<void> {
    await database.query(
      `UPDATE sync_runs SET status = $3, counts = coalesce($4::jsonb, counts), error = $5, guard = $7, absent_lists = $8, finished_at = now()
       WHERE hauler_id = $1 AND id = $2 AND status = ANY ($6::text[])`,
      [
        run.haulerId,
        run.id,
        status,
        counts === undefined ? null : JSON.stringify(counts),
        error ?? null,
        RUN_STATES.predecessors(status),
        guard.length === 0 ? null : JSON.stringify(guard),
        Object.keys(absentLists).length === 0 ? null : JSON.stringify(absentLists),
      ],
    );
  }

  /** The absent lists of the last run whose answer was applied. */
  async absentBefore(transaction: Sql, { haulerId, connectionId }: StartedRun): Promise<AbsentLists> {
    const row = await transaction.first<Pick<RunRow, 'absent_lists'>>(
      `SELECT absent_lists FROM sync_runs
       WHERE hauler_id = $1 AND connection_id = $2 AND status IN ('succeeded', 'held', 'rejected')
       ORDER BY created_at DESC, id DESC LIMIT 1`,
      [haulerId, connectionId],
    );
    return row?.absent_lists ?? {};
  }

  /** A finding for each list that has been absent for long. Call it behind `storeIssues`. */
  async storeAbsentLists(transaction: Sql, { haulerId, id }: StartedRun, absent: AbsentLists): Promise<void> {
    for (const [kind, list] of noticedLists(absent)) {
      const example = absentSentence(kind, list);
      await transaction.query(
        `INSERT INTO sync_issues (hauler_id, run_id, position, severity, kind, path, rule, reason, raw)
         SELECT $1, $2, coalesce(max(position), -1) + 1, 'flagged', $3, $3, 'isListed', $4, 'null'
         FROM sync_issues WHERE hauler_id = $1 AND run_id = $2`,
        [haulerId, id, kind, example],
      );
      const refusal: Refusal = { severity: 'flagged', kind, field: 'record', rule: 'isListed', count: 1, example };
      await transaction.query(
        `UPDATE sync_runs SET refusals = coalesce(refusals, '[]') || $3::jsonb WHERE hauler_id = $1 AND id = $2`,
        [haulerId, id, JSON.stringify([refusal])],
      );
    }
  }

  /** The decision of an admin about a held run. */
  async decide(
    transaction: Sql,
    { hauler_id, id }: RunRow,
    decision: { readonly status: RunStatus; readonly counts?: RunCounts; readonly note?: string | undefined },
  ): Promise<void> {
    const counts = decision.counts === undefined ? null : JSON.stringify(decision.counts);
    await transaction.query(
      `UPDATE sync_runs SET status = $3, counts = coalesce($4::jsonb, counts), note = $5 WHERE hauler_id = $1 AND id = $2`,
      [hauler_id, id, decision.status, counts, decision.note ?? null],
    );
  }

  /** Deletes the issues of runs that are no longer among the newest of the connection. */
  async pruneIssues(transaction: Sql, { haulerId, connectionId }: StartedRun): Promise<void> {
    await transaction.query(
      `DELETE FROM sync_issues WHERE hauler_id = $1 AND run_id = ANY (ARRAY(
         SELECT id FROM sync_runs WHERE hauler_id = $1 AND connection_id = $2
         ORDER BY created_at DESC, id DESC OFFSET ${RUNS_WITH_ISSUES} LIMIT 100))`,
      [haulerId, connectionId],
    );
  }

  async find(id: string, database: Sql = this.database): Promise<RunRow | undefined> {
    return database.first<RunRow>(`SELECT ${COLUMNS} FROM sync_runs WHERE id = $1`, [id]);
  }

  /** The id of the newest run of a connection. */
  async newest(database: Sql, connectionId: string): Promise<string | undefined> {
    const row = await database.first<{ id: string }>(
      'SELECT id FROM sync_runs WHERE connection_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1',
      [connectionId],
    );
    return row?.id;
  }

  /** Newest first. */
  list(query: SyncRunQuery): Promise<ListPage<RunRow>> {
    const { connectionId = null, status = null, latest = null, quarantined = null } = query;
    const sql = `SELECT ${COLUMNS}, created_at, hauler_id AS list_hauler FROM sync_runs WHERE ${FILTER}`;
    const list = { name: 'sync-runs', sql, parameters: [connectionId, status, latest, quarantined] };
    return listPage(this.database, { ...list, hasHaulers: true, key: ['created_at', 'id'], order: 'DESC' }, query);
  }

  /** In the order of the answer, kind by kind. */
  listIssues(runId: string, query: QuarantineQuery): Promise<ListPage<IssueRow>> {
    const { severity = null, kind = null, field = null, rule = null } = query;
    const sql = `SELECT position, severity, kind, path, rule, reason, raw FROM sync_issues
      WHERE run_id = $1 AND ($2::text IS NULL OR severity = $2) AND ($3::text IS NULL OR kind = $3)
        AND ($4::text IS NULL OR ${FIELD} = $4) AND ($5::text IS NULL OR rule = $5)`;
    const list = { name: `quarantine ${runId}`, sql, parameters: [runId, severity, kind, field, rule] };
    return listPage(this.database, { ...list, key: ['position'], order: 'ASC' }, query);
  }

  /** Ends the active runs whose connection was deleted, or paused while the instance was killed. */
  async endAbandoned(): Promise<void> {
    await this.database.query(
      `UPDATE sync_runs r SET status = 'failed', finished_at = now(),
         error = 'The connection was paused or deleted before the run ended.'
       WHERE ${IS_ACTIVE} AND NOT EXISTS (
         SELECT FROM connections c
         WHERE c.hauler_id = r.hauler_id AND c.id = r.connection_id AND c.deleted_at IS NULL AND c.due_at IS NOT NULL
           AND (c.enabled OR c.run_requested_at IS NOT NULL OR EXISTS (
             SELECT FROM lanes AS l WHERE l.kind = $1 AND l.lane = c.id::text AND l.owned_until > now())))`,
      [SITE_SYNC_WORK],
    );
  }

  /**
   * Deletes old runs, one after the other. Their changes and issues come first and in steps: a run may have 10,000 of them, so
   * that a statement that deletes many runs would reach its time limit each time. A held run stays while it is the newest of
   * its connection and can be confirmed.
   */
  async deleteOld(stopping?: AbortSignal): Promise<void> {
    let deleted = RETENTION_BATCH;
    while (deleted === RETENTION_BATCH) {
      const old = await this.oldest(RETENTION_BATCH);
      deleted = 0;
      for (const run of old) if (stopping?.aborted !== true) deleted += await this.delete(run);
    }
  }

  private oldest(limit: number): Promise<RunKey[]> {
    return this.database.query<RunKey>(
      `SELECT r.hauler_id, r.id FROM sync_runs r
       WHERE r.created_at < now() - interval '${RETENTION}'
         AND (r.status <> 'held' OR EXISTS (
           SELECT FROM sync_runs n
           WHERE n.connection_id = r.connection_id AND (n.created_at, n.id) > (r.created_at, r.id)))
       ORDER BY r.created_at LIMIT $1`,
      [limit],
    );
  }

  /** Returns how many runs were deleted: another instance may have deleted it. */
  private async delete({ hauler_id, id }: RunKey): Promise<number> {
    for (const table of ['sync_changes', 'sync_issues']) {
      const step = `SELECT position FROM ${table} WHERE hauler_id = $2 AND run_id = $3 LIMIT $1 FOR UPDATE SKIP LOCKED`;
      const sql = `DELETE FROM ${table} WHERE hauler_id = $2 AND run_id = $3 AND position = ANY (ARRAY(${step}))`;
      await deleteInSteps(this.database, sql, [hauler_id, id]);
    }
    return this.database.change('DELETE FROM sync_runs WHERE hauler_id = $1 AND id = $2', [hauler_id, id]);
  }
}

type RunKey = Pick<RunRow, 'hauler_id' | 'id'>;
