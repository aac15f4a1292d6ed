import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { inBackground } from '../errors/background.js';
import { ExchangeHours } from './exchange-hours.repository.js';
import { ExchangesRepository } from './exchanges.repository.js';

const EVERY_MS = 3_600_000;
const DAYS_AHEAD = 3;

/** Creates the partitions of the next days, and drops those that are older than `EXCHANGE_RETENTION_DAYS`. */
@Injectable()
export class ExchangeRetention implements OnApplicationBootstrap {
  private readonly logger = new Logger('Exchanges');

  constructor(
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'EXCHANGE_RETENTION_DAYS'>,
    private readonly exchanges: ExchangesRepository,
    private readonly hours: ExchangeHours,
  ) {}

  onApplicationBootstrap(): void {
    inBackground(this.maintain());
  }

  /** Another attempt follows in an hour, and the partitions are some days ahead: a failure is logged only. */
  @Interval('exchange partitions', EVERY_MS)
  async maintain(): Promise<void> {
    try {
      await this.exchanges.createPartitions(DAYS_AHEAD);
      await this.exchanges.dropPartitions(this.env.EXCHANGE_RETENTION_DAYS);
      await this.exchanges.indexReferences();
      await this.hours.deleteOld(this.env.EXCHANGE_RETENTION_DAYS);
    } catch (err) {
      this.logger.warn({ err }, 'the partitions of exchanges could not be maintained');
    }
  }
}
