import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { ENV, type SettledEnv } from '../config/env.js';
import { DueRows } from './due-rows.js';
import { TICK_MS, type WorkKind } from './work-kind.js';
import { WorkRunner } from './work-runner.js';

/** Shares of SHUTDOWN_GRACE: for what is in work to end by itself, then for it to heed the abort. */
const GRACE_SHARE = 0.5;
const ABORT_SHARE = 0.2;

/** Runs every registered kind of due rows while the service is up. */
@Injectable()
export class JobsService implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly runners = new Map<string, WorkRunner>();
  private readonly heartbeats: NodeJS.Timeout[] = [];
  private started = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly schedule: SchedulerRegistry,
    @Inject(ENV) private readonly env: SettledEnv,
  ) {}

  /** To be called by a room's schedule provider in `onModuleInit`. */
  register<Row extends object>(kind: WorkKind<Row>): void {
    if (this.runners.has(kind.name)) throw new Error(`the work ${kind.name} is registered twice`);
    // The rows that reach the handler are those that its own literal selects.
    const runner = new WorkRunner(new DueRows(this.dataSource, kind));
    if (this.started) throw new Error(`the work ${kind.name} is registered too late: nothing would run it`);
    this.runners.set(kind.name, runner);
  }

  /**
   * After a row was made due: asks at once whether something of this kind is, instead of at the next tick. Where this
   * process does no such work, as a command does not, the instances that do will see it at their own tick.
   */
  wake(name: string): void {
    const runner = this.runners.get(name);
    if (this.started) void runner?.tick();
  }

  /** Rows in work in this instance, by kind. */
  running(): ReadonlyMap<string, number> {
    return new Map([...this.runners].map(([name, runner]) => [name, runner.running]));
  }

  /** For how long the oldest due row of each kind has waited, in seconds; the same on every instance. */
  async oldestDue(): Promise<ReadonlyMap<string, number>> {
    const ages = new Map<string, number>();
    // One after the other: who asks must not take a connection for each kind.
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

  private start(runner: WorkRunner): void {
    const { name, tickMs = TICK_MS } = runner.kind;
    this.schedule.addInterval(
      `due rows: ${name}`,
      setInterval(() => void runner.tick(), tickMs),
    );
    // Not in the registry, which is cleared before the last runs have ended.
    this.heartbeats.push(setInterval(() => void runner.heartbeat(), runner.heartbeatMs));
    void runner.tick();
  }
}
