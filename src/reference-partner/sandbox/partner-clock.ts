import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import type { Querying } from '../../database/sql.js';
import { addClockOffset, findClockOffset } from './sandbox.repository.js';

/** The system's clock in milliseconds. The reference partner reads it here only; a test checks this. */
export const systemNow = (): number => Date.now();

/** The time of the reference partner. Each customer has a clock, which the sandbox can move forward. */
@Injectable()
export class PartnerClock {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX'>,
  ) {}

  /** Milliseconds since the epoch. Within a transaction its manager asks: one transaction has one connection. */
  async now(customerId: string, database: Querying = this.dataSource): Promise<number> {
    if (!this.env.SANDBOX) return systemNow();
    return systemNow() + (await findClockOffset(database, customerId));
  }

  /** Moves the clock of a customer forward; returns its time. */
  async advance(manager: EntityManager, customerId: string, milliseconds: number): Promise<number> {
    return systemNow() + (await addClockOffset(manager, customerId, milliseconds));
  }
}
