import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { RequestedSyncRun, SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { apiError, invalid } from '../../errors/app-error.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { ConnectionsService } from '../../partner-client/connections.service.js';
import { APPLY_TIMEOUT_MS, applyHeld, type CatalogOwner, lockCatalog } from './catalog-apply.js';
import { forEachKind, type RunCounts } from './kinds.js';
import { RUN_STATES, type RunStatus } from './run-states.js';
import { SITE_SYNC_WORK } from './sync-schedule.js';
import { SyncRunQueries } from './sync-run-queries.js';
import { SyncRuns } from './sync-runs.store.js';
import { SyncStates } from './sync-states.store.js';

interface ConfirmedRow {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly status: RunStatus;
  readonly counts: RunCounts;
  readonly newest: string;
}

const APPLYING = { statementTimeoutMs: APPLY_TIMEOUT_MS };

/** What an admin does with runs: ask for one now, and confirm removals that were held. */
@Injectable()
export class SyncRunsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly connections: ConnectionsService,
    private readonly runs: SyncRuns,
    private readonly states: SyncStates,
    private readonly queries: SyncRunQueries,
  ) {}

  /** The run that begins now, also of a paused connection; while one is active, that one (decision 36). */
  async request(connectionId: string): Promise<RequestedSyncRun> {
    const connection = await this.connections.required(connectionId);
    if (connection.interface !== 'site') {
      const message = `${connectionId} is a ${connection.interface} connection: only site connections are synchronised`;
      throw invalid([{ path: 'id', rule: 'isSiteConnection', message }]);
    }
    const owner = { haulerId: connection.haulerId, connectionId };
    const runId = await inTransaction(this.dataSource, async (manager) => {
      const id = await this.runs.open(manager, owner);
      await this.makeDue(manager, owner.haulerId, connectionId);
      return id;
    });
    this.jobs.wake(SITE_SYNC_WORK);
    return { runId };
  }

  /** Applies the removals that the run holds. `conflict` where it holds none, or none any more, or is not the connection's newest. */
  async confirm(id: string): Promise<SyncRun> {
    await inTransaction(
      this.dataSource,
      async (manager) => {
        const { hauler_id: haulerId, connection_id: connectionId } = await this.confirmable(manager, id);
        const owner = { haulerId, connectionId };
        await lockCatalog(manager, haulerId);
        // Once more: another confirmation, or a run, may have been waited for.
        const run = await this.confirmable(manager, id);
        RUN_STATES.assertMove(run.status, 'succeeded');
        await this.assertHolds(manager, id, owner);
        const removed = await applyHeld(manager, owner);
        await this.states.forgetAnswersOfOthers(manager, owner);
        const counts = forEachKind((kind) => ({
          ...run.counts[kind],
          deactivated: run.counts[kind].deactivated + removed[kind],
          held: 0,
        }));
        await manager.query(`UPDATE sync_runs SET status = 'succeeded', counts = $3 WHERE hauler_id = $1 AND id = $2`, [
          haulerId,
          id,
          JSON.stringify(counts),
        ]);
      },
      APPLYING,
    );
    return this.queries.get(id);
  }

  /** Also where the run is another's that was killed. A connection in hand is left to whoever has it, and not waited for. */
  private async makeDue(manager: EntityManager, haulerId: string, connectionId: string): Promise<void> {
    await manager.query(
      `UPDATE connections SET due_at = now(), run_requested_at = now() WHERE (hauler_id, id) IN (
         SELECT hauler_id, id FROM connections
         WHERE hauler_id = $1 AND id = $2 AND (leased_until IS NULL OR leased_until <= now()) FOR UPDATE SKIP LOCKED)`,
      [haulerId, connectionId],
    );
  }

  private async confirmable(manager: EntityManager, id: string): Promise<ConfirmedRow> {
    const run = await this.find(manager, id);
    if (run.status !== 'held') throw apiError(ADMIN_API, 'conflict', `the run ${id} is not held but ${run.status}`);
    if (run.newest !== id) throw apiError(ADMIN_API, 'conflict', `the run ${run.newest} is newer than ${id}`);
    return run;
  }

  /** Holds go with the records that another connection takes over (`adoptOrphans`). */
  private async assertHolds(manager: EntityManager, id: string, owner: CatalogOwner): Promise<void> {
    const held = await manager.query<unknown[]>(
      'SELECT FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 LIMIT 1',
      [owner.haulerId, owner.connectionId],
    );
    if (held.length > 0) return;
    const message = `the run ${id} holds nothing any more: its connection was deleted, and another one has taken its records over`;
    throw apiError(ADMIN_API, 'conflict', message);
  }

  private async find(manager: EntityManager, id: string): Promise<ConfirmedRow> {
    const [row] = await manager.query<ConfirmedRow[]>(
      `SELECT hauler_id, connection_id, status, counts, (
         SELECT n.id FROM sync_runs n WHERE n.connection_id = r.connection_id ORDER BY n.created_at DESC, n.id DESC LIMIT 1
       ) AS newest
       FROM sync_runs r WHERE r.id = $1`,
      [id],
    );
    if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no synchronisation run ${id}`);
    return row;
  }
}
