import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { Sweep } from '../core/database/sweep.js';
import { inBackground } from '../core/errors/background.js';
import { ExchangeHours } from './exchange-hours.repository.js';
import { ExchangesRepository } from './exchanges.repository.js';

const EVERY_MS = 3_600_000;

/** Drops the partitions of exchanges that are older than `EXCHANGE_RETENTION_DAYS`. */
@Injectable()
export class ExchangeRetention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Exchanges');
  private readonly retention = new Sweep((stopping) => this.maintainAll(stopping));

  constructor(
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'EXCHANGE_RETENTION_DAYS'>,
    private readonly exchanges: ExchangesRepository,
    private readonly hours: ExchangeHours,
  ) {}

  onApplicationBootstrap(): void {
    inBackground(this.maintain());
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.retention.stop();
  }

  @Interval('exchange retention', EVERY_MS)
  maintain(): Promise<void> {
    return this.retention.run();
  }

  /** Another attempt follows in an hour: a failure is logged only. */
  private async maintainAll(stopping: AbortSignal): Promise<void> {
    const days = this.env.EXCHANGE_RETENTION_DAYS;
    const steps = [
      () => this.exchanges.dropPartitions(days),
      () => this.exchanges.indexReferences(),
      () => this.hours.deleteOld(days),
    ];
    try {
      for (const step of steps) if (!stopping.aborted) await step();
    } catch (err) {
      this.logger.warn({ err }, 'the partitions of exchanges could not be maintained');
    }
  }
}
