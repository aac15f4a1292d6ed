import { SYNC_KINDS, type SyncKind } from '../../contracts/admin/sync.values.js';
import type { Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { type CatalogKey, forEachKind, type KindCounts, type StartedRun } from './sync-runs.repository.js';
import type { RemovalCounts } from './removal-guard.rules.js';
import { CONTENT_COLUMNS } from './staged-records.repository.js';
import { ChangeRecorder } from './sync-changes.repository.js';

/** The records of one kind in an answer, and what applying them changed. */
interface AppliedCounts extends Omit<KindCounts, 'held'> {
  /** Records whose id cannot be read. */
  readonly unreadable: number;
}

/** The records that have the same outcome. */
interface OutcomeRow {
  readonly outcome: keyof Omit<KindCounts, 'received' | 'flagged' | 'held'> | 'merged';
  readonly count: number;
  /** Those among them that change the stored record. */
  readonly written: number;
  readonly flagged: number;
  readonly unreadable: number;
}

const DEACTIVATE = 'active = false, deactivated_at = now(), updated_at = now()';

/** `given` is the staged record, `stored` that of the catalog (decision 34). */
const IS_STALE = 'coalesce(given.partner_updated_at < stored.partner_updated_at, false)';

/**
 * A material with several parents may have several times. The newest one decides whether it is stale, the oldest one is stored:
 * otherwise the rest would be stale for ever when the newest parent goes away.
 */
const UPDATED_AT = 'coalesce(given.oldest_updated_at, given.partner_updated_at)';

const IS_NEWER = `(${UPDATED_AT} IS NOT NULL AND coalesce(${UPDATED_AT} > stored.partner_updated_at, true))`;

/**
 * A version 7 UUID: the time $3, then the position, so that ids of one run are in the order of the answer, then the random
 * part $4. Both are parts of one UUID, because a random part for each record took a tenth of the insertion.
 */
const NEW_ID = `($3::text || to_hex(${0x7000} + (given.position >> 12)) || to_hex(${0x8000} + (given.position & 4095))
  || $4::text)::uuid`;

/** Locks the hauler's catalog until the end of the transaction: connections of one hauler may have the same records. */
export async function lockCatalog(transaction: Sql, haulerId: string): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalog of ${haulerId}`]);
}

/**
 * Takes over the records of the hauler's deleted connections: otherwise no answer could remove them. Their holds are
 * discarded.
 */
export async function adoptRecords(transaction: Sql, { haulerId, connectionId }: CatalogKey): Promise<void> {
  const rows = await transaction.query<{ id: string }>(
    'SELECT id FROM connections WHERE hauler_id = $1 AND deleted_at IS NOT NULL',
    [haulerId],
  );
  if (rows.length === 0) return;
  const deleted = rows.map(({ id }) => id);
  for (const kind of SYNC_KINDS) {
    await transaction.query(
      `UPDATE ${kind} SET connection_id = $2 WHERE hauler_id = $1 AND connection_id = ANY ($3::uuid[])`,
      [haulerId, connectionId, deleted],
    );
  }
  await transaction.query('DELETE FROM sync_holds WHERE hauler_id = $1 AND connection_id = ANY ($2::uuid[])', [
    haulerId,
    deleted,
  ]);
}

/** The statements that apply the staged records of one kind. The kinds of their parents must have been applied before. */
export class KindRepository {
  private readonly given: string;
  private readonly absent: string;
  private readonly parameters: readonly [string, string];
  private readonly changes: ChangeRecorder;

  constructor(
    private readonly transaction: Sql,
    run: StartedRun,
    private readonly kind: SyncKind,
  ) {
    this.parameters = [run.haulerId, run.connectionId];
    this.changes = new ChangeRecorder(transaction, run, kind);
    this.given = `(SELECT * FROM staged WHERE kind = '${kind}' AND fault IS NULL AND NOT merged) given`;
    this.absent = `
      stored.hauler_id = $1 AND stored.connection_id = $2 AND stored.active
      AND NOT EXISTS (SELECT FROM staged given WHERE given.kind = '${kind}' AND given.external_id = stored.external_id)`;
  }

  /** Counts the records of the connection that the answer does not contain; call it before `applyChanges`. */
  countAbsent(): Promise<Omit<RemovalCounts, 'held' | 'remaining'>> {
    return this.one(
      `SELECT count(*)::int AS "activeBefore",
         count(*) FILTER (WHERE given.external_id IS NULL)::int AS absent,
         count(hold.external_id) FILTER (WHERE given.external_id IS NULL AND NOT hold.rejected)::int AS "stillAbsent",
         count(hold.external_id) FILTER (WHERE given.external_id IS NULL AND hold.rejected)::int AS "rejectedAbsent"
       FROM ${this.kind} stored
       LEFT JOIN (SELECT DISTINCT external_id FROM staged WHERE kind = '${this.kind}') given
         ON given.external_id = stored.external_id
       LEFT JOIN sync_holds hold ON hold.hauler_id = $1 AND hold.connection_id = $2 AND hold.kind = '${this.kind}'
         AND hold.external_id = stored.external_id
       WHERE stored.hauler_id = $1 AND stored.connection_id = $2 AND stored.active`,
    );
  }

  /** Writes new and changed records (decision 34). */
  async applyChanges(): Promise<AppliedCounts> {
    const rows = await this.countOutcomes();
    const count = (outcome: OutcomeRow['outcome']) => rows.find((row) => row.outcome === outcome)?.count ?? 0;
    const sum = (column: 'count' | 'flagged' | 'unreadable') => rows.reduce((total, row) => total + row[column], 0);
    for (const change of ['created', 'updated', 'deactivated', 'restored'] as const) {
      if (count(change) > 0) await this.changes.storeGiven(change, this.given, this.outcome(), IS_STALE);
    }
    if (rows.some(({ outcome, written }) => outcome !== 'created' && written > 0)) await this.update();
    if (count('created') > 0) await this.insert();
    return {
      received: sum('count'),
      quarantined: count('quarantined'),
      flagged: sum('flagged'),
      unreadable: sum('unreadable'),
      created: count('created'),
      restored: count('restored'),
      stale: count('stale'),
      deactivated: count('deactivated'),
      updated: count('updated'),
      unchanged: count('unchanged'),
    };
  }

  async countActive(): Promise<number> {
    const { count } = await this.one<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${this.kind} WHERE hauler_id = $1 AND connection_id = $2 AND active`,
    );
    return count;
  }

  /** Counts the removals that wait for an admin, and the removals that an admin has rejected. */
  countHeld(): Promise<{ held: number; rejected: number }> {
    return this.one(
      `SELECT count(*) FILTER (WHERE NOT rejected)::int AS held, count(*) FILTER (WHERE rejected)::int AS rejected
       FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND kind = '${this.kind}'`,
    );
  }

  /** Stores the changes that a confirmation would apply. */
  async storeHeld(): Promise<void> {
    await this.changes.storeRemoved(
      'held',
      `stored.hauler_id = $1 AND stored.active AND stored.connection_id = $2 AND stored.external_id IN (
         SELECT external_id FROM sync_holds
         WHERE hauler_id = $1 AND connection_id = $2 AND kind = '${this.kind}' AND NOT rejected)`,
    );
  }

  async discardHolds(): Promise<void> {
    await this.transaction.query(
      `DELETE FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND kind = '${this.kind}'`,
      this.parameters,
    );
  }

  async holdAbsent(): Promise<void> {
    await this.transaction.query(
      `INSERT INTO sync_holds (hauler_id, connection_id, kind, external_id)
       SELECT $1, $2, '${this.kind}', stored.external_id FROM ${this.kind} stored WHERE ${this.absent}`,
      this.parameters,
    );
  }

  async deactivateAbsent(): Promise<number> {
    await this.changes.storeRemoved('deactivated', this.absent);
    return this.transaction.change(
      `UPDATE ${this.kind} stored SET ${DEACTIVATE} WHERE ${this.absent}`,
      this.parameters,
    );
  }

  /** One statement, because each one reads the staged records of all kinds. */
  private countOutcomes(): Promise<OutcomeRow[]> {
    return this.transaction.query<OutcomeRow>(
      `SELECT outcome, count(*)::int AS count,
         count(*) FILTER (WHERE given.fault IS NULL AND NOT given.merged AND ${this.isWritten('outcome')})::int AS written,
         count(given.flagged_reason) FILTER (WHERE given.fault IS NULL)::int AS flagged,
         count(*) FILTER (WHERE given.external_id IS NULL)::int AS unreadable
       FROM staged given
       LEFT JOIN ${this.kind} stored ON stored.hauler_id = $1 AND stored.external_id = given.external_id
       CROSS JOIN LATERAL (
         SELECT CASE WHEN given.fault IS NOT NULL THEN 'quarantined' WHEN given.merged THEN 'merged'
           ELSE ${this.outcome()} END AS outcome) o
       WHERE given.kind = '${this.kind}'
       GROUP BY outcome`,
      [this.parameters[0]],
    );
  }

  private async update(): Promise<void> {
    const set = this.versioned.map(
      (column) => `${column} = CASE WHEN ${IS_STALE} THEN stored.${column} ELSE given.${column} END`,
    );
    await this.transaction.query(
      `UPDATE ${this.kind} stored SET ${set.join(', ')},
         active = given.active,
         deactivated_at = CASE WHEN given.active THEN NULL ELSE coalesce(stored.deactivated_at, now()) END,
         partner_updated_at = CASE WHEN ${IS_STALE} THEN stored.partner_updated_at
           ELSE coalesce(${UPDATED_AT}, stored.partner_updated_at) END,
         connection_id = CASE WHEN stored.active THEN coalesce(stored.connection_id, $2) ELSE $2 END,
         updated_at = CASE WHEN ${this.outcome()} = 'unchanged' THEN stored.updated_at ELSE now() END
       FROM ${this.given}
       WHERE stored.hauler_id = $1 AND stored.external_id = given.external_id AND ${this.isWritten(this.outcome())}`,
      this.parameters,
    );
  }

  private async insert(): Promise<void> {
    const first = uuidv7();
    await this.transaction.query(
      `INSERT INTO ${this.kind} (id, hauler_id, connection_id, deactivated_at, external_id, active, partner_updated_at,
         ${this.versioned.join(', ')})
       SELECT ${NEW_ID}, $1, $2, CASE WHEN given.active THEN NULL ELSE now() END, given.external_id, given.active,
         ${UPDATED_AT}, ${this.versioned.map((column) => `given.${column}`).join(', ')}
       FROM ${this.given}
       WHERE NOT EXISTS (
         SELECT FROM ${this.kind} stored WHERE stored.hauler_id = $1 AND stored.external_id = given.external_id)`,
      [...this.parameters, first.slice(0, 14), first.slice(24)],
    );
  }

  private get versioned(): string[] {
    return [...CONTENT_COLUMNS[this.kind], 'flagged_reason'];
  }

  /** A record that returns is restored even if its `updatedAt` is older than the stored one. */
  private outcome(): string {
    const columns = (alias: string) => this.versioned.map((column) => `${alias}.${column}`).join(', ');
    return `
      CASE WHEN stored.id IS NULL THEN 'created'
        WHEN given.active AND NOT stored.active THEN 'restored'
        WHEN ${IS_STALE} THEN 'stale'
        WHEN stored.active AND NOT given.active THEN 'deactivated'
        WHEN (${columns('given')}) IS DISTINCT FROM (${columns('stored')}) THEN 'updated'
        ELSE 'unchanged' END`;
  }

  /** A newer `updatedAt` is stored even if no other field changed. */
  private isWritten(outcome: string): string {
    return `CASE ${outcome} WHEN 'stale' THEN false WHEN 'unchanged' THEN ${IS_NEWER} ELSE true END`;
  }

  private async one<Row>(sql: string): Promise<Row> {
    return await this.transaction.only<Row>(sql, this.parameters);
  }
}

