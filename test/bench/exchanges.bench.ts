import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { atEnd } from './cleanup.js';
import { copyExchanges, exchangeId, numberedId } from './copied-exchanges.js';
import { collectGarbage, push } from './load.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { processorMs, type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse, type ScaleHouse } from './scale-house.js';
import { median } from './statistics.js';
import type { Reference, ReferenceKind } from '../../src/contracts/common/references.js';
import type { ExchangeFilter } from '../../src/exchanges/exchange-list.sql.js';
import { ExchangesRepository } from '../../src/exchanges/exchanges.repository.js';
import { createExchangeDays, daysAgo, queryingOf } from '../support/exchange-days.js';

const CONNECTIONS = 64;
const PAGE = 21;
const REPEATS = 5;

interface Round {
  readonly perSecond: number;
  readonly serviceMicros: number;
  readonly databaseMicros: number;
}

/**
 * The cost of the log of exchanges: tickets at 64 connections with and without it, in turns; then its size and the time of
 * its queries. Arguments: rounds (5; 0 measures
 * the queries alone), seconds of one measurement (3), stored exchanges (200000).
 */
export async function run([rounds = '5', seconds = '3', stored = '200000']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const services = {
    all: await startService(database, { EXCHANGE_LOG: 'all' }),
    off: await startService(database, { EXCHANGE_LOG: 'off' }),
  };
  const house = await openScaleHouse(services.all, database);
  const results: Record<keyof typeof services, Round[]> = { all: [], off: [] };
  for (let round = -1; round < Number(rounds); round++) {
    const order = round % 2 === 0 ? (['all', 'off'] as const) : (['off', 'all'] as const);
    for (const name of order) {
      const measured = await measure(services[name], house, Number(seconds), database);
      // The first round warms up.
      if (round >= 0) results[name].push(measured);
    }
  }
  // The exchanges that are copied below.
  await measure(services.all, house, 0.5, database);
  const ratio = median(results.all.map(({ perSecond }, i) => perSecond / (results.off[i]?.perSecond ?? NaN)));
  const [kept, lost] = await counts(services.all);
  const rows = (Object.keys(results) as (keyof typeof results)[]).map((name): Row => {
    const middle = (pick: (round: Round) => number) => Math.round(median(results[name].map(pick)));
    const micros = [middle((round) => round.serviceMicros), middle((round) => round.databaseMicros)];
    return [name, middle((round) => round.perSecond), ...micros];
  });
  report('exchanges', [['EXCHANGE_LOG', 'tickets/s', 'service CPU µs', 'database CPU µs'], ...rows], {
    results,
    ratio,
  });
  console.log(`with it ÷ without it: ${ratio.toFixed(3)}; exchanges written ${kept}, lost ${lost}`);
  await services.all.stop();
  await services.off.stop();
  await measureStored(database, house, Number(stored));
}

async function measure(
  service: Service,
  { headers, next }: ScaleHouse,
  seconds: number,
  { client, pid: databasePid }: BenchDatabase,
): Promise<Round> {
  const { url, pid } = service;
  await client.query('TRUNCATE tickets, ticket_revisions, exchanges');
  await client.query('CHECKPOINT');
  collectGarbage();
  const used = () => [processorMs(pid), processorMs(databasePid)] as const;
  const before = used();
  const outcome = await push({
    url: `${url}/platform-api/v1/tickets`,
    headers,
    connections: CONNECTIONS,
    seconds,
    next,
  });
  if (outcome.failures.length > 0) throw new Error(`failures, the first: ${outcome.failures[0]}`);
  // What waits to be written is part of the cost.
  await untilWritten(service);
  const after = used();
  const count = outcome.acknowledged.length;
  return {
    perSecond: count / outcome.seconds,
    serviceMicros: ((after[0] - before[0]) * 1000) / count,
    databaseMicros: ((after[1] - before[1]) * 1000) / count,
  };
}

