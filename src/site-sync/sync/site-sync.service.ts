import { SYNC_KINDS, type SyncKind } from '../../contracts/admin/sync.values.js';
import { ownField } from '../../contracts/common/json.js';
import { Injectable } from '@nestjs/common';
import { GetSitesResponse, SITE_API } from '../../contracts/site/site.api.js';
import { Database } from '../../core/database/database.js';
import { Semaphore } from '../../core/database/semaphore.js';
import type { PartnerConnection } from '../../partner-client/connections.repository.js';
import type { PartnerAnswer } from '../../partner-client/partner-answer.js';
import { PartnerClient } from '../../partner-client/partner-client.js';
import type { RemovalGuard } from '../../contracts/admin/sync-runs.routes.js';
import type { Session } from '../../core/database/session.js';
import type { Sql } from '../../core/database/sql.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { adoptRecords, KindRepository, lockCatalog } from './catalog-sync.repository.js';
import { type AbsentLists, absentLists } from './absent-lists.rules.js';
import {
  type KindCounts,
  NO_COUNTS,
  type RunResult,
  type StartedRun,
  SyncRunsRepository,
} from './sync-runs.repository.js';
import { mergeMaterials } from './merged-materials.repository.js';
import { holdsRemovals, removalGuard } from './removal-guard.rules.js';
import { checkParents, RECORD_LISTS, RecordStager, stageRecords, storeIssues } from './staged-records.repository.js';
import { pruneChanges } from './sync-changes.repository.js';

/** A run that this process executes. */
export interface Synchronisation {
  readonly run: StartedRun;
  readonly connection: PartnerConnection;
  /** An admin asked for the run. */
  readonly requested: boolean;
  /** Aborted when the row is lost or the service stops. */
  readonly signal: AbortSignal;
  /** Writes the result and the next due time. Throws `RowLostError` if the row is lost, which rolls everything back. */
  conclude(transaction: Sql, result: RunResult): Promise<void>;
}

/** A run waits for this much of its answer, or all of a smaller one, before it takes a database connection. */
const PREFETCH_BYTES = 1_048_576;

/** Answers that one instance stages and applies at the same time. */
const MAX_TRANSACTIONS = 3;

/**
 * The statistics of PostgreSQL know neither the staged records nor what the transaction has written, so that it expects one
 * row and may loop over all staged records for each stored one, for minutes. Every statement needs a whole
 * answer or catalog, for which hash joins that fit into memory are right.
 */
const SETTINGS = { enable_nestloop: 'off', work_mem: '32MB' };

/** Fetches a hauler's sites, kiosks and materials from a partner and applies them to the catalog in one transaction. */
@Injectable()
export class SiteSync {
  private readonly slots = new Semaphore(MAX_TRANSACTIONS);

  constructor(
    private readonly database: Database,
    private readonly partners: PartnerClient,
    private readonly runs: SyncRunsRepository,
  ) {}

  /**
   * Concludes the run, or throws the failure and changes nothing. A partner that closes its connection while a large answer
   * waits for a slot is called again, as after any broken answer.
   */
  async synchronise(work: Synchronisation): Promise<void> {
    const { connection, run, requested, signal } = work;
    const call = {
      api: SITE_API,
      route: SITE_API.routes.getSites,
      query: { haulerId: run.haulerId },
      accept: [200, 404],
      duringPause: requested,
      signal,
    };
    await this.partners.stream(connection, call, async (answer) => {
      const result = answer.status === 404 ? await noData(answer) : undefined;
      if (result === undefined) await answer.prefetch(PREFETCH_BYTES);
      await this.slots.acquire(signal);
      await this.conclude(work, answer, result).finally(() => this.slots.release());
    });
  }

  /** On a connection that requests do not use. An answer is read once, so the transaction is not repeated. */
  private conclude(work: Synchronisation, answer: PartnerAnswer, result?: RunResult): Promise<void> {
    return this.database.transaction(
      async (transaction) => work.conclude(transaction, result ?? (await this.apply(transaction, work.run, answer))),
      { pool: 'bulk', settings: SETTINGS, attempts: 1 },
    );
  }

