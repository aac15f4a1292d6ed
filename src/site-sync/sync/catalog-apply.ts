import type { EntityManager } from 'typeorm';
import { uuidv7 } from '../../database/uuid.js';
import { type AcceptedRecords, JUDGED_COLUMNS } from './accepted-records.js';
import { CATALOG_SQL, type CatalogSql, ORPHANED } from './catalog-sql.js';
import { CONTENT_COLUMNS } from './content.js';
import type { Intake } from './intake.js';
import { forEachKind, type Kind, type KindCounts, KINDS, NO_COUNTS, NO_KIND_COUNTS, type RunCounts } from './kinds.js';
import { type Drop, holdsRemovals } from './removal-guard.js';
import { type Cell, type RowTarget, sendRows } from './send-rows.js';

/** Milliseconds for a statement of those below: a million records take a minute or two. */
export const APPLY_TIMEOUT_MS = 300_000;

/** Whose catalog an answer is applied to. */
export interface CatalogOwner {
  readonly haulerId: string;
  readonly connectionId: string;
}

export interface Applied {
  readonly counts: RunCounts;
  /** Whether the same answer, given again, would find nothing to do and leave nothing in doubt. */
  readonly settled: boolean;
}

interface Judgement {
  readonly outcome: 'created' | 'restored' | 'stale' | 'deactivated' | 'updated' | 'unchanged';
  readonly count: number;
  /** Of the records that have to be written, separated by commas. */
  readonly positions: string | null;
}

/** What is absent from the answer, counted before the answer changes anything. */
type Absence = Pick<Drop, 'activeBefore' | 'absent' | 'stillAbsent'>;

/** Brings a whole answer into the catalog: within the caller's transaction, a few statements for each kind. */
export async function applyIntake(manager: EntityManager, owner: CatalogOwner, intake: Intake): Promise<Applied> {
  await lockCatalog(manager, owner.haulerId);
  await adoptOrphans(manager, owner);
  const counts: Record<Kind, KindCounts> = { ...NO_COUNTS };
  for (const kind of KINDS) {
    const fromAnswer = {
      ...NO_KIND_COUNTS,
      received: intake.received[kind],
      quarantined: intake.remarks.quarantined[kind],
      flagged: intake.remarks.flagged[kind],
    };
    counts[kind] = { ...fromAnswer, ...(await new KindApply(manager, owner, kind).apply(intake)) };
  }
  const inDoubt = KINDS.some((kind) => counts[kind].held + counts[kind].stale + counts[kind].restored > 0);
  return { counts, settled: !inDoubt && !intake.dependsOnTime };
}

/** Removals that were held, applied after all. Returns how many there were of each kind. */
export async function applyHeld(manager: EntityManager, owner: CatalogOwner): Promise<Record<Kind, number>> {
  const removed = forEachKind(() => 0);
  for (const kind of KINDS) {
    removed[kind] = await affected(manager, CATALOG_SQL[kind].deactivateHeld, [owner.haulerId, owner.connectionId]);
  }
  await manager.query('DELETE FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2', [
    owner.haulerId,
    owner.connectionId,
  ]);
  return removed;
}

