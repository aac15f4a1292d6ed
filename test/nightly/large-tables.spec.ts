import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { cursorOf, filtersOf } from '../../src/core/database/list-page.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { onServer } from '../support/test-run.js';
import { connectVision } from '../support/vision-partner.js';

/** The SQL of this file fills tables, for which the product would take days, and asks PostgreSQL how it reads them. */
const ROWS = 2_000_000;
/** Half of these wait to be fetched. Of few rows of a month, PostgreSQL rightly reads all to count 10,000. */
const RECORDINGS = 1_000_000;
const SMALLER = 500_000;
const SITE = randomUUID();
/** The id of row n, oldest first, more than an hour old. */
const OLDER = `uuidv7((n - ${ROWS}) * interval '5 seconds' - interval '1 hour')`;
/** Milliseconds for one call, after a first one. */
const MAX_MS = 100;

let app: TestApp;
let connection: { readonly haulerId: string; readonly id: string };
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  connection = await connectVision(app, 'https://partner.invalid');
  const { haulerId, id } = connection;
  // A connection of the service would end such a long statement.
  const client = new pg.Client({ connectionString: app.env.DATABASE_URL });
  await client.connect();
  await client.query("SET maintenance_work_mem = '256MB'");
  const fill = (columns: string, values: string, rows = ROWS) =>
    withoutIndexes(client, columns.slice(0, columns.indexOf(' ')), () =>
      client.query(`INSERT INTO ${columns} SELECT ${values} FROM generate_series(1, ${rows}) AS n`),
    );
  const ids = `'${haulerId}', gen_random_uuid(), '${id}'`;
  await fill(
    `recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id, start_time,
       end_time, duration_seconds, status, fetch_by, created_at, updated_at, due_at)`,
    `${ids}, 'continuous', n, 'c', 'T' || n % 100, 'front', now() - n * interval '1 minute',
     now() - (n - 1) * interval '1 minute', 60, CASE n % 2 WHEN 0 THEN 'stored' ELSE 'available' END, now(), now(), now(),
     CASE n % 2 WHEN 0 THEN NULL ELSE now() + interval '1 day' END`,
    RECORDINGS,
  );
  await fill(
    `video_request_parts (hauler_id, id, connection_id, request_id, number, customer_id, truck_id, camera_id, start_time,
       end_time, status, partner_request_id, deadline_at)`,
    `${ids}, gen_random_uuid(), 1, 'c', 'T' || n % 100, 'front', now() - n * interval '1 minute',
     now() - (n - 1) * interval '1 minute', CASE n % 300 WHEN 7 THEN 'failed' ELSE 'stored' END, 'req-' || n, now()`,
  );
  await fill(
    'vision_findings (hauler_id, connection_id, digest, path, reason, first_seen_at, last_seen_at)',
    `'${haulerId}', '${id}', md5(n::text), 'data', 'reason', now() - n * interval '1 second', now()`,
    SMALLER,
  );
  await fill(
    'accounts (hauler_id, id, account_number, account_name, name_digest, search_text)',
    `'${haulerId}', ${OLDER}, 'A-' || n, 'Waste ' || n, decode(md5(n::text), 'hex'), '  WASTE  ' || n`,
  );
  await fill(
    `tickets (hauler_id, id, site_id, revision, created_at, updated_at, inbound_updated_at, inbound_number, materials)`,
    `'${haulerId}', ${OLDER}, '${SITE}', 1, now(), now(), now(), 'IN-' || n, '[]'`,
  );
  await fill(
    `video_requests (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time, end_time, status,
       deadline_at, created_at, updated_at)`,
    `'${haulerId}', ${OLDER}, '${id}', 'c', 'T' || n % 100, 'front', now(), now(),
     CASE n % 10000 WHEN 0 THEN 'failed' ELSE 'stored' END, now(), now(), now()`,
  );
  for (const table of TABLES) {
    // A statement of the service that runs meanwhile keeps rows from becoming visible to all, and so index-only scans slow.
    await eventually(async () => {
      await client.query(`VACUUM ANALYZE ${table}`);
      const visible = `SELECT sum(relallvisible)::float8 / sum(relpages) AS share FROM pg_class WHERE relpages > 0
        AND (oid = $1::regclass OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = $1::regclass))`;
      const { rows } = await client.query<{ share: number }>(visible, [table]);
      expect(rows[0]?.share).toBeGreaterThan(0.9);
    });
  }
  await client.end();
}, 400_000);
afterAll(() => app.close());

