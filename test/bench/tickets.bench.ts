import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type BenchDatabase, startDatabase } from './database.js';
import { collectGarbage, type Outcome, push } from './load.js';
import { CREATE_PROMISE_TABLES } from './peers/promises.mjs';
import { CREATE_TABLE } from './peers/upsert.mjs';
import { steadyRounds } from './steady-rounds.js';
import { awaken, processorMs, putToSleep, ROOT, rssMb, type Service, startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse } from './scale-house.js';
import { median, percentile } from './statistics.js';

const CONNECTIONS = [64, 8];
const WARM_UP_SECONDS = 3;
const CATCH_UP_MS = 500;

const TRUNCATE = `TRUNCATE tickets, ticket_revisions, peer_tickets, peer_kept_tickets, peer_revisions, peer_exchanges`;

/** One of the compared servers, and its table of tickets. */
interface Contender {
  readonly name: string;
  readonly pid: number;
  readonly table: string;
  readonly run: (connections: number, seconds: number) => Promise<Outcome>;
}

interface Round {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly serviceMicros: number;
  readonly databaseMicros: number;
}

/**
 * New tickets a second: (a) this service with everything on, (b) a hand-written Fastify with one upsert a request, (c) a
 * hand-written Fastify that keeps the promises of this service, and (a) once more without the exchange log. Arguments: rounds (5), seconds of one measurement (3),
 * the name of one to measure it alone; with `profile` as a fourth its CPU profile is left in data/bench.
 */
export async function run([rounds = '5', seconds = '3', only = '', profile]: readonly string[]): Promise<void> {
  const database = await startDatabase();
  await database.client.query(CREATE_TABLE);
  await database.client.query(CREATE_PROMISE_TABLES);
  const contenders = (await contend(database, profile === 'profile')).filter(
    ({ name }) => only === '' || name === only,
  );
  for (const contender of contenders) await measure(contender, 64, WARM_UP_SECONDS, database);
  const results = new Map<string, Round[]>();
  for (const connections of CONNECTIONS) {
    const measurements = contenders.map((one) => () => measure(one, connections, Number(seconds), database));
    const { rounds: counted, dropped } = await steadyRounds(Number(rounds), measurements);
    if (dropped > 0) console.log(`${connections} connections: ${counted.length} rounds count, ${dropped} do not`);
    contenders.forEach(({ name }, i) => {
      const own = counted.flatMap((round) => round[i] ?? []);
      results.set(`${name} ${connections}`, own);
    });
  }
  report('tickets', tableOf(contenders, results), { rounds: Object.fromEntries(results) });
  console.log(
    'Every ticket that was acknowledged is stored once, with its history; nothing else than 200 was answered.',
  );
}

async function contend(database: BenchDatabase, profile: boolean): Promise<Contender[]> {
  const profiling = ['--cpu-prof', `--cpu-prof-dir=${join(ROOT, 'data', 'bench')}`];
  const service = await startService(database, {}, profile ? profiling : []);
  const house = await openScaleHouse(service, database);
  const peer = await startPeer('fastify-pg.mjs', database.url);
  const keeping = await startPeer('fastify-promises.mjs', database.url);
  const unlogged = await startService(database, { EXCHANGE_LOG: 'off' });
  const { next, headers } = house;
  const hash = createHash('sha256').update(String(headers['platform-api-key'])).digest();
  await database.client.query('INSERT INTO peer_keys (hash, hauler_id) VALUES ($1, $2)', [hash, house.haulerId]);
  const server = (name: string, pid: number, url: string, table: string): Contender => ({
    name,
    pid,
    table,
    run: (connections, seconds) => push({ url, headers, connections, seconds, next }),
  });
  const ours = (name: string, { url, pid }: Service) => server(name, pid, `${url}/platform-api/v1/tickets`, 'tickets');
  return [
    ours('a service', service),
    server('b Fastify + pg', peer.pid, `${peer.url}/tickets`, 'peer_tickets'),
    server('c with the same promises', keeping.pid, `${keeping.url}/tickets`, 'peer_kept_tickets'),
    ours('a without the exchange log', unlogged),
  ];
}

