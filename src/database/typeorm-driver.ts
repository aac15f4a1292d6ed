import type { QueryResult } from 'pg';
import type { Pool } from './pool.js';
import type { Session, TransactionSettings } from './session.js';

type Connected = (error: unknown, connection?: TypeOrmConnection, release?: (error?: unknown) => void) => void;

/** What TypeORM needs of pg: a pool. Its connections are sessions of a pool, so that every statement has the same rules. */
export class TypeOrmDriver {
  readonly Pool: new () => object;
  private current: Pool;

  constructor(readonly pool: Pool) {
    this.current = pool;
    const connect = (connected: Connected) => this.connect(connected);
    this.Pool = class {
      on(): void {}

      connect(connected: Connected): void {
        connect(connected);
      }

      end(ended: (error?: unknown) => void): void {
        pool.close().then(() => ended(), ended);
      }
    };
  }

  /** Calls `connect`, which asks TypeORM for a connection, and answers it with one of `pool`. */
  from<T>(pool: Pool, connect: () => T): T {
    this.current = pool;
    try {
      // TypeORM asks its pool before it returns the promise.
      return connect();
    } finally {
      this.current = this.pool;
    }
  }

  private connect(connected: Connected): void {
    const { current } = this;
    current.connect().then((session) => {
      connected(undefined, new TypeOrmConnection(session), () => current.release(session));
    }, connected);
  }
}

/** A connection as TypeORM sees it. */
export class TypeOrmConnection {
  /** For the next transaction. */
  private settings: TransactionSettings | undefined;

  constructor(readonly session: Session) {}

  /** TypeORM begins and ends a transaction by statements. */
  async query(text: string, values?: unknown[]): Promise<QueryResult | undefined> {
    if (text === 'START TRANSACTION') await this.session.begin(this.settings);
    else if (text === 'COMMIT') await this.session.commit();
    else if (text === 'ROLLBACK') await this.session.rollback();
    else return this.session.execute(text, values);
    return undefined;
  }

  beginWith(settings: TransactionSettings): void {
    this.settings = settings;
  }

  /** The next statement on a lost connection fails, so that nobody needs to listen. */
  on(): void {}
  removeListener(): void {}
}

/** Runs a statement and returns the result of pg. */
type Run = (text: string, values?: unknown[]) => Promise<QueryResult>;

/**
 * What TypeORM needs of pg, whose statements `run` runs, so that they have the same rules as all others. TypeORM's own transactions are
 * not available: use `Database.transaction`.
 */
export function driverOver(run: Run): object {
  const connection = {
    query: async (text: string, values?: unknown[]) => {
      if (text.startsWith('START TRANSACTION')) throw new TypeError('TypeORM begins no transactions here');
      return run(text, values);
    },
    // A lost connection fails the statement that it runs.
    on: () => undefined,
    removeListener: () => undefined,
  };
  return {
    Pool: class {
      on(): void {}

      connect(connected: (error: unknown, client: typeof connection, release: () => void) => void): void {
        connected(undefined, connection, () => undefined);
      }

      end(ended: () => void): void {
        ended();
      }
    },
  };
}
