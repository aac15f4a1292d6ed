import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { noDataFindings } from '../../partner-client/check-rules.js';
import type { PartnerAnswer } from '../../partner-client/partner-answer.js';
import type { PartnerConnection } from '../../partner-client/partner-connection.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { type Place, Places } from '../../partner-client/places.js';
import { SiteClient } from '../site-client.js';
import { AnswerReader } from './answer-reader.js';
import { applyIntake } from './catalog-apply.js';
import type { Intake } from './intake.js';
import { KINDS, type RunCounts } from './kinds.js';
import { type BegunRun, type RunResult, SyncRuns } from './sync-runs.store.js';
import { repeatedCounts, type SettledAnswer, SyncStates } from './sync-states.store.js';

/** One run as its owner sees it. */
export interface Synchronisation {
  readonly run: BegunRun;
  readonly connection: PartnerConnection;
  /** Whether an admin has asked for it. */
  readonly requested: boolean;
  /** Aborted when the run is no longer ours, or the service stops. */
  readonly signal: AbortSignal;
  /**
   * Ends the run: `write`, the result that it returns and the connection's next due time in one transaction, which
   * fails where the run is no longer ours. A process that is killed anywhere leaves all of it or nothing.
   */
  conclude(write: (manager: EntityManager) => Promise<RunResult>): Promise<void>;
}

/** The answer that an intake was read from. */
interface Judged {
  readonly answer: PartnerAnswer;
  /** SHA-256 in hex. */
  readonly bodyDigest: string;
  /** Of the hauler's catalog, before its parents were read. */
  readonly changeNumber: string;
}

/** Answers that are read at once in one instance, each of up to PARTNER_BODY_LIMIT; of others up to 1 MiB is in memory. */
const ANSWERS_AT_ONCE = 2;

/** Asks a partner for a hauler's sites, kiosks and materials, and brings what it answers into the catalog. */
@Injectable()
export class SiteSync {
  private readonly places = new Places(ANSWERS_AT_ONCE);

  constructor(
    private readonly dataSource: DataSource,
    private readonly client: SiteClient,
    private readonly reader: AnswerReader,
    private readonly runs: SyncRuns,
    private readonly states: SyncStates,
  ) {}

  /** Concludes the run, or throws what stood in its way: then nothing has changed. */
  async synchronise(work: Synchronisation): Promise<void> {
    const place = this.places.place();
    try {
      await this.bring(work, place);
    } finally {
      place.leave();
    }
  }

  private async bring(work: Synchronisation, place: Place): Promise<void> {
    const { run, connection, requested, signal } = work;
    const settled = await this.states.settled(this.dataSource, run, connection.baseUrl);
    const ifNoneMatch = settled?.etag ?? undefined;
    const call = { connection, ifNoneMatch, requested, signal, place };
    const answer = await this.client.getSites({ haulerId: run.haulerId }, call);
    if (answer.status === 404) {
      const doubts = await doubtsAbout(answer);
      return work.conclude(async () => ({ status: 'no_data', ...doubts }));
    }
    if (answer.status === 304 && settled !== undefined) return this.repeat(work, settled);
    await place.take(signal);
    const bodyDigest = await this.reader.digest(answer);
    if (settled?.bodyDigest === bodyDigest) return this.repeat(work, { ...settled, etag: answer.etag ?? null });
    // Before the parents are read: what changes them later is noticed.
    const changeNumber = await this.states.changeNumber(this.dataSource, run.haulerId);
    const intake = await this.reader.read(answer, run.haulerId, signal);
    await work.conclude((manager) => this.apply(manager, work, intake, { answer, bodyDigest, changeNumber }));
  }

  /** The same answer as last time, which left nothing in doubt: it changes nothing, and has the same faults. */
  private repeat(work: Synchronisation, settled: SettledAnswer): Promise<void> {
    const { run } = work;
    const counts = repeatedCounts(settled.counts);
    return work.conclude(async (manager) => {
      await this.runs.repeatRemarks(manager, run, settled.runId);
      await this.runs.pruneRemarks(manager, run);
      await this.states.repeat(manager, run, { ...settled, counts, runId: run.id });
      return { status: 'succeeded', counts };
    });
  }

  private async apply(
    manager: EntityManager,
    { run, connection }: Synchronisation,
    intake: Intake,
    { answer, bodyDigest, changeNumber }: Judged,
  ): Promise<RunResult> {
    const { counts, settled } = await applyIntake(manager, run, intake);
    const parentsStand = (await this.states.changeNumber(manager, run.haulerId)) === changeNumber;
    await this.runs.keepRemarks(manager, run, intake.remarks.kept);
    await this.runs.pruneRemarks(manager, run);
    const state =
      settled && parentsStand ? { bodyDigest, etag: answer.etag ?? null, counts, runId: run.id } : undefined;
    await this.states.save(manager, run, connection.baseUrl, state);
    if (changes(counts)) await this.states.forgetAnswersOfOthers(manager, run);
    return { status: KINDS.some((kind) => counts[kind].held > 0) ? 'held' : 'succeeded', counts };
  }
}

function changes(counts: RunCounts): boolean {
  return KINDS.some((kind) => {
    const { created, updated, deactivated, restored } = counts[kind];
    return created + updated + deactivated + restored > 0;
  });
}

/** A gateway answers 404 too, and whoever is at a wrong address: without a word a run would find nothing there for ever. */
async function doubtsAbout(answer: PartnerAnswer): Promise<Pick<RunResult, 'error'>> {
  const reason = await noDataFindings(answer).then(
    ({ conforms, findings }) => (conforms ? undefined : findings[0]),
    (error: unknown) => {
      if (error instanceof PartnerFailure) return error.message.replace(/\.$/, '');
      throw error;
    },
  );
  return reason === undefined
    ? {}
    : { error: `The 404 may come of a wrong address, for it is not the contract's: ${reason}.` };
}
