import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { inBackground } from '../errors/background.js';
import type { DueRows } from './due-rows.repository.js';
import type { LaneOwners, OwnedLane } from './lanes.repository.js';
import { LoggedStatements } from './logged-statements.js';
import { RowRunner } from './row-runner.js';
import { RowLostError, Run, type Started, StoppingError } from './run.js';
import type { WorkKind } from './work-kind.js';

/** Lanes that an instance claims at once. Instances that look at the same time share what is due. */
const MAX_CLAIMED = 4;

/** How long a lane is worked on while this instance works on as many lanes as it may. Others are more urgent by then. */
const TURN_MS = 5_000;

const DEFAULT_LANES = 64;

/** How long a lane waits for further runs to end. One statement starts the rows that follow all of them. */
const GATHER_MS = 10;

/** Owns lanes of one kind while they have due rows. One loop for each lane runs them, up to the limits of the kind. */
export class LaneRunner {
  /** The lanes that are worked on, with their loops. */
  private readonly lanes = new Map<OwnedLane, Promise<void>>();
  private readonly runs = new Map<Run, AbortController>();
  private due = Promise.withResolvers<void>();
  private searching = Promise.resolve();
  private nextSearch: Promise<void> | undefined;
  private isStopping = false;
  private readonly maxLanes: number;
  /** A failed statement never ends the work: the lane expires, and its rows are started again. */
  private readonly statements: LoggedStatements;
  private readonly rows: RowRunner;

  constructor(
    private readonly dueRows: DueRows,
    private readonly owners: LaneOwners,
  ) {
    this.maxLanes = dueRows.kind.lanes ?? DEFAULT_LANES;
    const logger = new Logger(`Work ${dueRows.kind.name}`);
    this.statements = new LoggedStatements(logger);
    this.rows = new RowRunner(dueRows, logger, this.statements);
  }

  get kind(): WorkKind {
    return this.dueRows.kind;
  }

  /** The number of rows that this instance is processing. */
  get running(): number {
    return this.runs.size;
  }

  oldestDue(): Promise<number> {
    return this.dueRows.oldestDue();
  }

  /** Starts due rows of the lanes, and claims lanes with due rows that nobody owns. Never rejects. */
  async tick(): Promise<void> {
    this.due.resolve();
    this.due = Promise.withResolvers();
    await this.search();
  }

  /** Aborts the runs of rows that were cancelled: their rows are no longer as they were started. */
  async abortCancelled(): Promise<void> {
    const runs = [...this.runs];
    if (runs.length === 0) return;
    const started = runs.map(([run]) => run);
    const kept = await this.statements.attempt('look for cancelled rows', () => this.dueRows.asStarted(started));
    for (const [run, abort] of runs) {
      if (kept?.has(run) === false && !run.isFinished) abort.abort(new RowLostError(this.kind.name));
    }
  }

  stop(): void {
    this.isStopping = true;
  }

  /** Waits `graceMs` for the runs, aborts the rest, waits `abortMs`, and releases the rows of the runs that remain. */
  async drain(graceMs: number, abortMs: number): Promise<void> {
    this.stop();
    await this.searching;
    await this.allEnded(graceMs);
    for (const abort of this.runs.values()) abort.abort(new StoppingError());
    await this.allEnded(abortMs);
    // Rows whose runs ignore the abort stay started, as those of a killed instance.
    const remaining = [...this.runs.keys()].map((run) => this.dueRows.update(run, { attempts: run.attempt - 1 }));
    await Promise.allSettled(remaining);
    await Promise.all([...this.lanes.keys()].map((lane) => this.release(lane)));
  }

  /** Joins a search that waits for its turn: one that has begun may not find what is due since. */
  private search(): Promise<void> {
    this.nextSearch ??= this.searching = this.searching.then(() => {
      this.nextSearch = undefined;
      return this.claim();
    });
    return this.nextSearch;
  }

  private async claim(): Promise<void> {
    const limit = Math.min(MAX_CLAIMED, this.maxLanes - this.lanes.size);
    if (limit <= 0 || !this.mayStart()) return;
    const claimed = await this.statements.attempt('claim lanes', async () => {
      const due = await this.dueRows.lanes(limit);
      return due.length === 0 ? [] : this.owners.claim(this.kind.name, due);
    });
    for (const lane of claimed ?? []) {
      const loop = this.workOn(lane);
      this.lanes.set(lane, loop);
      inBackground(loop);
    }
  }

  /** Until nothing of the lane is due, or its turn is over. */
  private async workOn(lane: OwnedLane): Promise<void> {
    const runs = new Set<Promise<unknown>>();
    const turnEnds = Date.now() + TURN_MS;
    // Not after a run whose end could not be written: its row can be started again only after the lane was given back.
    let isSettled = true;
    let hasRun = false;
    for (;;) {
      const isOver = !isSettled || (Date.now() > turnEnds && this.lanes.size >= this.maxLanes);
      const due = this.due.promise;
      const room = isOver || lane.loss.signal.aborted ? 0 : this.kind.lane.concurrency - runs.size;
      const rows = await this.startRows(lane, room);
      for (const row of rows) {
        const run = this.perform(lane, row).then((isWritten) => {
          isSettled &&= isWritten;
          runs.delete(run);
        });
        runs.add(run);
        hasRun = true;
      }
      if (runs.size === 0) break;
      // There was room for more than was due: it is asked again when there may be more, or before the lane is given back.
      const isExhausted = rows.length < room;
      await Promise.race([due, ...(isExhausted ? [Promise.all(runs)] : runs)]);
      await delay(GATHER_MS);
    }
    await this.release(lane);
    this.lanes.delete(lane);
    // Other lanes may wait for this one's place, and rows that became due since the last start were not found.
    if (hasRun && isSettled) inBackground(this.search());
  }

  private async startRows(lane: OwnedLane, limit: number): Promise<Started[]> {
    if (limit === 0 || !this.mayStart()) return [];
    const started = this.statements.attempt('start rows', () => this.dueRows.start(this.owners.owner, lane, limit));
    return (await started) ?? [];
  }

  /** Returns whether the end of the run was written. */
  private async perform(lane: OwnedLane, started: Started): Promise<boolean> {
    const abort = new AbortController();
    const run = new Run(this.dueRows, started, AbortSignal.any([lane.loss.signal, abort.signal]));
    this.runs.set(run, abort);
    return this.rows.perform(run).finally(() => this.runs.delete(run));
  }

  private async release(lane: OwnedLane): Promise<void> {
    await this.statements.attempt('give back lanes', () => this.owners.release(lane));
  }

  private mayStart(): boolean {
    return !this.isStopping && this.kind.canStart?.() !== false;
  }

  private async allEnded(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([Promise.all(this.lanes.values()), timeout]);
    clearTimeout(timer);
  }
}
