import pg from 'pg';
import { PoolClient, STATEMENT_TIMEOUT_MS } from './pool-client.js';

/** However long somebody waited, a statement gets this: a process that was paused may have waited for ever. */
const LEAST_MS = 1000;

type Lend = Parameters<pg.Pool['connect']>[0];

/**
 * A pool whose callers can be answered within five seconds (decision 13): what one waits for a connection is taken off
 * the time of its statements. That is set whenever one is lent, whatever whoever had it before was allowed.
 */
class TimelyPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(lend: Lend): void;
  override connect(lend?: Lend): Promise<pg.PoolClient> | void {
    const asked = performance.now();
    if (lend === undefined) return super.connect().then((client) => limited(client, asked));
    super.connect((error, client, release) => lend(error, client && limited(client, asked), release));
  }
}

function limited<Client>(client: Client, asked: number): Client {
  const left = STATEMENT_TIMEOUT_MS - (performance.now() - asked);
  if (client instanceof PoolClient) client.allow(Math.max(left, LEAST_MS));
  return client;
}

/** pg with this pool, for TypeORM, which makes its own. By inheritance: to copy what pg has would load its native form. */
export const timelyPg = Object.create(pg, { Pool: { value: TimelyPool } }) as typeof pg;