/** Builds the indexes after the rows, which is faster. No statement of the service sees the table without them. */
async function withoutIndexes(client: pg.Client, table: string, fill: () => Promise<unknown>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE tablename = $1 AND NOT EXISTS (SELECT FROM pg_constraint WHERE conname = indexname)`,
    [table],
  );
  await client.query('BEGIN');
  await client.query(`DROP INDEX ${rows.map(({ name }) => name).join(', ')}`);
  await fill();
  // Of a partitioned table, only the index of the parent is named.
  for (const { definition } of rows) await client.query(definition.replace(' ON ONLY ', ' ON '));
  await client.query('COMMIT');
}

const TABLES = ['recordings', 'video_request_parts', 'video_requests', 'vision_findings', 'accounts', 'tickets'];

/**
 * The rows that sequential scans have read from each table. A connection reports them when it ends; while it is open, with
 * a delay of up to ten seconds.
 */
async function scanned(): Promise<Record<string, number>> {
  await onServer(app.env.DATABASE_URL, (client) =>
    client.query(
      'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    ),
  );
  return eventually(async () => {
    const rows = await app.dataSource.query<{ relname: string; rows: string }[]>(
      `SELECT t.name AS relname, sum(s.seq_tup_read) AS rows FROM unnest($1::text[]) AS t (name) JOIN pg_stat_user_tables AS s
         ON s.relid = t.name::regclass OR s.relid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = t.name::regclass)
       GROUP BY 1`,
      [TABLES],
    );
    return Object.fromEntries(rows.map(({ relname, rows: read }) => [relname, Number(read)]));
  });
}

test('no list and no periodic statement reads a large table from end to end', async () => {
  const { haulerId, id } = connection;
  const { ClipsRepository } = await import('../../src/vision/clips/clips.repository.js');
  const parts = app.app.get(ClipsRepository, { strict: false });
  const range = 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z';
  const calls: [string, () => Promise<unknown>][] = [
    ...[
      '/vision-findings',
      `/vision-findings?connectionId=${id}`,
      `/vision-findings?haulerId=${haulerId}&page=50`,
      '/accounts',
      `/accounts?haulerId=${haulerId}&page=100`,
      '/accounts?search=waste',
      '/accounts?search=q',
      `/accounts?search=471&haulerId=${haulerId}`,
      `/accounts?haulerId=${randomUUID()}`,
      ...[
        '/accounts',
        `/accounts?haulerId=${haulerId}`,
        '/tickets',
        `/tickets?siteId=${SITE}`,
        '/video-requests',
      ].flatMap(deepPages),
      ...deepPages(`/video-requests?connectionId=${id}`),
      ...deepPages('/vision-findings'),
      '/video-requests?status=failed',
      '/recordings',
      `/recordings?connectionId=${id}&status=available`,
      '/video-requests',
      `/coverage?connectionId=${id}&truckId=T7&${range}&resolution=3600`,
      `/coverage/fleet?haulerId=${haulerId}&${range}`,
    ].map((path): [string, () => Promise<unknown>] => [path, () => listed(path)]),
    ['/metrics', () => app.call('GET', '/metrics', { headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` } })],
    [
      'parts by the id of the partner',
      () => parts.knownRequests({ haulerId, connectionId: id }, ['req-1', 'req-2', randomUUID()]),
    ],
  ];
  for (const [path, table, key] of IN_THE_MIDDLE(id)) {
    const address = await afterHalf(path, table, key);
    calls.push([`${path} after the half`, () => listed(address)]);
  }
  const before = await scanned();
  const slow: string[] = [];
  for (const [what, call] of calls) {
    await call();
    const started = performance.now();
    await call();
    const ms = performance.now() - started;
    if (ms > MAX_MS) slow.push(`${what}: ${Math.round(ms)} ms`);
  }
  expect(await scanned()).toEqual(before);
  reportFigures('large tables', { rows: ROWS, calls: calls.length, 'slower than wanted': slow.join('; ') });
  expect(slow).toEqual([]);
});

/** The middle and the end of what has page numbers. */
const deepPages = (path: string) => [250, 500].map((page) => `${path}${path.includes('?') ? '&' : '?'}page=${page}`);

/** Lists, their tables and their sort keys. */
const IN_THE_MIDDLE = (id: string): [path: string, table: string, key: string][] => [
  ['/tickets', 'tickets', 'id'],
  [`/tickets?siteId=${SITE}`, 'tickets', 'id'],
  ['/accounts', 'accounts', 'id'],
  ['/accounts?search=waste', 'accounts', 'id'],
  [`/video-requests?connectionId=${id}`, 'video_requests', 'id'],
  ['/recordings', 'recordings', 'start_time, id'],
  ['/recordings?status=available', 'recordings', 'start_time, id'],
  [`/vision-findings?connectionId=${id}`, 'vision_findings', 'first_seen_at, connection_id, digest'],
];

/** The path with the cursor after the row in the middle of the table. */
async function afterHalf(path: string, table: string, key: string): Promise<string> {
  const columns = key.split(', ').map((column) => `${column}::text`);
  const [row] = await app.dataSource.query<[{ key: string[] }]>(
    `SELECT ARRAY[${columns.join(', ')}] AS key FROM ${table} ORDER BY ${key}
     OFFSET (SELECT count(*) / 2 FROM ${table}) LIMIT 1`,
  );
  const [name = '', query] = path.slice(1).split('?');
  const cursor = cursorOf([name, filtersOf(Object.fromEntries(new URLSearchParams(query)))], [10_000, ...row.key]);
  return `${path}${query === undefined ? '?' : '&'}cursor=${cursor}`;
}

async function listed(path: string): Promise<void> {
  expect(await app.admin('GET', path)).toMatchObject({ status: 200 });
}
