import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, QueryFailedError } from 'typeorm';
import { createDataSourceOptions } from '../../../src/database/data-source.js';
import { Database } from '../../../src/database/database.js';
import {
  asDatabaseError,
  isDatabaseUnavailable,
  isTransient,
  isUniqueViolation,
  sqlState,
} from '../../../src/database/postgres-errors.js';
import type { ExchangeRow } from '../../../src/exchanges/exchange-row.js';
import { ExchangeWriter } from '../../../src/exchanges/exchange-writer.js';
import { held } from '../../support/held.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  dataSource = await database.connect(2);
  await dataSource.query('CREATE TABLE things (id int CONSTRAINT pk_things PRIMARY KEY, name text)');
  await dataSource.query('CREATE UNIQUE INDEX uq_things_name ON things (name)');
  await dataSource.query("INSERT INTO things VALUES (1, 'one')");
});
afterAll(() => database.drop());

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error,
  );
const failing = (sql: string) => failureOf(dataSource.query(sql));

function pool(url: string, size = 1): DataSource {
  const one = new DataSource(createDataSourceOptions(new Database({ DATABASE_URL: url, DATABASE_POOL: size })));
  held(async () => one.isInitialized && one.destroy());
  return one;
}

function at(port: number, change: (url: URL) => void = () => undefined): string {
  const url = new URL(database.url);
  url.port = String(port);
  change(url);
  return url.href;
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  held(async () => server.close());
  // A socket whose data nobody reads reports no end.
  server.on('connection', (socket) => held(async () => socket.destroy()));
  return (server.address() as AddressInfo).port;
}

describe('a unique violation', () => {
  test('is recognised by the name of its constraint or index', async () => {
    const error = await failing("INSERT INTO things VALUES (2, 'one')");
    expect(isUniqueViolation(error, 'uq_things_name')).toBe(true);
    expect(isUniqueViolation(error, 'pk_things')).toBe(false);
    expect(isUniqueViolation(await failing('INSERT INTO things VALUES (1)'), 'pk_things')).toBe(true);
    expect(isUniqueViolation(new Error('23505'), 'pk_things')).toBe(false);
    expect(isTransient(error)).toBe(false);
  });
});

describe('the database is unavailable or overloaded', () => {
  test.each([
    ['a terminated connection', 'SELECT pg_terminate_backend(pg_backend_pid())'],
    ['a statement timeout', 'SET LOCAL statement_timeout = 20; SELECT pg_sleep(2)'],
    ['a standby', 'DO $$ BEGIN SET TRANSACTION READ ONLY; INSERT INTO things VALUES (3); END $$'],
    ...['53300', '53200', '57P02', '57P03', '08006', '55P03'].map((state) => [
      `SQLSTATE ${state}`,
      `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${state}'; END $$`,
    ]),
  ])('after %s', async (_, sql) => {
    // Not in the shared pool, which may use the terminated connection once more.
    const one = await pool(database.url).initialize();
    expect(isDatabaseUnavailable(await failureOf(one.query(sql ?? '')))).toBe(true);
    await one.destroy();
  });

  test.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])('after a socket failed by %s', (code) => {
    const failure = asDatabaseError(Object.assign(new Error(`write ${code}`), { code }));
    expect(sqlState(failure)).toBeUndefined();
    for (const error of [failure, new QueryFailedError('SELECT 1', [], failure as Error)]) {
      expect(isDatabaseUnavailable(error)).toBe(true);
    }
  });

  test('if nothing listens', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    expect(isDatabaseUnavailable(await failureOf(pool(at(port)).initialize()))).toBe(true);
  });

  test('if nothing listens when exchanges are written', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    const connections = new Database({ DATABASE_URL: at(port), DATABASE_POOL: 1 });
    const writer = new ExchangeWriter(connections);
    expect(isDatabaseUnavailable(await failureOf(writer.write([{ line: '' } as ExchangeRow])))).toBe(true);
    await connections.onApplicationShutdown();
  });

  test('if its name is unknown', async () => {
    const url = at(5432, (address) => (address.hostname = 'no-such-host.invalid'));
    expect(isDatabaseUnavailable(await failureOf(pool(url).initialize()))).toBe(true);
  });

  test('if it accepts no more connections', async () => {
    await dataSource.query("CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0");
    const url = at(Number(new URL(database.url).port), (address) => (address.username = address.password = 'crowded'));
    expect(isDatabaseUnavailable(await failureOf(pool(url).initialize()))).toBe(true);
    await dataSource.query('DROP ROLE crowded');
  });

  // One test for three waits of 3 to 5 s each.
  test('if it does not answer: no call waits longer than 5.5 s', async () => {
    const start = performance.now();
    for (const error of await Promise.all([neverGreeted(), noFreeConnection(), fallenSilent()])) {
      expect(isDatabaseUnavailable(error)).toBe(true);
    }
    expect(performance.now() - start).toBeLessThan(5500);
  });
});

/** The server accepts the connection and sends nothing. */
async function neverGreeted(): Promise<unknown> {
  const server = createServer();
  const error = await failureOf(pool(at(await listen(server))).initialize());
  server.close();
  return error;
}

/** Every connection of the pool is in use. */
async function noFreeConnection(): Promise<unknown> {
  const one = await pool(database.url).initialize();
  const busy = one.createQueryRunner();
  await busy.connect();
  const error = await failureOf(one.query('SELECT 1'));
  await busy.release();
  expect(await one.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await one.destroy();
  return error;
}

/** An open connection receives no response any more. It must not be used again when the server is back. */
async function fallenSilent(): Promise<unknown> {
  const { port, silence, close } = await proxy();
  const one = await pool(at(port)).initialize();
  silence();
  const error = await failureOf(one.query('SELECT 1'));
  expect(await one.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await one.destroy();
  close();
  return error;
}

test('the time of waiting for a connection is part of the timeout of the statement', async () => {
  const one = await pool(database.url).initialize();
  const busy = one.createQueryRunner();
  await busy.connect();
  const start = performance.now();
  const waiting = failureOf(one.query('SELECT pg_sleep(10)'));
  await delay(1_500);
  await busy.release();
  expect(isDatabaseUnavailable(await waiting)).toBe(true);
  // The server alone would end the statement 4 s after it began.
  expect(performance.now() - start).toBeLessThan(5_000);
  await one.destroy();
});

describe('the database is not unavailable after', () => {
  test.each(['SELECT nonsense', "INSERT INTO things VALUES (1, 'x')", 'SELECT 1 / 0'])('%s', async (sql) => {
    expect(isDatabaseUnavailable(await failing(sql))).toBe(false);
  });

  test('a refused connection of a partner', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    const error = await failureOf(once(connect(port, '127.0.0.1'), 'connect'));
    expect((error as NodeJS.ErrnoException).code).toBe('ECONNREFUSED');
    expect(isDatabaseUnavailable(error)).toBe(false);
  });

  test.each([
    undefined,
    null,
    'ECONNREFUSED',
    new Error('no'),
    Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
  ])('%s', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

/** A proxy in front of the database. While it is silent, it drops all data of its connections. */
async function proxy(): Promise<{ port: number; silence: () => void; close: () => void }> {
  const { hostname, port } = new URL(database.url);
  let open: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data) => void (open.includes(client) && to.write(data)));
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
    open.push(client);
  });
  return { port: await listen(server), silence: () => void (open = []), close: () => server.close() };
}
