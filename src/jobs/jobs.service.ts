import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { DueRows } from './due-rows.repository.js';
import { DEFAULT_TICK_MS, type JobKind } from './job-kind.js';
import { JobRunner } from './job-runner.js';

/** Shares of SHUTDOWN_GRACE: for running jobs to end by themselves, then to end after the abort. */
const GRACE_SHARE = 0.5;
const ABORT_SHARE = 0.2;

/** Runs the due rows of every registered kind while the service is up. */
@Injectable()
export class JobsService implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly runners = new Map<string, JobRunner>();
  private readonly heartbeats: NodeJS.Timeout[] = [];
  private started = false;

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
   * Runs the due rows of a kind now instead of at the next tick. Call it after a row was made due. It does nothing where
   * this process does not run that kind: the instances that do claim the row at their next tick.
   */
  runDue(name: string): void {
    const runner = this.runners.get(name);
    if (this.started) void runner?.tick();
  }

  /** The number of rows that this instance is processing, by kind. */
  running(): ReadonlyMap<string, number> {
    return new Map([...this.runners].map(([name, runner]) => [name, runner.running]));
  }

  /** Seconds for which the oldest row of each kind has been due; the same on every instance. */
  async oldestDue(): Promise<ReadonlyMap<string, number>> {
    const ages = new Map<string, number>();
    // One after another, so that this takes one connection of the pool.
    for (const [name, runner] of this.runners) ages.set(name, await runner.oldestDue());
    return ages;
  }

  onApplicationBootstrap(): void {
    this.started = true;
    for (const runner of this.runners.values()) this.start(runner);
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

  private start(runner: JobRunner): void {
    const { name, tickMs = DEFAULT_TICK_MS } = runner.kind;
    this.schedule.addInterval(
      `due rows: ${name}`,
      setInterval(() => void runner.tick(), tickMs),
    );
    // Not in the registry, which Nest clears before the last runs have ended.
    this.heartbeats.push(setInterval(() => void runner.heartbeat(), runner.heartbeatMs));
    void runner.tick();
  }
}
