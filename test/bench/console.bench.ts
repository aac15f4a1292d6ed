import type { Page } from 'playwright-core';
import { startBrowser } from '../support/browser.js';
import { atEnd } from './cleanup.js';
import type { Reference } from '../../src/contracts/common/references.js';
import { copyExchanges, exchangeId } from './copied-exchanges.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median } from './statistics.js';
import { createExchangeDays, daysAgo, queryingOf } from '../support/exchange-days.js';

const REPEATS = 5;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BIG_TRUCK = 'TRUCK-0500';

interface Fleet {
  readonly haulerId: string;
  readonly connectionId: string;
}

interface View {
  readonly name: string;
  readonly path: string;
  /** Visible when the page shows its data. */
  readonly shown: string;
}

/**
 * Every page of the console with a large data set, in a real browser: the time from opening its address until its data is
 * visible. Arguments: trucks (1000), days of coverage (365), recordings of a day and truck (8), recordings of one truck
 * besides (1000000), exchanges of 14 days (1000000).
 */
export async function run(sizes: readonly string[]): Promise<void> {
  const [trucks = 1_000, days = 365, daily = 8, big = 1_000_000, exchanges = 1_000_000] = sizes.map(Number);
  const database = await startDatabase();
  const service = await startService(database, {
    OUTBOUND_ALLOW_PRIVATE: 'true',
    SANDBOX: 'true',
    DATABASE_POOL: '20',
  });
  const fleet = await createFleet(service);
  await timed('recordings', () => seedRecordings(database, fleet, { trucks, days, daily, big }));
  await timed('exchanges', () => seedExchanges(database, fleet, exchanges));
  await timed('vacuum', () => database.client.query('VACUUM ANALYZE recordings, exchanges'));
  const browser = await startBrowser(database.folder);
  atEnd(() => browser.close());
  const page = await browser.newPage({ baseURL: service.url });
  await signIn(page, service);
  const rows: Row[] = [['page', 'median ms', 'slowest ms']];
  for (const view of viewsOf(fleet)) {
    const took: number[] = [];
    for (let round = 0; round < REPEATS; round++) took.push(await open(page, view));
    rows.push([view.name, Math.round(median(took)), Math.round(Math.max(...took))]);
  }
  report('console', rows);
  await service.stop();
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now();
  await work();
  console.log(`seeded ${name} in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
}

async function createFleet(service: Service): Promise<Fleet> {
  const { id: haulerId } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Large fleet' });
  const connection = { haulerId, interface: 'vision', baseUrl: service.url, apiKey: 'k', enabled: false };
  const { id: connectionId } = await service.admin<{ id: string }>('POST', '/connections', connection);
  return { haulerId, connectionId };
}

interface RecordingSizes {
  readonly trucks: number;
  readonly days: number;
  readonly daily: number;
  readonly big: number;
}

/** Of two cameras per truck, one day in ten not stored. The recordings of the one large truck follow each other closely. */
async function seedRecordings({ client }: BenchDatabase, fleet: Fleet, sizes: RecordingSizes): Promise<void> {
  const perCamera = sizes.daily / 2;
  // Statement triggers count the rows by day; one statement for each part keeps their transition tables small.
  const insert = (truck: string, length: string, from: string) =>
    client.query(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, fetch_by, stored_at, created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, 'continuous', n::text, 'fleet', ${truck}, camera, at, at + ${length},
         extract(epoch FROM ${length}), CASE WHEN ok THEN 'stored' ELSE 'expired' END, at, CASE WHEN ok THEN at END, at, at
       ${from}`,
      [fleet.haulerId, fleet.connectionId],
    );
  await client.query('SET synchronous_commit = off');
  const length = `interval '1 day' / ${perCamera}`;
  for (let first = 0; first < sizes.trucks; first += 100) {
    await insert(
      `'TRUCK-' || lpad(truck::text, 4, '0')`,
      length,
      `FROM generate_series(${first}, ${Math.min(first + 100, sizes.trucks) - 1}) AS truck,
         unnest(ARRAY['front', 'rear']) AS camera, generate_series(0, ${sizes.days * perCamera - 1}) AS n,
         LATERAL (SELECT date_trunc('day', now()) + interval '1 day' - (n + 1) * ${length} AS at) AS times,
         LATERAL (SELECT (n / ${perCamera} + truck) % 10 <> 0 AS ok) AS states`,
    );
  }
  const step = `interval '30 seconds'`;
  for (let first = 0; first < sizes.big; first += 250_000) {
    await insert(
      `'${BIG_TRUCK}'`,
      step,
      `FROM (SELECT 'side' AS camera) AS cameras, generate_series(${first}, ${Math.min(first + 250_000, sizes.big) - 1}) AS n,
         LATERAL (SELECT date_trunc('hour', now()) - (n + 1) * ${step} AS at, n % 97 <> 0 AS ok) AS times`,
    );
  }
}

