import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { Pool } from './pool.js';
import { endsConnection, isLostStatement, isTransient } from './postgres-errors.js';
import type { Session, TransactionSettings } from './session.js';
import type { Querying, Rows, Sql, StatementOptions as SessionOptions } from './sql.js';
import type { TypeOrmConnection, TypeOrmDriver } from './typeorm-driver.js';

/** Maximum number of attempts after deadlocks and serialization failures. */
const MAX_ATTEMPTS = 5;

export interface TransactionOptions extends TransactionSettings {
  /** Where the connection comes from; the general pool by default. */
  readonly pool?: Pool;
  readonly attempts?: number;
}

/**
 * Runs `work` in one transaction on one connection and returns its result after the commit. After a deadlock or a
 * serialization failure the whole of `work` runs again: it must have no effect outside the database.
 * It never runs again after a lost connection, because the commit may have succeeded.
 */
export async function inTransaction<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const start = performance.now();
  let hasBegun = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(
        dataSource,
        (manager) => {
          hasBegun = true;
          return work(manager);
        },
        options,
      );
    } catch (error) {
      const canReplace = attempt === 1 && !hasBegun && performance.now() - start < 1000 && endsConnection(error);
      const canRetry = isTransient(error) || isLostStatement(error) || canReplace;
      if (!canRetry || attempt >= (options.attempts ?? MAX_ATTEMPTS)) throw error;
      await delay(Math.random() * 10 * 2 ** attempt);
    }
  }
}

/** Runs `work` on one connection of the general pool. */
export function onConnection<T>(
  dataSource: DataSource,
  work: (session: Session) => Promise<T>,
  options?: SessionOptions,
): Promise<T> {
  return driverOf(dataSource).pool.use(work, options);
}

/** Sends rows to a statement `COPY … FROM STDIN`, in the transaction of `manager` on a pool that is not pipelined. */
export async function copyRows(manager: EntityManager, sql: string, rows: AsyncIterable<string>): Promise<void> {
  await (await sessionOf(manager)).copy(sql, rows);
}

/** The connection of the transaction of `manager`. */
export async function sessionOf(manager: EntityManager): Promise<Session> {
  const connection = (await manager.queryRunner?.connect()) as TypeOrmConnection;
  return connection.session;
}

async function runOnce<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    const connection = await connect(dataSource, runner, options.pool);
    connection.beginWith(options);
    await runner.startTransaction();
    const result = await work(runner.manager);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    // The first error is the one to report.
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

async function connect(dataSource: DataSource, runner: QueryRunner, pool?: Pool): Promise<TypeOrmConnection> {
  const take = () => runner.connect();
  return (await (pool === undefined ? take() : driverOf(dataSource).from(pool, take))) as TypeOrmConnection;
}

const driverOf = (dataSource: DataSource): TypeOrmDriver =>
  (dataSource.options as unknown as { readonly driver: TypeOrmDriver }).driver;

/** The statements of a data source, or of the transaction of a manager, for functions that take `Sql`. */
export function sqlOf(from: Querying): Sql {
  return {
    query: <Row>(text: string, values: readonly unknown[] = []) => from.query<Rows<Row>>(text, [...values]),
    change: async (text, values = []) => (await from.query<[unknown[], number]>(text, [...values]))[1],
  };
}
