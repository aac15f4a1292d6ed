import { setTimeout as delay } from 'node:timers/promises';
import { collectGarbage, push } from './load.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { processorMs, type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse, type ScaleHouse } from './scale-house.js';
import { median } from './statistics.js';
import { listSql, type ExchangeFilter } from '../../src/exchanges/exchanges.repository.js';

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
 * its queries. Arguments: rounds (5), seconds of one measurement (3), stored exchanges (200000).
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
  await client.query('TRUNCATE tickets, ticket_revisions, exchanges, exchange_references');
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

/** Copies of real exchanges over two days, most of them of one hauler; one in fifty is a failure. */
async function measureStored({ client }: BenchDatabase, { haulerId }: ScaleHouse, count: number): Promise<void> {
  const columns = `request_bytes, response_bytes, duration_ms, request_form, response_form, in_revision, direction,
    interface, route, method, path, key_prefix, result, request_headers, response_headers, response_body`;
  const at = (i: string) =>
    `(substr(t.hex, 1, 8) || '-' || substr(t.hex, 9, 4) || '-7' || lpad(to_hex(${i} % 4096), 3, '0') || '-8000-' || lpad(to_hex(${i}), 12, '0'))::uuid`;
  const hex = `lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint + (i * 3600000.0 / ${count})::bigint), 12, '0')`;
  await client.query('CREATE TEMP TABLE sample AS SELECT * FROM exchanges ORDER BY id LIMIT 1');
  await client.query('TRUNCATE exchanges, exchange_references');
  await client.query(
    `INSERT INTO exchanges (id, hauler_id, api_key_id, status, error_code, request_id, refs, ${columns})
     SELECT ${at('t.i')}, CASE WHEN t.i % 10 = 0 THEN gen_random_uuid() ELSE $2::uuid END, s.api_key_id,
       CASE WHEN t.i % 50 = 0 THEN 422 ELSE 200 END, CASE WHEN t.i % 50 = 0 THEN 'VALIDATION_ERROR' END,
       gen_random_uuid()::text, s.refs, ${columns}
     FROM (SELECT i, ${hex} AS hex FROM generate_series(1, $1::int) AS i) AS t CROSS JOIN sample s`,
    [count, haulerId],
  );
  await client.query(
    `INSERT INTO exchange_references (exchange_id, kind, value)
     SELECT e.id, r.kind, CASE r.kind WHEN 'siteId' THEN 'site-' || (right(e.id::text, 1)) ELSE r.kind || e.id END
     FROM exchanges e CROSS JOIN (VALUES ('ticketNumber'), ('ticketId'), ('siteId'), ('materialId')) AS r (kind)`,
  );
  await client.query('ANALYZE exchanges');
  await client.query('ANALYZE exchange_references');
  const { rows: size } = await client.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_partition_tree('exchanges')
      UNION ALL SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('exchange_references')`,
  );
  const bytes = size.reduce((sum, row) => sum + Number(row.bytes), 0);
  const { rows } = await client.query<{ id: string; request_id: string }>(
    'SELECT id, request_id FROM exchanges LIMIT 1',
  );
  const filters: Record<string, ExchangeFilter> = {
    'no filter': {},
    hauler: { haulerId },
    'hauler, direction without any': { haulerId, direction: 'outbound' },
    'hauler, interface without any': { haulerId, interface: 'vision' },
    'hauler, status 4xx': { haulerId, status: [400, 499] },
    'hauler, status 5xx': { haulerId, status: [500, 599] },
    'hauler, error code': { haulerId, errorCode: 'VALIDATION_ERROR' },
    'hauler, site': { haulerId, reference: { kind: 'siteId', value: 'site-3' } },
    'ticket number': { reference: { kind: 'ticketNumber', value: `ticketNumber${rows[0]?.id}` } },
    'request id': { requestId: rows[0]?.request_id },
    'status none': { status: [0, 0] },
  };
  const table: Row[] = [];
  for (const [name, filter] of Object.entries(filters)) {
    const times: number[] = [];
    for (let i = 0; i < REPEATS; i++) {
      const { sql, parameters } = listSql(filter, PAGE);
      const started = performance.now();
      await client.query(sql, parameters);
      times.push(performance.now() - started);
    }
    table.push([name, median(times).toFixed(1)]);
  }
  report('exchange-queries', [['filter', 'ms'], ...table], { count, bytes });
  console.log(`${count} exchanges: ${(bytes / count / 1000).toFixed(2)} GB per million`);
}
