import { setTimeout as delay } from 'node:timers/promises';
import type { BenchDatabase } from './database.js';
import { type Asked, collectGarbage, type Outcome, push } from './load.js';
import { awaken, processorMs, putToSleep } from './processes.js';
import { report, type Row } from './report.js';
import { median } from './statistics.js';

const CONNECTIONS = [64, 8];
const WARM_UP_SECONDS = 3;
const CATCH_UP_MS = 500;

/** One of the compared servers, and where the names of what it has acknowledged are stored. */
export interface Contender {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly table: string;
  readonly column: string;
}

/** Servers that create something, each under a name of its own; the first one is compared with the others. */
export interface Contest {
  readonly name: string;
  readonly database: BenchDatabase;
  readonly contenders: readonly Contender[];
  readonly next: () => Asked;
  /** Puts all tables back to what they were, which is so many rows each. */
  readonly restore: () => Promise<unknown>;
  readonly stock: number;
  /** Counts what else is wrong with the rows of a table. */
  readonly faults?: Readonly<Record<string, string>>;
}

interface Round {
  readonly perSecond: number;
  readonly serviceMicros: number;
  readonly databaseMicros: number;
}

/** Compares in so many steady rounds, each with measurements of so many seconds. */
export async function compare(contest: Contest, rounds: number, seconds: number): Promise<void> {
  const { name, contenders } = contest;
  for (const contender of contenders) await measure(contest, contender, 64, WARM_UP_SECONDS);
  const rows: Row[] = [['', 'connections', 'a second', 'first ÷ it', 'own CPU µs', 'database CPU µs']];
  const counted: Record<string, readonly Round[]> = {};
  for (const connections of CONNECTIONS) {
    const measurements = contenders.map((one) => () => measure(contest, one, connections, seconds));
    const all = await steadyRounds(rounds, measurements);
    contenders.forEach((contender, i) => {
      const own = all.flatMap((round) => round[i] ?? []);
      const middle = (figure: keyof Round) => median(own.map((round) => round[figure]));
      // Of each round, for what disturbs one contender disturbs its neighbours.
      const ratio = median(all.map((round) => (round[0]?.perSecond ?? NaN) / (round[i]?.perSecond ?? NaN)));
      counted[`${contender.name} ${connections}`] = own;
      rows.push([
        contender.name,
        connections,
        Math.round(middle('perSecond')),
        ratio.toFixed(2),
        middle('serviceMicros'),
        middle('databaseMicros'),
      ]);
    });
  }
  report(name, rows, { rounds: counted });
  console.log('Everything that was acknowledged is stored once; nothing else than 200 was answered.');
}

/** From restored tables, with nothing left to write or to collect from the measurement before, and with nobody else awake. */
async function measure(contest: Contest, contender: Contender, connections: number, seconds: number): Promise<Round> {
  const { database, next, restore } = contest;
  const { name, pid, url, headers, table } = contender;
  // Its timers are overdue then, and are let through first: what it had not finished must not come after the tables are emptied.
  awaken(pid);
  await delay(CATCH_UP_MS);
  await restore();
  await database.client.query('CHECKPOINT');
  collectGarbage();
  const used = () => [processorMs(pid), processorMs(database.pid)] as const;
  const before = used();
  const outcome = await push({ url, headers, connections, seconds, next });
  const after = used();
  await verify(contest, contender, outcome, connections);
  await untilIdle(table, database);
  putToSleep(pid);
  const count = outcome.acknowledged.length;
  const round = {
    perSecond: count / outcome.seconds,
    serviceMicros: ((after[0] - before[0]) * 1000) / count,
    databaseMicros: ((after[1] - before[1]) * 1000) / count,
  };
  console.log(`${name} ${connections}: ${Math.round(round.perSecond)}/s`);
  return round;
}

/** It finishes what was under way when the load ended: suspended within a transaction, it would keep its locks. */
async function untilIdle(table: string, { client }: BenchDatabase): Promise<void> {
  for (let before = ''; ;) {
    const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${table}`);
    const count = rows[0]?.count ?? '';
    if (count === before) return;
    before = count;
    await delay(CATCH_UP_MS);
  }
}

/** Only what was under way when the load ended may be stored without having been acknowledged. */
async function verify(
  { database: { client }, stock, faults = {} }: Contest,
  { name, table, column }: Contender,
  { acknowledged, failures }: Outcome,
  connections: number,
): Promise<void> {
  const [failure] = failures;
  if (failure !== undefined) throw new Error(`${name}: ${failures.length} failures, the first: ${failure}`);
  const { rows } = await client.query<{ name: string }>(`SELECT ${column} AS name FROM ${table}`);
  const stored = new Set(rows.map((row) => row.name));
  const lost = acknowledged.filter((each) => !stored.has(each)).length;
  const double = rows.length - stored.size;
  const unasked = stored.size - stock - new Set(acknowledged).size;
  if (lost > 0 || double > 0 || unasked < 0 || unasked > connections)
    throw new Error(`${name}: ${lost} lost, ${double} double, ${unasked} without a response`);
  const sql = faults[table];
  if (sql === undefined) return;
  const { rows: found } = await client.query<{ wrong: string }>(sql);
  if (found[0]?.wrong !== '0') throw new Error(`${name}: ${found[0]?.wrong} without their history, or the reverse`);
}

/** Maximum ratio of the fastest to the slowest measurement of the processor within one round. */
const MAX_SPREAD = 1.25;

/** Current speed of the processor in loop steps per nanosecond. On a virtual machine it can fall to a quarter. */
function processorSpeed(): number {
  const steps = 2e7;
  const begun = performance.now();
  let value = 1;
  for (let i = 0; i < steps; i++) value = (value * 31 + i) | 0;
  // The result is used, so that the compiler cannot remove the loop.
  return steps / (performance.now() - begun) / (value === 0 ? 1e6 + 1 : 1e6);
}

/**
 * Runs rounds until `count` of them had a steady processor speed from the first to the last measurement; others would
 * compare contenders at different speeds. Stops after `3 * count` rounds.
 */
async function steadyRounds(count: number, measurements: readonly (() => Promise<Round>)[]): Promise<Round[][]> {
  const rounds: Round[][] = [];
  for (let tried = 0; rounds.length < count && tried < 3 * count; tried++) {
    const speeds = [processorSpeed()];
    const round: Round[] = [];
    for (const measurement of measurements) {
      round.push(await measurement());
      speeds.push(processorSpeed());
    }
    const spread = Math.max(...speeds) / Math.min(...speeds);
    if (spread <= MAX_SPREAD) rounds.push(round);
    else console.log(`the speed of the machine changed by a factor of ${spread.toFixed(1)}: this round does not count`);
  }
  if (rounds.length === 0) throw new Error('the speed of the machine was never steady enough to compare');
  return rounds;
}
