import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { Database } from '../../../src/database/database.js';
import type { Lane } from '../../../src/database/lane.js';
import type { ExchangeRow } from '../../../src/exchanges/exchange-row.js';
import { ExchangeWriter } from '../../../src/exchanges/exchange-writer.js';
import { testEnv } from '../../support/env.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

/** The SQL here is about sessions and a table of the tests' own. */
const FIND = 'SELECT n FROM things WHERE n = ANY ($1::int[]) ORDER BY n';
const INSERT = 'INSERT INTO things VALUES ($1)';

// A lane without a service writes to the console.
Logger.overrideLogger(false);

let database: TestDatabase;
let dataSource: DataSource;
let pool: Lane;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect();
  await dataSource.query('CREATE TABLE things (n int PRIMARY KEY)');
  await dataSource.query('INSERT INTO things VALUES (1)');
  pool = new Database(testEnv({ DATABASE_URL: database.url })).hot;
});
afterAll(async () => {
  await pool.close();
  await database.drop();
});

const find = (...numbers: number[]) => findBy(pool, ...numbers);
const findBy = (of: Lane, ...numbers: number[]) =>
  of.use((connection) => connection.query<{ n: number }[]>(FIND, [numbers]));

describe('a lane', () => {
  test('commits a transaction as a whole or not at all', async () => {
    await pool.use((connection) =>
      connection.transaction(async () => {
        await connection.query(INSERT, [10]);
        await connection.query(INSERT, [11]);
      }),
    );
    const broken = pool.use((connection) =>
      connection.transaction(async () => {
        await connection.query(INSERT, [12]);
        await connection.query(INSERT, [10]);
      }),
    );
    await expect(broken).rejects.toMatchObject({ code: '23505' });
    expect(await find(10, 11, 12)).toEqual([{ n: 10 }, { n: 11 }]);
  });

  test('runs several statements in one transaction and returns the rows of the last', async () => {
    expect(await pool.use((connection) => connection.inSequence([INSERT, [20]], [FIND, [[20, 21]]]))).toEqual([
      { n: 20 },
    ]);
    const broken = pool.use((connection) => connection.inSequence([INSERT, [21]], [INSERT, [20]], [FIND, [[21]]]));
    await expect(broken).rejects.toMatchObject({ code: '23505' });
    const rolledBack = pool.use((connection) =>
      connection.transaction(async () => {
        expect(await connection.inSequence([INSERT, [25]], [FIND, [[25]]])).toEqual([{ n: 25 }]);
        throw new Error('after all');
      }),
    );
    await expect(rolledBack).rejects.toThrow('after all');
    expect(await find(20, 21, 25)).toEqual([{ n: 20 }]);
  });

  test('runs a statement again after a serialization failure', async () => {
    await dataSource.query('CREATE SEQUENCE attempts');
    await dataSource.query(`CREATE FUNCTION fail_twice() RETURNS bigint LANGUAGE plpgsql AS $$
      DECLARE attempt bigint := nextval('attempts');
      BEGIN
        IF attempt < 3 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF;
        RETURN attempt;
      END $$`);
    expect(await dataSource.query('SELECT fail_twice()::int AS attempt')).toEqual([{ attempt: 3 }]);
  });

  test('sets what it relies on, and keeps it whatever is reset', async () => {
    const settings = () =>
      pool.use(async (session) => {
        await session.query('DISCARD ALL', []);
        return session.query<unknown[]>(
          "SELECT name, setting FROM pg_settings WHERE name IN ('jit', 'TimeZone', 'plan_cache_mode', 'statement_timeout')",
          [],
        );
      });
    expect(new Set(await settings())).toEqual(
      new Set([
        { name: 'jit', setting: 'off' },
        { name: 'TimeZone', setting: 'UTC' },
        { name: 'plan_cache_mode', setting: 'force_generic_plan' },
        { name: 'statement_timeout', setting: '4000' },
      ]),
    );
  });

  test('options of DATABASE_URL win over its own', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=elsewhere -c jit=on');
    const other = new Database(testEnv({ DATABASE_URL: url.href })).general;
    const shown = await other.use((session) =>
      session.query("SELECT current_setting('search_path') AS path, current_setting('jit') AS jit", []),
    );
    expect(shown).toEqual([{ path: 'elsewhere', jit: 'on' }]);
    await other.close();
  });

  test('runs a statement without preparing it if a pooler has lost it, and prepares again later', async () => {
    const other = new Database(testEnv({ DATABASE_URL: database.url })).hot;
    const preparedBy = () =>
      other.use((session) => session.query('SELECT 1 AS n FROM pg_prepared_statements WHERE statement = $1', [FIND]));
    await findBy(other, 1);
    expect(await preparedBy()).toEqual([{ n: 1 }]);
    await other.use((session) => session.query('DEALLOCATE ALL', []));
    expect(await findBy(other, 1)).toEqual([{ n: 1 }]);
    expect(await findBy(other, 1)).toEqual([{ n: 1 }]);
    expect(await preparedBy()).toEqual([]);
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
    await findBy(other, 1);
    clock.mockRestore();
    expect(await preparedBy()).toEqual([{ n: 1 }]);
    await other.close();
  });
});

describe('a server that stops in the moment in which it accepts a connection', () => {
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const ACCEPTED = message('R', Buffer.alloc(4));
  const READY = message('Z', Buffer.from('I'));
  const fatal = (code: string, text: string) => message('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`));
  const SHUTDOWN = fatal('57P01', 'terminating connection due to administrator command');

  /** A PostgreSQL server that accepts a connection and ends it in the same packet, as one that is being stopped does. */
  let server: Server;
  let connections = 0;
  let env: { DATABASE_URL: string };
  let answer: Buffer;
  /** Whether each connection asked for settings of its session. */
  let asked: boolean[];
  beforeEach(async () => {
    answer = Buffer.concat([ACCEPTED, READY, SHUTDOWN]);
    asked = [];
    server = createServer((socket) => {
      connections++;
      socket.on('error', () => undefined);
      socket.once('data', (startup) => {
        asked.push(startup.includes('haulbridge.session'));
        socket.end(answer);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    env = { DATABASE_URL: `postgres://user@127.0.0.1:${(server.address() as AddressInfo).port}/none` };
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  // An error event without a listener would fail the test, and end the service.
  test.each<[string, (database: Database) => Promise<unknown>]>([
    ['the log of exchanges', (database) => new ExchangeWriter(database).write([{ line: '' } as ExchangeRow])],
    ['the hot path', ({ hot }) => hot.use((session) => session.query('SELECT 1', []))],
  ])('does not end %s', async (_, use) => {
    const own = new Database({ DATABASE_POOL: 1, ...env });
    for (let i = 0; i < 3; i++) await expect(use(own)).rejects.toThrow();
    expect(connections).toBeGreaterThanOrEqual(3);
    await own.onApplicationShutdown();
  });

  // The pooler suite has one that refuses the settings alone.
  test('asks for the settings of sessions again after an outage of a pooler', async () => {
    answer = fatal('08P01', 'query_wait_timeout');
    const own = new Database({ DATABASE_POOL: 1, ...env });
    const read = () => own.hot.use((session) => session.query('SELECT 1', []));
    await expect(read()).rejects.toThrow();
    const before = asked.length;
    await expect(read()).rejects.toThrow();
    expect([asked[0], asked[before]]).toEqual([true, true]);
    await own.onApplicationShutdown();
  });
});
