import type { ClientBase } from 'pg';
import type { DataSource } from 'typeorm';
import { PoolClient } from './pool-client.js';
import { isLostStatement, isUnknownStatement } from './postgres-errors.js';

/** How long a cached plan is trusted, in milliseconds: the table that it was made for may have been nearly empty. */
const PLAN_LIFE_MS = 1000;

/** When the cached plans of a connection were last thrown away. */
const plannedAt = new WeakMap<ClientBase, number>();

/** The name of each prepared statement, by its text. */
const names = new Map<string, string>();

/** False once a pooler in between has turned out to hand statements to other server connections than it prepared them on. */
let preparing = true;

/** Lends one of the ordinary pool's connections to `work`, for statements that are run over and over. */
export async function onConnection<T>(
  dataSource: DataSource,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    return await withClient((await runner.connect()) as ClientBase, work);
  } finally {
    await runner.release();
  }
}

/** Runs `work` on a client that is lent to it; what it has sent is answered when this resolves. */
export async function withClient<T>(client: ClientBase, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = new Connection(client);
  connection.refreshPlans();
  try {
    return await work(connection);
  } finally {
    await connection.quiet();
  }
}

/**
 * One connection, for plain SQL in prepared statements. Statements that are sent without waiting for one another travel
 * together and are answered in their order.
 */
export class Connection {
  private last: Promise<unknown> = Promise.resolve();
  private inTransaction = false;

  constructor(private readonly client: ClientBase) {}

  /** The rows. `sql` must be one of a fixed set of texts: each is prepared once and stays so. */
  async query<Rows>(sql: string, parameters: unknown[]): Promise<Rows> {
    const statement = { text: sql, values: parameters, ...(preparing ? { name: nameOf(sql) } : {}) };
    try {
      const { rows } = await this.send(this.client.query(statement));
      return rows as Rows;
    } catch (error) {
      if (isSwapped(error, this.client, sql)) preparing = false;
      throw error;
    }
  }

  /** Runs `work` in one transaction (READ COMMITTED), in the one under way if there is one; its result is given after the commit. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    if (this.inTransaction) return work();
    await this.send(this.client.query('BEGIN'));
    this.inTransaction = true;
    try {
      const result = await work();
      await this.send(this.client.query('COMMIT'));
      return result;
    } catch (error) {
      // The first error is the one that counts; on a lost connection there is nothing to roll back.
      await this.send(this.client.query('ROLLBACK')).catch(() => undefined);
      throw error;
    } finally {
      this.inTransaction = false;
    }
  }

  /**
   * The rows of the last of some statements of one transaction, none of which needs what those before it answer; of the
   * transaction under way if there is one.
   */
  async inOneGo<Rows>(...statements: readonly Statement[]): Promise<Rows> {
    if (this.inTransaction) return (await Promise.all(this.queryAll(statements))).at(-1) as Rows;
    // Where one fails the server passes over the rest, and the commit rolls back.
    const begun = this.send(this.client.query('BEGIN'));
    const answers = this.queryAll(statements);
    await Promise.all([begun, ...answers, this.send(this.client.query('COMMIT'))]);
    return (await answers.at(-1)) as Rows;
  }

  /** Resolves when nothing is under way: answers come in order, so the last one tells. */
  async quiet(): Promise<void> {
    await this.last;
  }

  /** Has plans made anew now and then; the command travels with the statement that follows it. */
  refreshPlans(): void {
    const now = performance.now();
    const last = plannedAt.get(this.client);
    if (last !== undefined && now - last < PLAN_LIFE_MS) return;
    plannedAt.set(this.client, now);
    if (last !== undefined) void this.send(this.client.query('DISCARD PLANS'));
  }

  private queryAll(statements: readonly Statement[]): Promise<unknown>[] {
    return statements.map(([sql, parameters]) => this.query<unknown>(sql, parameters));
  }

  private send<T>(answer: Promise<T>): Promise<T> {
    this.last = answer.catch(() => undefined);
    return answer;
  }
}

/** Plain SQL, one of a fixed set of texts, and its parameters. */
export type Statement = readonly [sql: string, parameters: unknown[]];

/** A connection that others use as well: between any two calls something of theirs may come. */
export type SharedConnection = Pick<Connection, 'query' | 'inOneGo'>;

/**
 * Whether a pooler has handed this statement to another server connection. Where the server has never confirmed that it
 * prepared the statement, it is unknown for another reason: the query before, which was to prepare it, has failed.
 */
function isSwapped(error: unknown, client: ClientBase, sql: string): boolean {
  return isLostStatement(error) && (!isUnknownStatement(error) || PoolClient.hasPrepared(client, nameOf(sql)));
}

function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `hb_${names.size}`;
    names.set(sql, name);
  }
  return name;
}
