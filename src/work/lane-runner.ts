import { Logger } from '@nestjs/common';
import { inBackground } from '../errors/background.js';
import type { DueRows, Started } from './due-rows.repository.js';
import { type LaneOwners, type OwnedLane, OWNED_MS } from './lanes.repository.js';
import { LoggedStatements } from './logged-statements.js';
import { RowRunner } from './row-runner.js';
import { RowLostError, Run, StoppingError } from './run.js';
import type { WorkKind } from './work-kind.js';

/** Runs at once, including those that wait, for each place of the kind. */
const MAX_RUNS_PER_PLACE = 16;

/** How long a step waits for further runs to end. */
const GATHER_MS = 10;

/**
 * Share of the places that an instance without a free place claims as further lanes, so that the order of the kind holds
 * for all lanes and no lane waits for another to become empty.
 */
const LANES_WITHOUT_PLACE = 0.25;
/** A lane that gets no place for this long is left to another instance, or to a later turn. */
const STARVED_MS = 3_000;

interface Running {
  readonly run: Run;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  isWaiting: boolean;
}

/** A lane that this instance owns. */
interface Lane {
  readonly owned: OwnedLane;
  readonly runs: Set<Running>;
  renewedAt: number;
  usedAt: number;
  /** The end of a run could not be written: the row can be started again only after the lane was given back. */
  isUnsettled: boolean;
}

/** Owns lanes of one kind while they have due rows, and runs these rows up to the concurrency of the kind. */
export class LaneRunner {
  private readonly jobs = new Set<Running>();
  private readonly lanes = new Map<string, Lane>();
  private stepping: Promise<void> | undefined;
  private isStepWanted = false;
  /** Whether there may be due lanes that nobody owns. */
  private isSearchWanted = false;
  private stopped = false;
  private stepTimer: NodeJS.Timeout | undefined;
  /** A failed statement never ends the loop: the lane expires, and its rows are started again. */
  private readonly statements: LoggedStatements;
  private readonly rows: RowRunner;

  constructor(
    private readonly dueRows: DueRows,
    private readonly owners: LaneOwners,
  ) {
    const logger = new Logger(`Work ${dueRows.kind.name}`);
    this.statements = new LoggedStatements(logger);
    this.rows = new RowRunner(dueRows, logger, this.statements);
  }

  get kind(): WorkKind {
    return this.dueRows.kind;
  }

  /** The number of rows that this instance is processing. */
  get running(): number {
    return this.jobs.size;
  }

  oldestDue(): Promise<number> {
    return this.dueRows.oldestDue();
  }

  /**
   * Looks for due lanes and starts what is due; never rejects. A call during another call's step waits for that step, after
   * which the other call makes one more.
   */
  async tick(): Promise<void> {
    this.isSearchWanted = true;
    await this.step();
  }

  /** Renews all lanes by one statement. Aborts the runs of lanes that were lost, and of rows that were cancelled. */
  async renew(): Promise<void> {
    if (this.lanes.size === 0) return;
    const now = Date.now();
    const lanes = [...this.lanes];
    const names = lanes.map(([name]) => name);
    const renewed = await this.statements.attempt('renew', () => this.owners.renew(this.kind.name, names));
    for (const [name, lane] of lanes) {
      if (renewed?.has(name) === true) lane.renewedAt = now;
      else if (renewed !== undefined || Date.now() - lane.renewedAt > OWNED_MS) this.lose(name, lane);
    }
    const runs = [...this.jobs].map(({ run }) => run);
    const held = await this.statements.attempt('renew', () => this.dueRows.held(runs));
    if (held === undefined) return;
    for (const { run, abort } of this.jobs) {
      if (runs.includes(run) && !held.has(run) && !run.isFinished) abort.abort(new RowLostError(this.kind.name));
    }
  }

  stop(): void {
    this.stopped = true;
  }

  /** Waits `graceMs` for the runs, aborts the rest, waits `abortMs`, and releases the rows of the runs that remain. */
  async drain(graceMs: number, abortMs: number): Promise<void> {
    this.stopped = true;
    clearTimeout(this.stepTimer);
    await this.stepping;
    await this.release([...this.lanes.values()].filter(({ runs }) => runs.size === 0));
    await this.allEnded(graceMs);
    for (const { abort } of this.jobs) abort.abort(new StoppingError());
    await this.allEnded(abortMs);
    // Rows whose runs ignore the abort stay started, as those of a killed instance.
    const remaining = [...this.jobs].map(({ run }) => this.dueRows.update(run, { attempts: run.attempt - 1 }));
    await Promise.allSettled(remaining);
    await this.release([...this.lanes.values()]);
  }

