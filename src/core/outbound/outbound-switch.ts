import { Inject, Injectable, Logger, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { Database } from '../database/database.js';
import { inBackground } from '../errors/background.js';
import {
  deleteOutboundStop,
  findOutboundStop,
  type OutboundStop,
  storeOutboundStop,
} from './outbound-stop.repository.js';

/** How soon the other instances follow. */
const REFRESH_MS = 2_000;

const BY_VARIABLE = 'OUTBOUND=off in the environment of the service';

/**
 * Whether partners may be called: `OUTBOUND` of this instance, and the row that stops all of them. Work that calls partners
 * waits while it is off, and loses no attempt. Nothing is called before the row has been read once.
 */
@Injectable()
export class OutboundSwitch implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(OutboundSwitch.name);
  private readonly isOffByVariable: boolean;
  private stop: OutboundStop | undefined;
  private isRead = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    @Inject(ENV) { OUTBOUND }: Pick<ResolvedEnv, 'OUTBOUND'>,
  ) {
    this.isOffByVariable = OUTBOUND === 'off';
  }

  /** A call just after the start must not be refused for want of the first reading. */
  async onModuleInit(): Promise<void> {
    this.timer = setInterval(() => inBackground(this.refresh()), REFRESH_MS).unref();
    await this.refresh();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  get isOn(): boolean {
    return this.isRead && this.reason === undefined;
  }

  /** Why partners are not called; undefined while they are. */
  get reason(): string | undefined {
    return this.isOffByVariable ? BY_VARIABLE : this.stop?.reason;
  }

  /** As it is in the database now. */
  async read(): Promise<{ readonly isOffByVariable: boolean; readonly reason?: string; readonly since?: Date }> {
    await this.load();
    const { reason, isOffByVariable, stop } = this;
    return {
      isOffByVariable,
      ...(reason === undefined ? {} : { reason }),
      ...(isOffByVariable || stop === undefined ? {} : { since: stop.since }),
    };
  }

  /** For all instances. */
  async set(isOn: boolean, reason: string): Promise<void> {
    await (isOn ? deleteOutboundStop(this.database) : storeOutboundStop(this.database, reason));
    await this.load();
  }

  private async refresh(): Promise<void> {
    // Without the database nothing is due, and nothing would be stored.
    await this.load().catch(() => undefined);
  }

  private async load(): Promise<void> {
    const before = this.isRead ? this.reason : undefined;
    this.stop = await findOutboundStop(this.database);
    this.isRead = true;
    if (this.reason === before) return;
    if (this.reason === undefined) this.logger.log('partners are called again');
    else this.logger.warn(`no partner is called: ${this.reason}`);
  }
}

/** The switch of all calls to partners. */
@Module({ providers: [OutboundSwitch], exports: [OutboundSwitch] })
export class OutboundModule {}
