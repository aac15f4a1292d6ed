import { Injectable } from '@nestjs/common';
import type pg from 'pg';

/** The connections of the pool that TypeORM creates and does not show. */
@Injectable()
export class DatabasePool {
  private pool: pg.Pool | undefined;

  /** Returns `driver` with a pool class whose instance this object observes, for TypeORM's option `driver`. */
  observed(driver: typeof pg): typeof pg {
    const register = (pool: pg.Pool) => (this.pool = pool);
    class ObservedPool extends driver.Pool {
      constructor(config?: pg.PoolConfig) {
        super(config);
        register(this);
      }
    }
    // By inheritance: a copy of the properties would load pg's native client.
    return Object.create(driver, { Pool: { value: ObservedPool } }) as typeof pg;
  }

  counts(): { open: number; idle: number; waiting: number } {
    return {
      open: this.pool?.totalCount ?? 0,
      idle: this.pool?.idleCount ?? 0,
      waiting: this.pool?.waitingCount ?? 0,
    };
  }
}