  private async step(): Promise<void> {
    this.isStepWanted = true;
    while (this.stepping === undefined && this.isStepWanted && !this.stopped) {
      this.isStepWanted = false;
      this.stepping = this.work().finally(() => (this.stepping = undefined));
      await this.stepping;
    }
    await this.stepping;
  }

  private async work(): Promise<void> {
    await this.startRows();
    while (this.isSearchWanted && !this.stopped && this.kind.canStart?.() !== false) {
      this.isSearchWanted = false;
      const free = this.freePlaces();
      const wanted = free > 0 ? free : Math.ceil(this.kind.concurrency * LANES_WITHOUT_PLACE);
      const claimed = await this.statements.attempt('claim', () => this.claim(wanted));
      await this.startRows();
      // There may be more lanes with due rows.
      if (claimed === wanted && this.freePlaces() > 0) this.isSearchWanted = true;
    }
    const starvedAt = Date.now() - STARVED_MS;
    const isOver = ({ runs, usedAt, isUnsettled }: Lane) => runs.size === 0 && (isUnsettled || usedAt < starvedAt);
    await this.release([...this.lanes.values()].filter(isOver));
  }

  /** Returns how many lanes were claimed. */
  private async claim(limit: number): Promise<number> {
    const due = await this.dueRows.lanes(limit);
    if (due.length === 0) return 0;
    const now = Date.now();
    const claimed = await this.owners.claim(this.kind.name, due);
    for (const owned of claimed) {
      this.lanes.set(owned.lane, { owned, runs: new Set(), renewedAt: now, usedAt: now, isUnsettled: false });
    }
    return claimed.length;
  }

  /** Starts due rows of the lanes, and gives back the lanes without any. */
  private async startRows(): Promise<void> {
    const free = this.freePlaces();
    if (free <= 0 || this.kind.canStart?.() === false) return;
    const { concurrency } = this.kind.lane;
    const lanes = [...this.lanes.values()].filter(({ runs, isUnsettled }) => !isUnsettled && runs.size < concurrency);
    if (lanes.length === 0) return;
    const rooms = lanes.map(({ owned, runs }) => ({ owned, room: concurrency - runs.size }));
    const started = await this.statements.attempt('start', () => this.dueRows.start(this.owners.owner, rooms, free));
    if (started === undefined) return;
    for (const row of started) this.start(row);
    if (started.length < free) await this.release(lanes.filter(({ runs }) => runs.size === 0));
  }

  private async release(lanes: readonly Lane[]): Promise<void> {
    if (lanes.length === 0) return;
    const names = lanes.map(({ owned }) => owned.lane);
    for (const name of names) this.lanes.delete(name);
    await this.statements.attempt('give back lanes', () => this.owners.release(this.kind.name, names));
  }

  private lose(name: string, lane: Lane): void {
    // A lane that was given back during the renewal has no runs.
    if (this.lanes.get(name) === lane) this.lanes.delete(name);
    const { runs } = lane;
    for (const { abort } of runs) abort.abort(new RowLostError(this.kind.name));
  }

  private freePlaces(): number {
    const { concurrency } = this.kind;
    const working = [...this.jobs].filter(({ isWaiting }) => !isWaiting).length;
    return Math.min(concurrency - working, concurrency * MAX_RUNS_PER_PLACE - this.jobs.size);
  }

  private start(started: Started): void {
    const abort = new AbortController();
    const run = new Run(this.dueRows, started, abort.signal, (isWaiting) => {
      job.isWaiting = isWaiting;
      if (isWaiting) this.stepSoon();
    });
    const lane = this.lanes.get(started.lane);
    const job: Running = {
      run,
      abort,
      isWaiting: false,
      // In a later microtask: the job must be in the sets before its end removes it.
      ended: Promise.resolve()
        .then(() => this.rows.perform(run))
        .then((isSettled) => {
          this.jobs.delete(job);
          lane?.runs.delete(job);
          if (lane !== undefined && !isSettled) lane.isUnsettled = true;
          this.stepSoon();
        }),
    };
    this.jobs.add(job);
    if (lane === undefined) return abort.abort(new RowLostError(this.kind.name));
    lane.runs.add(job);
    lane.usedAt = Date.now();
  }

  /** Runs often end together. One step for several of them costs the database much less than one for each. */
  private stepSoon(): void {
    if (this.stopped) return;
    this.stepTimer ??= setTimeout(() => {
      this.stepTimer = undefined;
      inBackground(this.step());
    }, GATHER_MS);
  }

  private async allEnded(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([Promise.all([...this.jobs].map((job) => job.ended)), timeout]);
    clearTimeout(timer);
  }
}
