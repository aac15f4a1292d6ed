import type { RemovalGuard } from '../../contracts/admin/sync-runs.routes.js';
import type { Sql } from '../../core/database/sql.js';
import { type AbsentLists, NOTICED_RUNS } from './absent-lists.rules.js';
import type { RunCounts } from './sync-runs.repository.js';

/** The last ended run of a connection that is no plain success. */
export interface TroubledRun {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly run_id: string;
  readonly status: 'held' | 'failed' | 'succeeded';
  readonly counts: RunCounts;
  readonly guard: readonly RemovalGuard[] | null;
  readonly error: string | null;
  readonly finished_at: Date;
  /** Failed runs in a row. */
  readonly failures: number;
  readonly failing_since: Date | null;
  /** Of the stored runs in a row that quarantined records, the first one. */
  readonly quarantined_since: Date | null;
  /** The last run whose answer was stored. */
  readonly stored_at: Date | null;
}

export interface RunOfAbsentLists {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly run_id: string;
  readonly absent_lists: AbsentLists;
}

/** The last applied run of each connection whose answers have lost a list. */
export function runsOfAbsentLists(database: Sql): Promise<RunOfAbsentLists[]> {
  return database.query<RunOfAbsentLists>(
    `SELECT c.hauler_id, c.id AS connection_id, r.id AS run_id, r.absent_lists
     FROM connections AS c
     CROSS JOIN LATERAL (
       SELECT * FROM sync_runs WHERE connection_id = c.id AND status IN ('succeeded', 'held', 'rejected')
       ORDER BY created_at DESC, id DESC LIMIT 1) AS r
     WHERE c.interface = 'site' AND c.deleted_at IS NULL
       AND jsonb_path_exists(r.absent_lists, '$.*.runs ? (@ >= ${NOTICED_RUNS})')`,
  );
}

export async function failedRuns(database: Sql): Promise<TroubledRun[]> {
  return (await troubledRuns(database)).filter(({ status }) => status === 'failed');
}

/** Without those that a scenario of the sandbox let fail, which the exchange log knows. */
export async function withoutSimulated(database: Sql, failed: readonly TroubledRun[]): Promise<TroubledRun[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT r.id FROM unnest($1::uuid[], $2::uuid[]) AS r (id, connection_id)
     WHERE EXISTS (
       SELECT FROM exchanges AS e WHERE e.connection_id = r.connection_id AND e.id >= r.id AND e.scenario IS NOT NULL
         AND 'syncRunId:' || r.id = ANY (e.refs))`,
    [failed.map(({ run_id }) => run_id), failed.map(({ connection_id }) => connection_id)],
  );
  return failed.filter(({ run_id }) => !rows.some(({ id }) => id === run_id));
}

/** Those whose removals are held, and those that quarantined records. Asks no table of the exchange log. */
export async function finishedRuns(database: Sql): Promise<TroubledRun[]> {
  return (await troubledRuns(database)).filter(({ status }) => status !== 'failed');
}

function troubledRuns(database: Sql): Promise<TroubledRun[]> {
  return database.query<TroubledRun>(
    `SELECT c.hauler_id, c.id AS connection_id, r.id AS run_id, r.status, r.counts, r.guard, r.error, r.finished_at,
       failed.count AS failures, failed.since AS failing_since, stored.at AS stored_at,
       quarantined.since AS quarantined_since
     FROM connections AS c
     CROSS JOIN LATERAL (
       SELECT * FROM sync_runs WHERE connection_id = c.id AND status NOT IN ('queued', 'running')
       ORDER BY created_at DESC, id DESC LIMIT 1) AS r
     CROSS JOIN LATERAL (
       SELECT max(finished_at) AS at FROM sync_runs
       WHERE connection_id = c.id AND status NOT IN ('queued', 'running', 'failed')) AS stored
     CROSS JOIN LATERAL (
       SELECT count(*)::float8 AS count, min(finished_at) AS since FROM sync_runs
       WHERE connection_id = c.id AND status = 'failed' AND finished_at > coalesce(stored.at, '-infinity')) AS failed
     CROSS JOIN LATERAL (
       SELECT min(finished_at) FILTER (WHERE is_part) AS since FROM (
         SELECT finished_at, bool_and(jsonb_path_exists(counts, '$.*.quarantined ? (@ > 0)'))
           OVER (ORDER BY created_at DESC, id DESC) AS is_part
         FROM sync_runs WHERE connection_id = c.id AND status NOT IN ('queued', 'running', 'failed')) AS stored_run) AS quarantined
     WHERE c.interface = 'site' AND c.deleted_at IS NULL
       AND (r.status = 'held' OR r.status = 'failed' AND c.enabled
         OR r.status = 'succeeded' AND jsonb_path_exists(r.counts, '$.*.quarantined ? (@ > 0)'))`,
  );
}
