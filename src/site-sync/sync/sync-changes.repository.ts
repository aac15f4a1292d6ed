import type { SyncChangeName, SyncKind } from '../../contracts/admin/sync.values.js';
import type { SyncChangeQuery } from '../../contracts/admin/sync-runs.routes.js';
import { type ListPage, listPage } from '../../core/database/list-page.js';
import type { Sql } from '../../core/database/sql.js';
import { hasSeveralParents } from '../catalog/catalog.repository.js';
import type { StartedRun } from './sync-runs.repository.js';

/** Further changes of one kind and type are counted in the run, but not stored. */
export const MAX_STORED_CHANGES = 10_000;

/** Only the newest runs of a connection that changed records keep their changes. */
const RUNS_WITH_CHANGES = 100;

export interface ChangeRow {
  /** A bigint, as text. */
  readonly position: string;
  readonly kind: SyncKind;
  readonly change: SyncChangeName;
  readonly externalId: string;
  readonly name: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

const ADDRESS = (alias: string) => `'address', CASE WHEN ${alias}.line1 IS NOT NULL THEN jsonb_build_object(
  'line1', ${alias}.line1, 'city', ${alias}.city, 'state', ${alias}.state, 'country', ${alias}.country,
  'zipCode', ${alias}.zip_code) END`;

const FIELDS: Readonly<Record<SyncKind, (alias: string) => string>> = {
  sites: (alias) => `'name', ${alias}.name, ${ADDRESS(alias)}`,
  kiosks: (alias) => `'siteId', ${alias}.site_external_id, 'name', ${alias}.name`,
  materials: (alias) => `'siteId', ${alias}.site_ids[1], 'kioskId', ${alias}.kiosk_ids[1],
    'siteIds', CASE WHEN ${hasSeveralParents(alias)} THEN to_jsonb(${alias}.site_ids) END,
    'kioskIds', CASE WHEN ${hasSeveralParents(alias)} THEN to_jsonb(${alias}.kiosk_ids) END,
    'materialType', ${alias}.material_type, 'measureUnit', ${alias}.measure_unit`,
};

/** SQL of a record in the form of the partner's contract (section 2.4a), without absent fields. */
function recordSql(kind: SyncKind, alias: string): string {
  return `jsonb_strip_nulls(jsonb_build_object('id', ${alias}.external_id, ${FIELDS[kind](alias)},
    'active', ${alias}.active, 'flaggedReason', ${alias}.flagged_reason,
    'updatedAt', to_char(${alias}.partner_updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`;
}

const nameSql = (kind: SyncKind, alias: string) => (kind === 'materials' ? `${alias}.material_type` : `${alias}.name`);

const INSERT_CHANGES = 'INSERT INTO sync_changes (hauler_id, run_id, kind, change, external_id, name, before, after)';

/** Stores the changes of a run in one kind. Each statement runs before the one that changes the records. */
export class ChangeRecorder {
  constructor(
    private readonly transaction: Sql,
    private readonly run: StartedRun,
    private readonly kind: SyncKind,
  ) {}

  /**
   * `given` and `stored` are SQL of the staged and the stored records, `outcome` and `isStale` compare them. A stale record that
   * returns keeps its stored content.
   */
  async storeGiven(change: ChangeRow['change'], given: string, outcome: string, isStale: string): Promise<void> {
    const { kind, run } = this;
    const stored = recordSql(kind, 'stored');
    await this.transaction.query(
      `${INSERT_CHANGES}
       SELECT $1, $2, '${kind}', '${change}', given.external_id, ${nameSql(kind, 'given')},
         CASE WHEN stored.id IS NOT NULL THEN ${stored} END,
         CASE WHEN ${isStale} THEN ${stored} || '{"active": true}' ELSE ${recordSql(kind, 'given')} END
       FROM ${given} LEFT JOIN ${kind} stored ON stored.hauler_id = $1 AND stored.external_id = given.external_id
       WHERE ${outcome} = '${change}' LIMIT ${MAX_STORED_CHANGES}`,
      [run.haulerId, run.id],
    );
  }

  /** The `stored` records that `condition` selects become inactive. In it $1 is the hauler and $2 the connection. */
  async storeRemoved(change: 'deactivated' | 'held', condition: string): Promise<void> {
    const { kind, run } = this;
    const stored = recordSql(kind, 'stored');
    await this.transaction.query(
      `${INSERT_CHANGES}
       SELECT $1, $3, '${kind}', '${change}', stored.external_id, ${nameSql(kind, 'stored')},
         ${stored}, ${stored} || '{"active": false}'
       FROM ${kind} stored WHERE ${condition} LIMIT ${MAX_STORED_CHANGES}`,
      [run.haulerId, run.connectionId, run.id],
    );
  }
}

/** Deletes the changes of runs that are no longer among the newest. */
export async function pruneChanges(transaction: Sql, { haulerId, connectionId, id }: StartedRun): Promise<void> {
  await transaction.query('UPDATE sync_runs SET has_changes = true WHERE hauler_id = $1 AND id = $2', [haulerId, id]);
  await transaction.query(
    `DELETE FROM sync_changes WHERE hauler_id = $1 AND run_id = ANY (ARRAY(
       SELECT id FROM sync_runs WHERE hauler_id = $1 AND connection_id = $2 AND has_changes
       ORDER BY created_at DESC, id DESC OFFSET ${RUNS_WITH_CHANGES} LIMIT 100))`,
    [haulerId, connectionId],
  );
}

/** Marks the held removals of a run as applied. */
export async function confirmChanges(transaction: Sql, haulerId: string, runId: string): Promise<void> {
  await transaction.query(
    `UPDATE sync_changes SET change = 'deactivated' WHERE hauler_id = $1 AND run_id = $2 AND change = 'held'`,
    [haulerId, runId],
  );
}

/** By kind, in the order in which the run applied them. */
export function listChanges(database: Sql, runId: string, query: SyncChangeQuery): Promise<ListPage<ChangeRow>> {
  const { kind = null, change = null } = query;
  const sql = `SELECT position, kind, change, external_id AS "externalId", name, before, after FROM sync_changes
    WHERE run_id = $1 AND ($2::text IS NULL OR kind = $2) AND ($3::text IS NULL OR change = $3)`;
  const list = { name: `changes ${runId}`, sql, parameters: [runId, kind, change] };
  return listPage(database, { ...list, key: ['position'], order: 'ASC' }, query);
}
