import { SYNC_KINDS } from '../../contracts/admin/sync.values.js';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import {
  QuarantinedRecord,
  type QuarantineQuery,
  type RequestedSyncRun,
  SyncChange,
  type SyncChangeQuery,
  SyncRun,
  type SyncRunQuery,
} from '../../contracts/admin/sync-runs.routes.js';
import { jsonOrText } from '../../contracts/common/json.js';
import { present } from '../../contracts/common/present.js';
import { siteRuleOf } from '../../conformance/site/site-rules.js';
import { BULK_TIMEOUT_MS, Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { WorkService } from '../../core/work/work.service.js';
import { requestRun } from '../../partner-client/connections.repository.js';
import { ConnectionsService } from '../../partner-client/connections.service.js';
import { applyHeldRemovals, hasHeldRemovals, lockCatalog, rejectHeldRemovals } from './catalog-sync.repository.js';
import {
  forEachKind,
  type IssueRow,
  RUN_STATES,
  type RunRow,
  SITE_SYNC_WORK,
  SyncRunsRepository,
} from './sync-runs.repository.js';
import { type ChangeRow, confirmChanges, listChanges } from './sync-changes.repository.js';
import { absentSentence, noticedLists } from './absent-lists.rules.js';
import { toRefusedRecords } from './refusals.rules.js';

/** The administration of synchronisation runs. */
@Injectable()
export class SyncRunsService {
  constructor(
    private readonly database: Database,
    private readonly work: WorkService,
    private readonly connections: ConnectionsService,
    private readonly runs: SyncRunsRepository,
  ) {}

  /** Newest first. */
  async list(query: SyncRunQuery): Promise<List<SyncRun>> {
    const { rows, pagination } = await this.runs.list(query);
    return { data: rows.map(toSyncRunDto), pagination };
  }

  /** With a connection only a run of it; so in the lists of its records. */
  async get(id: string, connectionId?: string): Promise<SyncRun> {
    return toSyncRunDto(await this.required(id, connectionId));
  }

  /** Throws `notFound`. */
  async haulerOf(id: string): Promise<string> {
    return (await this.required(id)).hauler_id;
  }

  /** Quarantined and flagged records in the order of the answer, kind by kind. */
  async quarantine(id: string, query: QuarantineQuery, connectionId?: string): Promise<List<QuarantinedRecord>> {
    await this.required(id, connectionId);
    const { rows, pagination } = await this.runs.listIssues(id, query);
    return { data: rows.map(toQuarantinedRecord), pagination };
  }

  /** Starts a run now, also of a paused connection, and returns its id, or that of the active run (decision 36). */
  async request(connectionId: string): Promise<RequestedSyncRun> {
    const connection = await this.connections.required(connectionId);
    if (connection.interface !== 'site') {
      const message = `${connectionId} is a ${connection.interface} connection: only site connections are synchronised`;
      throw invalid([{ path: 'id', rule: 'isSiteConnection', message }]);
    }
    const { haulerId } = connection;
    const runId = await this.database.transaction(async (transaction) => {
      const id = await this.runs.queue(transaction, { haulerId, connectionId });
      await requestRun(transaction, { haulerId, id: connectionId });
      return id;
    });
    this.work.runDue(SITE_SYNC_WORK);
    return { runId };
  }

  /** Lists the changes of a run. Those of a held run include the removals that a confirmation applies. */
  async listChanges(id: string, query: SyncChangeQuery, connectionId?: string): Promise<List<SyncChange>> {
    await this.required(id, connectionId);
    const { rows, pagination } = await listChanges(this.database, id, query);
    return { data: rows.map(toChangeDto), pagination };
  }

  /**
   * Applies the held removals; a dry run returns the run as it would be. Throws `conflict` if the run holds none, or is not the
   * newest of its connection.
   */
  async confirm(id: string, isDryRun?: boolean): Promise<SyncRun> {
    const apply = async (transaction: Sql, run: RunRow) => {
      const removed = await applyHeldRemovals(transaction, keyOf(run));
      const counts = forEachKind((kind) => ({
        ...run.counts[kind],
        deactivated: run.counts[kind].deactivated + removed[kind],
        held: 0,
      }));
      await this.runs.decide(transaction, run, { status: 'succeeded', counts });
      await confirmChanges(transaction, run.hauler_id, run.id);
    };
    return this.decide(id, 'succeeded', apply, isDryRun);
  }

  /** Discards the held removals; `conflict` as for `confirm`. The next answer that would remove the records is held. */
  async reject(id: string, note: string | undefined): Promise<SyncRun> {
    return this.decide(id, 'rejected', async (transaction, run) => {
      await rejectHeldRemovals(transaction, keyOf(run));
      await this.runs.decide(transaction, run, { status: 'rejected', note });
    });
  }

  private async decide(
    id: string,
    status: 'succeeded' | 'rejected',
    apply: (transaction: Sql, run: RunRow) => Promise<void>,
    isDryRun?: boolean,
  ): Promise<SyncRun> {
    return this.database.transaction(
      async (transaction) => {
        const { hauler_id: haulerId } = await this.decidable(transaction, id);
        await lockCatalog(transaction, haulerId);
        // Checked again, because a run or another decision may have held the lock.
        const run = await this.decidable(transaction, id);
        RUN_STATES.assertTransition(run.status, status);
        await this.assertHolds(transaction, run);
        await apply(transaction, run);
        return toSyncRunDto(await this.required(id, undefined, transaction));
      },
      { statementTimeoutMs: BULK_TIMEOUT_MS, isDryRun },
    );
  }

  private async decidable(transaction: Sql, id: string): Promise<RunRow> {
    const run = await this.required(id, undefined, transaction);
    if (run.status !== 'held') throw apiError(ADMIN_API, 'conflict', `the run ${id} is ${run.status}, not held`);
    const newest = await this.runs.newest(transaction, run.connection_id);
    if (newest !== id) throw apiError(ADMIN_API, 'conflict', `the run ${newest} is newer than ${id}`);
    return run;
  }

  /** The holds of a deleted connection are discarded when another connection takes over its records. */
  private async assertHolds(transaction: Sql, run: RunRow): Promise<void> {
    if (await hasHeldRemovals(transaction, keyOf(run))) return;
    const message = `the run ${run.id} holds no removals any more: its connection was deleted, and another connection has taken over its records`;
    throw apiError(ADMIN_API, 'conflict', message);
  }

  private async required(id: string, connectionId?: string, transaction?: Sql): Promise<RunRow> {
    const row = await this.runs.find(id, transaction);
    if (row === undefined || (connectionId ?? row.connection_id) !== row.connection_id)
      throw apiError(ADMIN_API, 'notFound', `there is no synchronisation run ${id}`);
    return row;
  }
}

const keyOf = ({ hauler_id: haulerId, connection_id: connectionId }: RunRow) => ({ haulerId, connectionId });

const toSyncRunDto = (row: RunRow): SyncRun =>
  present(SyncRun, { ...row, ...attentionOf(row), refusals: row.refusals?.map(toRefusedRecords) });

/** A run that quarantined records, or whose partner no longer lists a kind, is no plain success. */
export function attentionOf({ counts, absent_lists: absent }: Pick<RunRow, 'counts' | 'absent_lists'>): {
  attention?: string;
} {
  const sentences = noticedLists(absent).map(([kind, list]) => absentSentence(kind, list));
  const quarantined = SYNC_KINDS.filter((kind) => counts[kind].quarantined > 0);
  if (quarantined.length > 0) {
    const sum = (name: 'quarantined' | 'received') => SYNC_KINDS.reduce((total, kind) => total + counts[kind][name], 0);
    const kinds = quarantined.map((kind) => `${kind} ${counts[kind].quarantined}`).join(', ');
    const share = `${sum('quarantined')} of ${sum('received')} records`;
    sentences.push(`${share} are in quarantine, and not stored as sent: ${kinds}.`);
  }
  return sentences.length === 0 ? {} : { attention: sentences.join(' ') };
}

const toChangeDto = (row: ChangeRow): SyncChange => present(SyncChange, { ...row, changes: changedFields(row) });

/** The names of the fields that differ. */
export function changedFields(row: Pick<ChangeRow, 'before' | 'after'>): string[] {
  const [before, after] = [row.before ?? {}, row.after ?? {}];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name])).sort();
}

const toQuarantinedRecord = (row: IssueRow): QuarantinedRecord => ({
  ...present(QuarantinedRecord, { ...row, ruleId: siteRuleOf(row.path, row.rule) }),
  // The partner's JSON may be null. A text that was cut is no JSON.
  raw: jsonOrText(row.raw),
});
