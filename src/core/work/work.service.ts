import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { Database } from '../database/database.js';
import { inBackground } from '../errors/background.js';
import { OutboundModule, OutboundSwitch } from '../outbound/outbound-switch.js';
import { DueRows, mayBeDue } from './due-rows.repository.js';
import { LaneRunner } from './lane-runner.js';
import { LaneOwners, OWNED_MS } from './lanes.repository.js';
import { LoggedStatements } from './logged-statements.js';
import type { WorkKind } from './work-kind.js';

/** Shares of SHUTDOWN_GRACE: for running jobs to end by themselves, then to end after the abort. */
const GRACE_SHARE = 0.5;
const ABORT_SHARE = 0.2;

/** How often an instance looks for due rows. */
const TICK_MS = 1_000;
const TICK = 'due rows';

/** Two renewals may fail before a lane is lost. */
const RENEWAL_MS = OWNED_MS / 4;

/** Runs the due rows of every registered kind while the service is up. */
@Injectable()
export class WorkService implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly runners = new Map<string, LaneRunner>();
  private readonly owners: LaneOwners;
  private renewals: NodeJS.Timeout | undefined;
  private readonly statements = new LoggedStatements(new Logger('Work'));
  private started = false;
  private isTicking = false;

  constructor(
    private readonly database: Database,
    private readonly schedule: SchedulerRegistry,
    @Inject(ENV) private readonly env: ResolvedEnv,
    private readonly outbound: OutboundSwitch,
  ) {
    this.owners = new LaneOwners(database);
  }

  /** Must be called in `onModuleInit`. */
  register<Row extends object>(kind: WorkKind<Row>): void {
    if (this.runners.has(kind.name)) throw new Error(`the work ${kind.name} is registered twice`);
    const mayRun = () => (kind.callsPartners !== true || this.outbound.isOn) && kind.canStart?.() !== false;
    // `kind.columns` selects the columns of `Row`, which the runner does not know.
    const runner = new LaneRunner(new DueRows(this.database, { ...kind, canStart: mayRun }), this.owners);
    if (this.started) throw new Error(`the work ${kind.name} is registered after the start: nothing would run it`);
    this.runners.set(kind.name, runner);
  }

  /**
   * Runs the due rows of a kind now instead of at the next tick. Call it after a row was made due. It does nothing if
   * this process does not run that kind: another instance finds the row at its next tick.
   */
  runDue(name: string): void {
    const runner = this.runners.get(name);
    if (this.started && runner !== undefined) inBackground(runner.tick());
  }

  /** The number of rows that this instance is processing, by kind. */
  running(): ReadonlyMap<string, number> {
    return new Map([...this.runners].map(([name, runner]) => [name, runner.running]));
  }

  /**
   * Seconds for which the oldest row of each kind has waited for an instance; the same on every instance. Without the kinds whose
   * rows wait because calls to partners are switched off.
   */
  async oldestDue(): Promise<ReadonlyMap<string, number>> {
    const started = [...this.runners].filter(([, { kind }]) => kind.callsPartners !== true || this.outbound.isOn);
    const ages = started.map(async ([name, runner]) => [name, await runner.oldestDue()] as const);
    return new Map(await Promise.all(ages));
  }

  onApplicationBootstrap(): void {
    this.started = true;
    this.schedule.addInterval(
      TICK,
      setInterval(() => inBackground(this.tick()), TICK_MS),
    );
    // Not in the registry, which Nest clears before the last runs have ended.
    this.renewals = setInterval(() => inBackground(this.renew()), RENEWAL_MS);
    inBackground(this.tick());
  }

  onModuleDestroy(): void {
    for (const runner of this.runners.values()) runner.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const grace = this.env.SHUTDOWN_GRACE;
    await Promise.all(
      [...this.runners.values()].map((runner) => runner.drain(grace * GRACE_SHARE, grace * ABORT_SHARE)),
    );
    clearInterval(this.renewals);
  }

  private async renew(): Promise<void> {
    await this.owners.renew();
    await Promise.all([...this.runners.values()].map((runner) => runner.abortCancelled()));
  }

  private async tick(): Promise<void> {
    if (this.isTicking) return;
    this.isTicking = true;
    const runners = [...this.runners.values()];
    const kinds = runners.map(({ kind }) => kind);
    const due = await this.statements.attempt('find due rows', () => mayBeDue(this.database, kinds));
    runners.forEach((runner, i) => {
      if (due?.[i] === true) inBackground(runner.tick());
    });
    this.isTicking = false;
  }
}

/** Needs the application's `ScheduleModule`. Modules import it and register their kinds of work with `WorkService`. */
@Module({ imports: [OutboundModule], providers: [WorkService], exports: [WorkService] })
export class WorkModule {}