async function untilWritten(service: Service): Promise<void> {
  for (let before = -1; ;) {
    const [written, lost] = await counts(service);
    if (written + lost === before) return;
    before = written + lost;
    await delay(1_000);
  }
}

async function counts({ url, adminToken }: Service): Promise<[number, number]> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
  const text = await response.text();
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  return [sum('exchanges_written_total'), sum('exchanges_lost_total')];
}

const DAY_MS = 86_400_000;
/** Of all exchanges: nine in ten are inbound pushes, one is an outbound call of Vision; one in fifty failed. */
const SMALL_SHARE = 10_000;

/**
 * Copies of a real push over three days. Half belong to one hauler, one in ten thousand to a small one, and the others to
 * 100 haulers. All haulers use the same sites and the same camera name, so that a pair of filters is selective only together.
 */
async function measureStored({ client, url }: BenchDatabase, { haulerId }: ScaleHouse, count: number): Promise<void> {
  const otherHauler = '00000000-0000-4000-9000-000000000001';
  const smallHauler = numberedId('00000000-0000-4000-8000-', 1);
  const otherKey = numberedId('00000000-0000-4000-8000-', 2);
  const ownConnection = numberedId('00000000-0000-4000-8000-', 3);
  const otherConnection = numberedId('00000000-0000-4000-8000-', 4);
  await client.query(`INSERT INTO haulers (id, name) VALUES ($1, 'Another hauler')`, [otherHauler]);
  await client.query(
    `INSERT INTO api_keys (id, hash, prefix, hauler_id, interfaces, created_at) VALUES ($1, $2, 'hb_00000000', $3, '{scale}', now())`,
    [otherKey, Buffer.alloc(32, 1), otherHauler],
  );
  for (const [id, owner] of [
    [ownConnection, haulerId],
    [otherConnection, otherHauler],
  ]) {
    await client.query(
      `INSERT INTO connections (hauler_id, id, interface, base_url, sealed_key, customer_id, interval_seconds, enabled, created_at, updated_at)
       VALUES ($1, $2, 'vision', 'https://partner.example', '', 'customer', 300, false, now(), now())`,
      [owner, id],
    );
  }
  const [sample] = (
    await client.query<Record<string, string | number | boolean | null>>('SELECT * FROM exchanges ORDER BY id LIMIT 1')
  ).rows;
  if (sample === undefined) throw new Error('there is no exchange to copy');
  const haulers = Array.from({ length: 100 }, (_, i) => numberedId('00000000-0000-4000-9000-', i));
  const midnight = Date.now() - (Date.now() % DAY_MS) - 2 * DAY_MS;
  await createExchangeDays(queryingOf(client), daysAgo(2), daysAgo(0));
  await client.query('TRUNCATE exchanges');
  await copyExchanges(client, count, (i) => {
    const id = exchangeId(midnight + (i * 3 * DAY_MS) / count, i);
    const others = haulers[Math.floor(i / 20) % haulers.length] ?? '';
    const owner = i % SMALL_SHARE === 0 ? smallHauler : i % 20 < 10 ? haulerId : others;
    const isRefused = i % 50 === 7;
    const outcome = { status: isRefused ? 422 : 200, error_code: isRefused ? 'VALIDATION_ERROR' : null };
    if (i % 10 === 9) {
      const connection = owner === haulerId ? ownConnection : owner === otherHauler ? otherConnection : null;
      const call = { direction: 'outbound', interface: 'vision', route: 'listVideos', connection_id: connection };
      const references: Reference[] = [
        { kind: 'truckId', value: `TRUCK-${id.slice(32, 35)}` },
        { kind: 'cameraId', value: 'front' },
      ];
      if (owner !== haulerId) references.push({ kind: 'cameraId', value: 'rear' });
      const columns = { ...sample, ...outcome, ...call, api_key_id: null, request_id: null };
      return { id, haulerId: owner, references, columns };
    }
    const references: Reference[] = [
      { kind: 'ticketNumber', value: `IN-${id.slice(-7)}` },
      { kind: 'ticketId', value: id },
      { kind: 'siteId', value: `site-${id.slice(-1)}` },
      { kind: 'materialId', value: `material-${id.slice(34)}` },
    ];
    const key = owner === haulerId ? sample['api_key_id'] : owner === otherHauler ? otherKey : null;
    const requestId = numberedId('00000000-0000-4000-a000-', i);
    const columns = { ...sample, ...outcome, api_key_id: key, request_id: requestId };
    return { id, haulerId: owner, references, columns };
  });
  await client.query('ANALYZE exchanges');
  const { rows: size } = await client.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_partition_tree('exchanges')`,
  );
  const bytes = Number(size[0]?.bytes);
  const { rows } = await client.query<{ id: string; request_id: string; api_key_id: string }>(
    'SELECT id, request_id, api_key_id FROM exchanges WHERE hauler_id = $1 AND request_id IS NOT NULL LIMIT 1',
    [haulerId],
  );
  const { id = '', request_id: requestId, api_key_id: ownKey } = rows[0] ?? {};
  const reference = (kind: ReferenceKind, value: string): ExchangeFilter => ({ reference: { kind, value } });
  const filters: Readonly<Record<string, ExchangeFilter>> = {
    none: {},
    'direction inbound': { direction: 'inbound' },
    'direction outbound': { direction: 'outbound' },
    'interface vision': { interface: 'vision' },
    'interface without any': { interface: 'account' },
    'status 200': { status: [200, 200] },
    'status 422': { status: [422, 422] },
    'status 4xx': { status: [400, 499] },
    'status 5xx, without any': { status: [500, 599] },
    'status none, without any': { status: [0, 0] },
    'error code': { errorCode: 'VALIDATION_ERROR' },
    'request id': { requestId },
    'API key of the first hauler': { apiKeyId: ownKey },
    'API key of another hauler': { apiKeyId: otherKey },
    'connection of the first hauler': { connectionId: ownConnection },
    'connection of another hauler': { connectionId: otherConnection },
    'ticket number': reference('ticketNumber', `IN-${id.slice(-7)}`),
    'ticket id': reference('ticketId', id),
    'site of all haulers': reference('siteId', 'site-3'),
    'material of all haulers': reference('materialId', 'material-a1'),
    'truck name': reference('truckId', 'TRUCK-0a1'),
    'camera name of all haulers': reference('cameraId', 'front'),
    'site without any': reference('siteId', 'site-of-nobody'),
    'camera name of the other haulers': reference('cameraId', 'rear'),
    'one hour': { from: midnight, to: midnight + 3_600_000 },
  };
  // The default of PostgreSQL, which compiles what it believes to be expensive.
  const withJit = `${url}?options=${encodeURIComponent('-c jit=on')}`;
  const dataSource = await new DataSource(
    createDataSourceOptions(new Database({ DATABASE_URL: withJit, DATABASE_POOL: 2 })),
  ).initialize();
  atEnd(() => dataSource.destroy());
  const exchanges = new ExchangesRepository(dataSource);
  await exchanges.indexReferences();
  const timed = async (filter: ExchangeFilter): Promise<number> => {
    const times: number[] = [];
    for (let i = 0; i < REPEATS; i++) {
      const started = performance.now();
      await exchanges.find(filter, PAGE);
      times.push(performance.now() - started);
    }
    return median(times);
  };
  const table: Row[] = [];
  for (const [name, filter] of Object.entries(filters)) {
    const times = [filter, { ...filter, haulerId }, { ...filter, haulerId: smallHauler }].map(
      (each) => () => timed(each),
    );
    const cells: string[] = [];
    for (const run of times) cells.push((await run()).toFixed(1));
    table.push([name, ...cells]);
  }
  report('exchange-queries', [['filter', 'alone, ms', 'with a large hauler', 'with a small hauler'], ...table], {
    count,
    bytes,
  });
  console.log(`${count} exchanges: ${(bytes / count / 1000).toFixed(2)} GB per million`);
}
