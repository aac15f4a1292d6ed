import type pg from 'pg';
import { creations, lists, restock, searches, stock } from './account-book.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { type Asked, type Outcome, push } from './load.js';
import { CREATE_TABLE } from './peers/accounts-table.mjs';
import { processorMs, rssMb, startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median, percentile } from './statistics.js';

const STOCK = 50_000;

/** One of the two that are compared. */
interface Contender {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** Where accounts end up, and under which name. */
  readonly table: { readonly name: string; readonly column: string };
  readonly create: { readonly path: string; readonly headers: Record<string, string> };
  readonly list: { readonly path: string; readonly headers: Record<string, string> };
}

interface Work {
  readonly name: string;
  readonly connections: number;
  readonly next: (contender: Contender) => () => Asked;
  readonly creates?: boolean;
}

const WORKS: readonly Work[] = [
  { name: 'create', connections: 64, next: creations, creates: true },
  { name: 'create', connections: 8, next: creations, creates: true },
  { name: 'search', connections: 8, next: ({ list }) => searches(list.path, STOCK) },
  { name: 'list', connections: 8, next: ({ list }) => lists(list.path, STOCK) },
];

interface Round {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly ownMicros: number;
  readonly databaseMicros: number;
}

/**
 * Accounts among 50,000 of them: (a) this service with everything on, (b) a hand-written Fastify + pg with trigrams.
 * Lists and searches are of the admin API, which is the one that has them. Arguments: rounds (5), seconds of one measurement (2).
 */
export async function run([rounds = '5', seconds = '2']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  await database.client.query(CREATE_TABLE);
  const contenders = await contend(database);
  const results = new Map<string, Round[]>();
  for (let round = 0; round <= Number(rounds); round++) {
    for (const work of WORKS) {
      for (const contender of contenders) {
        const measured = await measure(contender, work, Number(seconds), database);
        // The first round warms both up.
        if (round > 0) results.set(keyOf(contender, work), [...(results.get(keyOf(contender, work)) ?? []), measured]);
      }
    }
  }
  report('accounts', tableOf(contenders, results), { rounds: Object.fromEntries(results) });
  console.log(
    'Every account that was acknowledged is stored once; every search found its one account, every page its twenty.',
  );
}

async function contend(database: BenchDatabase): Promise<Contender[]> {
  const service = await startService(database);
  const { id: haulerId } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Bench' });
  await stock(database, haulerId, STOCK);
  const { key } = await service.admin<{ key: string }>('POST', '/api-keys', { haulerId, interfaces: ['account'] });
  const peer = await startPeer('fastify-accounts.mjs', database.url);
  return [
    {
      ...service,
      name: 'a service',
      table: { name: 'accounts', column: 'account_name' },
      create: {
        path: '/platform-api/v1/accounts',
        headers: { 'platform-api-key': key },
      },
      list: { path: '/admin/v1/accounts', headers: { authorization: `Bearer ${service.adminToken}` } },
    },
    {
      ...peer,
      name: 'b Fastify + pg',
      table: { name: 'peer_accounts', column: 'name' },
      create: { path: '/accounts', headers: {} },
      list: { path: '/accounts', headers: {} },
    },
  ];
}

async function measure(contender: Contender, work: Work, seconds: number, database: BenchDatabase): Promise<Round> {
  const { name, connections, next, creates = false } = work;
  await restock(database.client);
  const { path, headers } = creates ? contender.create : contender.list;
  const used = () => [processorMs(contender.pid), processorMs(database.pid)] as const;
  const before = used();
  const outcome = await push({
    url: contender.url + path,
    headers,
    connections,
    seconds,
    method: creates ? 'POST' : 'GET',
    next: next(contender),
  });
  const after = used();
  const [failure] = outcome.failures;
  if (failure !== undefined) throw new Error(`${name}: ${outcome.failures.length} failures, the first: ${failure}`);
  if (creates) await verify(outcome, contender, connections, database.client);
  const count = outcome.acknowledged.length;
  const round = {
    perSecond: count / outcome.seconds,
    p50: median(outcome.latencies),
    p99: percentile(outcome.latencies, 0.99),
    ownMicros: ((after[0] - before[0]) * 1000) / count,
    databaseMicros: ((after[1] - before[1]) * 1000) / count,
  };
  console.log(
    `${contender.name} ${name} ${connections}: ${Math.round(round.perSecond)}/s, p99 ${round.p99.toFixed(1)} ms`,
  );
  return round;
}

/** Only what was under way when the load ended may be stored without having been acknowledged. */
async function verify({ acknowledged }: Outcome, { table }: Contender, connections: number, client: pg.Client) {
  const { rows } = await client.query<{ name: string }>(`SELECT ${table.column} AS name FROM ${table.name}`);
  const stored = new Set(rows.map(({ name }) => name));
  const lost = acknowledged.filter((name) => !stored.has(name)).length;
  const double = rows.length - stored.size;
  const unasked = stored.size - STOCK - new Set(acknowledged).size;
  if (lost > 0 || double > 0 || unasked < 0 || unasked > connections) {
    throw new Error(`${lost} accounts lost, ${double} double, ${unasked} without a response`);
  }
}

const keyOf = ({ name }: Contender, work: Work) => `${name} ${work.name} ${work.connections}`;

function tableOf(contenders: readonly Contender[], results: ReadonlyMap<string, readonly Round[]>): Row[] {
  const head = [
    '',
    '',
    'connections',
    'a second',
    'a ÷ it',
    'p50 ms',
    'p99 ms',
    'own CPU µs',
    'database CPU µs',
    'RSS MB',
  ];
  const rows = WORKS.flatMap((work) => {
    const own = contenders[0] === undefined ? [] : (results.get(keyOf(contenders[0], work)) ?? []);
    return contenders.map((contender) => {
      const all = results.get(keyOf(contender, work)) ?? [];
      const middle = (pick: (round: Round) => number) => median(all.map(pick));
      // Of each round, for what disturbs one contender disturbs its neighbour.
      const ratio = median(all.map(({ perSecond }, i) => (own[i]?.perSecond ?? NaN) / perSecond));
      return [
        work.name,
        contender.name,
        work.connections,
        Math.round(middle((round) => round.perSecond)),
        ratio.toFixed(2),
        middle((round) => round.p50),
        middle((round) => round.p99),
        middle((round) => round.ownMicros),
        middle((round) => round.databaseMicros),
        Math.round(rssMb(contender.pid)),
      ];
    });
  });
  return [head, ...rows];
}
