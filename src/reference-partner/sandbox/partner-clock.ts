import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { addClockOffset, findClockOffset } from './sandbox.repository.js';

/** The system's clock in milliseconds. The reference partner reads it here only; a test checks this. */
export const systemNow = (): number => Date.now();

/** The time of the reference partner. Each customer has a clock, which the sandbox can move forward. */
@Injectable()
export class PartnerClock {
  constructor(
    private readonly database: Database,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX'>,
  ) {}

  /** Milliseconds since the epoch. `database` is the transaction, if there is one: it has one connection. */
  async now(customerId: string, database: Sql = this.database): Promise<number> {
    if (!this.env.SANDBOX) return systemNow();
    return systemNow() + (await findClockOffset(database, customerId));
  }

  /** Moves the clock of a customer forward; returns its time. */
  async advance(transaction: Sql, customerId: string, milliseconds: number): Promise<number> {
    return systemNow() + (await addClockOffset(transaction, customerId, milliseconds));
  }
}
