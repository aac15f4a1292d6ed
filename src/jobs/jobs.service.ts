import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { inBackground } from '../errors/background.js';
import { areDue, DueRows, oldestDue } from './due-rows.repository.js';
import type { JobKind } from './job-kind.js';
import { JobRunner, LoggedStatements } from './job-runner.js';

/** Shares of SHUTDOWN_GRACE: for running jobs to end by themselves, then to end after the abort. */
const GRACE_SHARE = 0.5;
const ABORT_SHARE = 0.2;

/** How often an instance asks for due rows. */
const TICK_MS = 1_000;
export const TICK = 'due rows';

/** Runs the due rows of every registered kind while the service is up. */
@Injectable()
export class JobsService implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly runners = new Map<string, JobRunner>();
  private readonly heartbeats: NodeJS.Timeout[] = [];
  private readonly statements = new LoggedStatements(new Logger('Jobs'));
  private started = false;
  private isTicking = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly schedule: SchedulerRegistry,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  /** Must be called in `onModuleInit`. */
  register<Row extends object>(kind: JobKind<Row>): void {
    if (this.runners.has(kind.name)) throw new Error(`the job ${kind.name} is registered twice`);
    // `kind.columns` selects the columns of `Row`, which the runner does not know.
    const runner = new JobRunner(new DueRows(this.dataSource, kind));
    if (this.started) throw new Error(`the job ${kind.name} is registered after the start: nothing would run it`);
    this.runners.set(kind.name, runner);
  }

  /**
   * Runs the due rows of a kind now instead of at the next tick. Call it after a row was made due. It does nothing if
   * this process does not run that kind: another instance claims the row at its next tick.
   */
  runDue(name: string): void {
    const runner = this.runners.get(name);
    if (this.started && runner !== undefined) inBackground(runner.tick());
  }

  /** The number of rows that this instance is processing, by kind. */
  running(): ReadonlyMap<string, number> {
    return new Map([...this.runners].map(([name, runner]) => [name, runner.running]));
  }

  /** Seconds for which the oldest row of each kind has been due; the same on every instance. */
  async oldestDue(): Promise<ReadonlyMap<string, number>> {
    const names = [...this.runners.keys()];
    const ages = await oldestDue(this.dataSource, this.kinds());
    return new Map(names.map((name, i) => [name, ages[i] ?? 0]));
  }

  onApplicationBootstrap(): void {
    this.started = true;
    this.schedule.addInterval(
      TICK,
      setInterval(() => inBackground(this.tick()), TICK_MS),
    );
    for (const runner of this.runners.values()) {
      // Not in the registry, which Nest clears before the last runs have ended.
      this.heartbeats.push(setInterval(() => inBackground(runner.heartbeat()), runner.heartbeatMs));
      inBackground(runner.tick());
    }
  }

  onModuleDestroy(): void {
    for (const runner of this.runners.values()) runner.stopClaiming();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const grace = this.env.SHUTDOWN_GRACE;
    await Promise.all(
      [...this.runners.values()].map((runner) => runner.drain(grace * GRACE_SHARE, grace * ABORT_SHARE)),
    );
    for (const heartbeat of this.heartbeats) clearInterval(heartbeat);
  }

  private kinds(): JobKind[] {
    return [...this.runners.values()].map(({ kind }) => kind);
  }

  /** One small statement finds the kinds that have due rows; only those are claimed. */
  private async tick(): Promise<void> {
    if (this.isTicking) return;
    this.isTicking = true;
    const due = await this.statements.attempt('find due rows', () => areDue(this.dataSource, this.kinds()));
    [...this.runners.values()].forEach((runner, i) => {
      if (due?.[i] === true) inBackground(runner.tick());
    });
    this.isTicking = false;
  }
}