/** From empty tables, with nothing left to write or to collect from the measurement before, and with nobody else awake. */
async function measure(
  { name, pid, table, run }: Contender,
  connections: number,
  seconds: number,
  database: BenchDatabase,
): Promise<Round> {
  // What it had not finished when it was suspended must not come after the tables are emptied.
  await untilAwake(pid);
  await database.client.query(TRUNCATE);
  await database.client.query('CHECKPOINT');
  collectGarbage();
  const used = () => [processorMs(pid), processorMs(database.pid)] as const;
  const before = used();
  const outcome = await run(connections, seconds);
  const after = used();
  await verify(outcome, table, connections, database.client);
  await untilIdle(table, database.client);
  putToSleep(pid);
  const count = outcome.acknowledged.length;
  const round = {
    perSecond: count / outcome.seconds,
    p50: median(outcome.latencies),
    p99: percentile(outcome.latencies, 0.99),
    serviceMicros: ((after[0] - before[0]) * 1000) / count,
    databaseMicros: ((after[1] - before[1]) * 1000) / count,
  };
  console.log(`${name} ${connections}: ${Math.round(round.perSecond)}/s, p99 ${round.p99.toFixed(1)} ms`);
  return round;
}

/** It finishes what was under way when the load ended: suspended within a transaction, it would keep its locks. */
async function untilIdle(table: string, client: pg.Client): Promise<void> {
  for (let before = ''; ;) {
    const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${table}`);
    const count = rows[0]?.count ?? '';
    if (count === before) return;
    before = count;
    await delay(CATCH_UP_MS);
  }
}

/** Its timers are overdue then, and are let through first. */
async function untilAwake(pid: number): Promise<void> {
  awaken(pid);
  await delay(CATCH_UP_MS);
}

/** Counts tickets without their history, or the reverse, of the contenders that promise one. */
const HISTORY_FAULTS: Readonly<Record<string, string>> = {
  tickets: `
    SELECT count(*) AS wrong FROM tickets t FULL JOIN ticket_revisions r ON r.ticket_id = t.id
     WHERE t.id IS NULL OR r.result IS DISTINCT FROM 'created' OR r.body NOT LIKE '%' || t.inbound_number || '%'`,
  peer_kept_tickets: `
    SELECT count(*) AS wrong FROM peer_kept_tickets t FULL JOIN peer_revisions r ON r.ticket_id = t.id
      FULL JOIN peer_exchanges e ON e.request_id = r.request_id AND e.status = 200
     WHERE t.id IS NULL OR e.id IS NULL OR r.body NOT LIKE '%' || t.inbound_number || '%'`,
};

/** Only what was under way when the load ended may be stored without having been acknowledged. */
async function verify(outcome: Outcome, table: string, connections: number, client: pg.Client): Promise<void> {
  const [failure] = outcome.failures;
  if (failure !== undefined) throw new Error(`${outcome.failures.length} failures, the first: ${failure}`);
  const { rows } = await client.query<{ inbound_number: string }>(`SELECT inbound_number FROM ${table}`);
  const stored = new Set(rows.map((row) => row.inbound_number));
  const lost = outcome.acknowledged.filter((name) => !stored.has(name)).length;
  const double = rows.length - stored.size;
  const unasked = stored.size - new Set(outcome.acknowledged).size;
  if (lost > 0 || double > 0 || unasked > connections) {
    throw new Error(`${lost} tickets lost, ${double} double, ${unasked} without a response`);
  }
  const sql = HISTORY_FAULTS[table];
  if (sql === undefined) return;
  const { rows: history } = await client.query<{ wrong: string }>(sql);
  if (history[0]?.wrong !== '0') throw new Error(`${history[0]?.wrong} tickets without their history, or the reverse`);
}

function tableOf(contenders: readonly Contender[], results: ReadonlyMap<string, readonly Round[]>): Row[] {
  const head = [
    '',
    'connections',
    'tickets/s',
    'a ÷ it',
    'p50 ms',
    'p99 ms',
    'own CPU µs',
    'database CPU µs',
    'RSS MB',
  ];
  const rows = CONNECTIONS.flatMap((connections) => {
    const of = (name: string) => results.get(`${name} ${connections}`) ?? [];
    const own = of('a service');
    return contenders.map(({ name, pid }) => {
      const all = of(name);
      const middle = (pick: (round: Round) => number) => median(all.map(pick));
      // Of each round, for what disturbs one contender disturbs its neighbours.
      const ratio = median(all.map(({ perSecond }, i) => (own[i]?.perSecond ?? NaN) / perSecond));
      return [
        name,
        connections,
        Math.round(middle((round) => round.perSecond)),
        ratio.toFixed(2),
        middle((round) => round.p50),
        middle((round) => round.p99),
        middle((round) => round.serviceMicros),
        middle((round) => round.databaseMicros),
        Math.round(rssMb(pid)),
      ];
    });
  });
  return [head, ...rows];
}