const PUSH = {
  request_bytes: 412,
  response_bytes: 230,
  duration_ms: 4.2,
  request_form: 0,
  response_form: 0,
  in_revision: false,
  direction: 'inbound',
  interface: 'scale',
  route: 'createTicket',
  method: 'POST',
  path: '/platform-api/v1/tickets',
  key_prefix: 'hb_7Kq2mZ9x',
  request_headers: '{"content-type":"application/json"}',
};

/** Over 14 days, two in a hundred refused, with two references each, and counted by hour as the service does. */
async function seedExchanges({ client }: BenchDatabase, { haulerId }: Fleet, count: number): Promise<void> {
  await createExchangeDays(queryingOf(client), daysAgo(14), daysAgo(0));
  const now = Date.now();
  await copyExchanges(client, count, (number) => {
    // The oldest first.
    const i = count - number;
    const references: Reference[] = [
      { kind: 'ticketNumber', value: `IN-${i}` },
      { kind: 'siteId', value: `site-${i % 200}` },
    ];
    const isRefused = i % 50 === 0;
    const columns = {
      ...PUSH,
      status: isRefused ? 422 : 200,
      error_code: isRefused ? 'VALIDATION_ERROR' : null,
      result: isRefused ? '422 materialExists' : 'created',
      request_id: `request-${i}`,
    };
    return { id: exchangeId(now - (i * 14 * DAY_MS) / count, i), haulerId, references, columns };
  });
  await client.query(
    `INSERT INTO exchange_hours (hour, direction, interface, route, status, error_code, result, count, last_id)
     SELECT to_timestamp(('x0000' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(64)::bigint / 3600000 * 3600),
       direction, interface, route, status, coalesce(error_code, ''), result, count(*), (array_agg(id ORDER BY id DESC))[1]
     FROM exchanges WHERE interface = 'scale' GROUP BY 1, 2, 3, 4, 5, 6, 7 ON CONFLICT DO NOTHING`,
  );
}

function viewsOf({ connectionId, haulerId }: Fleet): readonly View[] {
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const range = (ms: number) => `from=${new Date(hour - ms).toISOString()}&to=${new Date(hour).toISOString()}`;
  const truck = (id: string, ms: number) => `coverage?connectionId=${connectionId}&truckId=${id}&${range(ms)}`;
  const lanes = '.lanes .lane-stored';
  const row = 'main table tbody tr td a';
  return [
    { name: 'home', path: '', shown: '.days .part' },
    { name: 'fleet, 7 days', path: `coverage?haulerId=${haulerId}`, shown: 'tbody:last-of-type .square' },
    { name: 'fleet, 31 days', path: `coverage?haulerId=${haulerId}&days=31`, shown: 'tbody:last-of-type .square' },
    { name: 'fleet, 31 days, last page', path: `coverage?haulerId=${haulerId}&days=31&page=42`, shown: '.square' },
    { name: 'truck, a day', path: truck('TRUCK-0001', DAY_MS), shown: lanes },
    { name: 'truck, a month', path: truck('TRUCK-0001', 31 * DAY_MS), shown: lanes },
    { name: 'truck of a million recordings, an hour', path: truck(BIG_TRUCK, HOUR_MS), shown: lanes },
    { name: 'truck of a million recordings, a day', path: truck(BIG_TRUCK, DAY_MS), shown: lanes },
    { name: 'truck of a million recordings, a month', path: truck(BIG_TRUCK, 31 * DAY_MS), shown: lanes },
    { name: 'recordings', path: 'recordings?view=list', shown: row },
    { name: 'recordings of a truck, expired', path: 'recordings?truckId=TRUCK-0777&status=expired', shown: row },
    { name: 'exchanges', path: 'exchanges', shown: row },
    { name: 'exchanges, refused', path: 'exchanges?status=4xx', shown: row },
    { name: 'exchanges of a ticket', path: 'exchanges?reference=ticketNumber:IN-500000', shown: row },
    { name: 'exchanges of a site', path: 'exchanges?reference=siteId:site-7', shown: row },
    {
      name: 'exchanges of a hauler, outbound',
      path: `exchanges?haulerId=${haulerId}&direction=outbound`,
      shown: '.empty',
    },
    { name: 'connections', path: 'connections', shown: row },
    { name: 'actions', path: 'actions', shown: row },
    { name: 'sandbox', path: 'sandbox', shown: '.scenario' },
  ];
}

async function signIn(page: Page, { adminToken }: Service): Promise<void> {
  await page.goto('/console');
  await page.locator('input[name=secret]').fill(adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

async function open(page: Page, { path, shown }: View): Promise<number> {
  await page.goto('about:blank');
  const begun = performance.now();
  await page.goto(`/console/${path}`, { waitUntil: 'commit' });
  await page
    .locator(shown)
    .first()
    .waitFor({ state: 'attached', timeout: 15_000 })
    .catch(async (error: Error) => {
      throw new Error(`/console/${path} shows no ${shown}: ${await page.locator('main').innerText()}`, {
        cause: error,
      });
    });
  return performance.now() - begun;
}
