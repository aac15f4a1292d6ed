import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { atEnd } from './cleanup.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { collectGarbage, push } from './load.js';
import { awaken, processorMs, putToSleep, ROOT, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse } from './scale-house.js';
import { median } from './statistics.js';
import { steadyRounds } from './steady-rounds.js';

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 3;
const CATCH_UP_MS = 500;

interface Contender {
  readonly name: string;
  readonly run: (seconds: number) => Promise<Measured>;
}

interface Measured {
  readonly perSecond: number;
  readonly serviceMicros: number;
  readonly postgresMicros: number;
  /** The write-ahead log: it does not depend on the load of the machine. */
  readonly logBytes: number;
}

const COLUMNS = [
  ['perSecond', 'tickets/s'],
  ['serviceMicros', 'service µs'],
  ['postgresMicros', 'PostgreSQL µs'],
  ['logBytes', 'log bytes'],
] as const satisfies (readonly [keyof Measured, string])[];

/**
 * New tickets a second of another build, of this one, and of this one with a webhook endpoint that gets each of them, in turns, each with a
 * database of its own on one server; and what each costs. Arguments: the folder of the other build (a clone in which `npm run build` was run), rounds (7),
 * seconds of one measurement (3).
 */
export async function run([folder = '', rounds = '7', seconds = '3']: readonly string[]): Promise<void> {
  if (folder === '') throw new Error('name the folder of the other build');
  const server = await startDatabase();
  const hook = await receiver();
  const contenders = [
    await contender('the other build', server, folder),
    await contender('this build', server, ROOT),
    await contender('with a webhook endpoint', server, ROOT, hook.url),
  ];
  for (const { run: warm } of contenders) await warm(WARM_UP_SECONDS);
  const measurements = contenders.map(
    ({ run: measure }) =>
      () =>
        measure(Number(seconds)),
  );
  const { rounds: counted, dropped } = await steadyRounds(Number(rounds), measurements);
  const of = (i: number, figure: keyof Measured) => counted.map((round) => round[i]?.[figure] ?? NaN);
  const ratio = (i: number, figure: keyof Measured) =>
    median(of(i, figure).map((value, round) => value / (of(0, figure)[round] ?? NaN))).toFixed(3);
  report('against', [
    ['build', ...COLUMNS.flatMap(([, title]) => [title, '÷ other'])],
    ...contenders.map(({ name }, i): Row => {
      return [name, ...COLUMNS.flatMap(([figure]) => [Math.round(median(of(i, figure))), ratio(i, figure)])];
    }),
  ]);
  console.log(`${counted.length} rounds count, ${dropped} do not; ${hook.received()} webhooks were received`);
}

async function contender(name: string, server: BenchDatabase, root: string, hook?: string): Promise<Contender> {
  const database = await beside(server, name.replaceAll(' ', '_'));
  const service = await startService(database, { OUTBOUND_ALLOW_PRIVATE: 'true' }, [], root);
  if (hook !== undefined) await service.admin('POST', '/webhook-endpoints', { url: hook, topics: ['ticket.created'] });
  const { headers, next } = await openScaleHouse(service, database);
  const load = { url: `${service.url}/platform-api/v1/tickets`, headers, connections: CONNECTIONS, next };
  putToSleep(service.pid);
  const written = async () => {
    const { rows } = await server.client.query<{ bytes: string }>("SELECT pg_current_wal_lsn() - '0/0' AS bytes");
    return Number(rows[0]?.bytes);
  };
  return {
    name,
    run: async (seconds) => {
      await database.client.query('TRUNCATE tickets, ticket_revisions');
      await database.client.query('CHECKPOINT');
      awaken(service.pid);
      await delay(CATCH_UP_MS);
      collectGarbage();
      const before = { serviceMs: processorMs(service.pid), postgresMs: processorMs(server.pid), log: await written() };
      const { acknowledged, failures, seconds: took } = await push({ ...load, seconds });
      const serviceMs = processorMs(service.pid) - before.serviceMs;
      const postgresMs = processorMs(server.pid) - before.postgresMs;
      const log = (await written()) - before.log;
      if (failures.length > 0) throw new Error(`${name}: ${failures.length} failures: ${failures[0]}`);
      // It finishes what was under way: suspended within a transaction, it would keep its locks.
      await delay(CATCH_UP_MS);
      const { rows } = await database.client.query<{ n: number }>('SELECT count(*)::int AS n FROM tickets');
      const unasked = (rows[0]?.n ?? 0) - acknowledged.length;
      if (unasked < 0 || unasked > CONNECTIONS) throw new Error(`${name}: ${unasked} more stored than acknowledged`);
      putToSleep(service.pid);
      const count = acknowledged.length;
      return {
        perSecond: count / took,
        serviceMicros: (serviceMs * 1_000) / count,
        postgresMicros: (postgresMs * 1_000) / count,
        logBytes: log / count,
      };
    },
  };
}

/** An empty database on the same server; the service migrates it. */
async function beside({ url, client, ...rest }: BenchDatabase, name: string): Promise<BenchDatabase> {
  await client.query(`CREATE DATABASE ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const itsClient = new pg.Client({ connectionString: own.href });
  await itsClient.connect();
  atEnd(() => itsClient.end());
  return { ...rest, url: own.href, client: itsClient };
}

async function receiver(): Promise<{ readonly url: string; received(): number }> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      count++;
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received: () => count };
}
