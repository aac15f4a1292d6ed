import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { LAST_ROW } from '../../src/database/list-page.js';
import { startDatabase } from './database.js';
import { type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median, percentile } from './statistics.js';

const PAGE_SIZE = 20;
const CALLS = 300;
const FIRST_DAY = '2010-01-01T00:00:00Z';
/** Rows that are inserted by one statement. */
const PORTION = 50_000;

interface Listed {
  readonly name: string;
  readonly fill: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The last row that has a page number and is counted. */
  readonly lastRow?: number;
}

/** First and last numbered pages of the lists of recordings, one a minute of one truck. Arguments: sizes (50000 5000000). */
export async function run(sizes: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const service = await startService(database);
  const lists = await listsOf(service);
  const rows: Row[] = [
    ['list', 'rows', 'first p50 ms', 'first p99 ms', 'deep p50 ms', 'deep p99 ms', 'deep ÷ first, p99'],
  ];
  let filled = 0;
  for (const size of (sizes.length === 0 ? ['50000', '5000000'] : sizes).map(Number)) {
    for (; filled < size; filled += PORTION) await fill(database.client, lists, filled);
    await database.client.query('VACUUM ANALYZE');
    for (const list of lists) rows.push(await measure(service, list, filled));
  }
  report('lists', rows);
}

async function listsOf(service: Service): Promise<Listed[]> {
  const { key } = await service.admin<{ key: string }>('POST', '/api-keys', {
    interfaces: ['vision'],
    allCustomers: true,
  });
  const camera = { customerId: 'bench', truckId: 'truck', cameraId: 'front', aliases: [] };
  await service.call('PUT', '/hosted/cameras', camera);
  const connection = randomUUID();
  const start = `timestamptz '${FIRST_DAY}' + n * interval '1 minute'`;
  const times = `${start}, ${start} + interval '1 minute'`;
  return [
    {
      name: 'hosted continuous',
      fill: `INSERT INTO reference_recordings (id, customer_id, truck_id, camera_id, start_time, end_time, size_bytes, sha256)
             SELECT gen_random_uuid(), 'bench', 'truck', 'front', ${times}, 1, 'x' FROM generate_series($1::int, $2::int) AS n`,
      path: `/video-platform/v1/videos/continuous?customerId=bench&truckId=truck&startTime=${FIRST_DAY}&endTime=2030-01-01T00:00:00Z`,
      headers: { 'api-key': key },
    },
    {
      name: 'admin recordings',
      fill: `INSERT INTO recordings
               (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id, start_time,
                end_time, duration_seconds, status, fetch_by, created_at, updated_at)
             SELECT '${connection}', gen_random_uuid(), '${connection}', 'continuous', n, 'bench', 'truck', 'front',
                    ${times}, 60, 'expired', now(), now(), now() FROM generate_series($1::int, $2::int) AS n`,
      path: `/admin/v1/recordings?connectionId=${connection}`,
      headers: { authorization: `Bearer ${service.adminToken}` },
      lastRow: LAST_ROW,
    },
  ];
}

async function fill(client: pg.Client, lists: readonly Listed[], from: number): Promise<void> {
  for (const list of lists) await client.query(list.fill, [from, from + PORTION - 1]);
}

async function measure(service: Service, list: Listed, size: number): Promise<Row> {
  const counted = Math.min(size, list.lastRow ?? size);
  const pages = { first: 1, deep: Math.floor(counted / PAGE_SIZE) - 1 };
  const took = { first: [] as number[], deep: [] as number[] };
  for (let call = -50; call < CALLS; call++) {
    for (const which of ['first', 'deep'] as const) {
      const milliseconds = await read(service, list, pages[which], counted);
      if (call >= 0) took[which].push(milliseconds);
    }
  }
  const [first, deep] = [percentile(took.first, 0.99), percentile(took.deep, 0.99)];
  return [list.name, size, median(took.first), first, median(took.deep), deep, deep / first];
}

async function read(service: Service, { path, headers }: Listed, page: number, size: number): Promise<number> {
  const begun = performance.now();
  const separator = path.includes('?') ? '&' : '?';
  const response = await fetch(`${service.url}${path}${separator}page=${page}&pageSize=${PAGE_SIZE}`, { headers });
  const body = (await response.json()) as { data: { length: number }; pagination?: { totalItems: number } };
  const took = performance.now() - begun;
  const items = Array.isArray(body.data) ? body.data.length : PAGE_SIZE;
  if (response.status !== 200 || items !== PAGE_SIZE) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  if (body.pagination !== undefined && body.pagination.totalItems !== size) throw new Error(`not ${size} rows`);
  return took;
}
