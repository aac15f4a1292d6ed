import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';

/** The system's clock in milliseconds. The reference partner reads it here only; a test checks this. */
export const systemNow = (): number => Date.now();

/** The time of the reference partner. Each customer has a clock, which the sandbox can move forward. */
@Injectable()
export class PartnerClock {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX'>,
  ) {}

  /** Milliseconds since the epoch. */
  async now(customerId: string): Promise<number> {
    if (!this.env.SANDBOX) return systemNow();
    const [row] = await this.dataSource.query<{ offsetMs: number }[]>(
      'SELECT offset_ms::float8 AS "offsetMs" FROM reference_clocks WHERE customer_id = $1',
      [customerId],
    );
    return systemNow() + (row?.offsetMs ?? 0);
  }

  /** Moves the clock of a customer forward; returns its time. */
  async advance(manager: EntityManager, customerId: string, milliseconds: number): Promise<number> {
    const rows = await manager.query<[{ offsetMs: number }]>(
      `INSERT INTO reference_clocks AS clock VALUES ($1, $2)
       ON CONFLICT (customer_id) DO UPDATE SET offset_ms = clock.offset_ms + excluded.offset_ms
       RETURNING offset_ms::float8 AS "offsetMs"`,
      [customerId, Math.ceil(milliseconds)],
    );
    return systemNow() + rows[0].offsetMs;
  }
}