/** One at a time changes a hauler's catalog: its connections may tell of the same records. */
export async function lockCatalog(manager: EntityManager, haulerId: string): Promise<void> {
  await manager.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalog of ${haulerId}`]);
}

/** What came through connections that were deleted since belongs to this one now: else nobody could ever remove it. */
async function adoptOrphans(manager: EntityManager, { haulerId, connectionId }: CatalogOwner): Promise<void> {
  const [gone]: [{ connection_id: string }[], number] = await manager.query(
    `DELETE FROM sync_states state WHERE ${ORPHANED} RETURNING state.connection_id`,
    [haulerId],
  );
  if (gone.length === 0) return;
  const ids = gone.map(({ connection_id }) => connection_id);
  for (const kind of KINDS) await manager.query(CATALOG_SQL[kind].adopt, [haulerId, connectionId, ids]);
  await manager.query('DELETE FROM sync_holds WHERE hauler_id = $1 AND connection_id = ANY ($2::uuid[])', [
    haulerId,
    ids,
  ]);
}

class KindApply {
  private readonly sql: CatalogSql;
  private readonly parameters: [string, string];

  constructor(
    private readonly manager: EntityManager,
    private readonly owner: CatalogOwner,
    private readonly kind: Kind,
  ) {
    this.sql = CATALOG_SQL[kind];
    this.parameters = [owner.haulerId, owner.connectionId];
  }

  async apply(intake: Intake): Promise<Partial<KindCounts>> {
    if (!intake.stated.includes(this.kind)) return { held: await this.standing() };
    const records = intake.records[this.kind];
    await this.manager.query(this.sql.stage);
    const stage = { columns: JUDGED_COLUMNS, sql: this.sql.fillStage, parameters: [] };
    await sendRows(this.manager, stage, records.judged());
    const before = await this.one<Absence>(this.sql.absence);
    const changed = await this.change(records);
    if (intake.unreadable.has(this.kind)) return { ...changed, held: await this.standing() };
    const { held, removed } = await this.remove(before);
    return { ...changed, held, deactivated: changed.deactivated + removed };
  }

  private async change(records: AcceptedRecords) {
    const judged = await this.manager.query<Judgement[]>(this.sql.judge, [this.owner.haulerId]);
    const of = (outcome: Judgement['outcome']) => judged.find((row) => row.outcome === outcome)?.count ?? 0;
    const created = positionsOf(judged.filter(({ outcome }) => outcome === 'created'));
    const changed = positionsOf(judged.filter(({ outcome }) => outcome !== 'created'));
    await this.write(this.sql.update, records.whole(changed));
    await this.write(this.sql.insert, withIds(records.whole(created)), { id: 'uuid' });
    return {
      created: of('created'),
      updated: of('updated'),
      unchanged: of('unchanged'),
      deactivated: of('deactivated'),
      restored: of('restored'),
      stale: of('stale'),
    };
  }

  private async write(sql: RowTarget['sql'], rows: Iterable<Cell[]>, more: RowTarget['columns'] = {}): Promise<void> {
    const columns = { ...JUDGED_COLUMNS, ...CONTENT_COLUMNS[this.kind], ...more };
    await sendRows(this.manager, { columns, sql, parameters: this.parameters }, rows);
  }

  private async remove(drop: Absence) {
    const held = await this.standing();
    const { count: active } = await this.one<{ count: number }>(this.sql.countActive);
    const holds = holdsRemovals({ ...drop, held, remaining: active - drop.absent });
    if (held > 0) {
      await this.manager.query('DELETE FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND kind = $3', [
        ...this.parameters,
        this.kind,
      ]);
    }
    if (holds) {
      await this.manager.query(this.sql.holdAbsent, this.parameters);
      return { held: drop.absent, removed: 0 };
    }
    return {
      held: 0,
      removed: drop.absent === 0 ? 0 : await affected(this.manager, this.sql.deactivateAbsent, this.parameters),
    };
  }

  private async standing(): Promise<number> {
    const { count } = await this.one<{ count: number }>(
      'SELECT count(*)::integer AS count FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND kind = $3',
      [...this.parameters, this.kind],
    );
    return count;
  }

  private async one<Row>(sql: string, parameters: unknown[] = this.parameters): Promise<Row> {
    const [row] = await this.manager.query<Row[]>(sql, parameters);
    if (row === undefined) throw new Error('an aggregate always has a row');
    return row;
  }
}

/** One by one: a list of a million, split at one go, would hold the event loop. */
function* positionsOf(judged: readonly Judgement[]): Generator<number> {
  for (const { positions } of judged) {
    for (let at = 0; positions !== null && at < positions.length;) {
      const comma = positions.indexOf(',', at);
      const end = comma === -1 ? positions.length : comma;
      yield Number(positions.slice(at, end));
      at = end + 1;
    }
  }
}

function* withIds(rows: Iterable<Cell[]>): Generator<Cell[]> {
  for (const cells of rows) yield [...cells, uuidv7()];
}

async function affected(manager: EntityManager, sql: string, parameters: unknown[]): Promise<number> {
  const [, count] = await manager.query<[unknown[], number]>(sql, parameters);
  return count;
}