  /** Stages and applies the whole answer. An answer that breaks the contract changes nothing (decision 33). */
  private async apply(transaction: Session, run: StartedRun, answer: PartnerAnswer): Promise<RunResult> {
    await stageRecords(transaction, stagedRows(answer));
    if (ownField(answer.envelope, 'success') === false) throw answer.refusal(answer.envelope);
    const { data } = answer.readEnvelope(GetSitesResponse);
    await lockCatalog(transaction, run.haulerId);
    await adoptRecords(transaction, run);
    const counts: Record<SyncKind, KindCounts> = { ...NO_COUNTS };
    const guard: RemovalGuard[] = [];
    for (const kind of SYNC_KINDS) {
      const applied = await applyKind(transaction, run, kind, data[kind] !== undefined);
      counts[kind] = applied.counts;
      if (applied.guard !== undefined) guard.push(applied.guard);
    }
    if (SYNC_KINDS.some((kind) => counts[kind].quarantined + counts[kind].flagged > 0)) {
      await storeIssues(transaction, run.haulerId, run.id);
    }
    const absent = await this.absentLists(transaction, run, data);
    await this.runs.storeAbsentLists(transaction, run, absent);
    await this.runs.pruneIssues(transaction, run);
    if (SYNC_KINDS.some((kind) => hasChanges(counts[kind]))) await pruneChanges(transaction, run);
    return { status: guard.length > 0 ? 'held' : 'succeeded', counts, guard, absentLists: absent };
  }

  /** The lists that the answer does not have, although this connection has active records of their kind. */
  private async absentLists(transaction: Sql, run: StartedRun, data: GetSitesResponse['data']): Promise<AbsentLists> {
    const records: Partial<Record<SyncKind, number>> = {};
    for (const kind of SYNC_KINDS) {
      if (data[kind] === undefined) records[kind] = await new KindRepository(transaction, run, kind).countActive();
    }
    const before = Object.keys(records).length === 0 ? {} : await this.runs.absentBefore(transaction, run);
    return absentLists(before, records, new Date());
  }
}

async function* stagedRows(answer: PartnerAnswer): AsyncGenerator<string> {
  const stager = new RecordStager(new Date());
  for await (const records of answer.records(RECORD_LISTS)) yield stager.copyText(records);
}

interface AppliedKind {
  readonly counts: KindCounts;
  /** Present if removals of the kind are held. */
  readonly guard?: RemovalGuard;
}

/** If the answer omits the array of a kind (`isStated` is false), an earlier hold of this kind stays (decision 35). */
async function applyKind(transaction: Sql, run: StartedRun, kind: SyncKind, isStated: boolean): Promise<AppliedKind> {
  const repository = new KindRepository(transaction, run, kind);
  const { held, rejected } = await repository.countHeld();
  if (!isStated) return stillHeld(repository, kind, { ...NO_COUNTS[kind], held });
  await checkParents(transaction, run.haulerId, kind);
  if (kind === 'materials') await mergeMaterials(transaction, run);
  const absence = await repository.countAbsent();
  const { unreadable, ...applied } = await repository.applyChanges();
  const counts = { ...applied, held };
  if (unreadable > 0) return stillHeld(repository, kind, counts);
  const remaining = absence.absent === 0 ? absence.activeBefore : (await repository.countActive()) - absence.absent;
  if (held + rejected > 0) await repository.discardHolds();
  if (holdsRemovals({ ...absence, held, remaining })) {
    await repository.holdAbsent();
    await repository.storeHeld();
    const guard = removalGuard(kind, absence.absent, absence.activeBefore);
    return { counts: { ...counts, held: absence.absent }, guard };
  }
  const removed = absence.absent === 0 ? 0 : await repository.deactivateAbsent();
  return { counts: { ...counts, held: 0, deactivated: applied.deactivated + removed } };
}

/** For a run that does not decide about removals of the kind: removals that an earlier run held stay held. */
async function stillHeld(repository: KindRepository, kind: SyncKind, counts: KindCounts): Promise<AppliedKind> {
  if (counts.held === 0) return { counts };
  await repository.storeHeld();
  return { counts, guard: removalGuard(kind, counts.held, await repository.countActive()) };
}

const hasChanges = ({ created, updated, deactivated, restored, held }: KindCounts): boolean =>
  created + updated + deactivated + restored + held > 0;

/**
 * A 404 of the contract means that the partner has no data of this hauler (section 7). A gateway or a wrong address also answers
 * 404, so the run reports one without the contract's error body.
 */
async function noData(answer: PartnerAnswer): Promise<RunResult> {
  const reason = await answer.json().then(notOfContract, (error: unknown) => {
    if (error instanceof PartnerFailure) return error.message.replace(/\.$/, '');
    throw error;
  });
  if (reason === undefined) return { status: 'no_data' };
  return { status: 'no_data', error: `The 404 is not the contract's, so the address may be wrong: ${reason}.` };
}

function notOfContract(body: unknown): string | undefined {
  const error = ownField(body, 'error');
  const isOfContract =
    ownField(body, 'success') === false &&
    ownField(error, 'code') === 'NOT_FOUND' &&
    typeof ownField(error, 'message') === 'string';
  if (isOfContract) return undefined;
  return 'an answer with status 404 must have the common error body, with error.code NOT_FOUND';
}