/** Whether removals wait for an admin. */
export async function hasHeldRemovals(transaction: Sql, key: CatalogKey): Promise<boolean> {
  const held = await transaction.query(
    'SELECT FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND NOT rejected LIMIT 1',
    [key.haulerId, key.connectionId],
  );
  return held.length > 0;
}

/** Applies the removals that were held and returns their number by kind. */
export async function applyHeldRemovals(transaction: Sql, key: CatalogKey): Promise<Record<SyncKind, number>> {
  const removed = forEachKind(() => 0);
  const parameters = [key.haulerId, key.connectionId];
  for (const kind of SYNC_KINDS) {
    removed[kind] = await transaction.change(
      `UPDATE ${kind} stored SET ${DEACTIVATE} FROM sync_holds hold
       WHERE hold.hauler_id = $1 AND hold.connection_id = $2 AND hold.kind = '${kind}'
         AND stored.hauler_id = $1 AND stored.connection_id = $2 AND stored.external_id = hold.external_id
         AND NOT hold.rejected AND stored.active`,
      parameters,
    );
  }
  await transaction.query(
    'DELETE FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND NOT rejected',
    parameters,
  );
  return removed;
}

/** Keeps the held records. The next run that would remove them holds them again. */
export async function rejectHeldRemovals(transaction: Sql, key: CatalogKey): Promise<void> {
  await transaction.query('UPDATE sync_holds SET rejected = true WHERE hauler_id = $1 AND connection_id = $2', [
    key.haulerId,
    key.connectionId,
  ]);
}
