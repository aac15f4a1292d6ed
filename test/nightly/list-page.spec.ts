import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { NO_COUNTS } from '../../src/site-sync/sync/kinds.js';
import { type ErrorAnswer, pathsOf } from '../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../support/app.js';

/**
 * The SQL of this file fills 18 tables, for which the product would take hours. `acceptance/every-route` has the cursors that
 * are refused. Three more rows than pages are numbered for.
 */
const ROWS = 10_003;
const [HAULER, CONNECTION, RUN, TICKET, SITE] = Array.from({ length: 5 }, () => randomUUID()) as [
  string,
  string,
  string,
  string,
  string,
];
/** Five rows share each time: the id decides their order. */
const TIME = "timestamptz '2026-01-01T00:00:00.000001Z' + n / 5 * interval '1 second'";
const ID = "uuidv7((n - 20000) * interval '1 second')";
const RECORD = 'hauler_id, id, external_id';
const RECORD_VALUES = `'${HAULER}', ${ID}, gen_random_uuid()`;
const CLIP = 'customer_id, truck_id, camera_id, start_time, end_time';

const FILLS: Readonly<Record<string, string>> = {
  'haulers (id, name, created_at)': `CASE n WHEN 1 THEN '${HAULER}'::uuid ELSE gen_random_uuid() END, 'h', ${TIME}`,
  'api_keys (id, hash, prefix, hauler_id, interfaces, created_at)': `gen_random_uuid(), decode(md5(n::text), 'hex'), 'p', '${HAULER}', '{site}', ${TIME}`,
  'connections (hauler_id, id, interface, base_url, sealed_key, interval_seconds, enabled, created_at, updated_at)': `'${HAULER}', CASE n WHEN 1 THEN '${CONNECTION}'::uuid ELSE gen_random_uuid() END, 'site', 'https://partner.example', 'x', 60, false, ${TIME}, now()`,
  'actions (id, at, actor, action, resource)': `gen_random_uuid(), ${TIME}, 'admin', 'a', 'r'`,
  [`sites (${RECORD}, name)`]: `${RECORD_VALUES}, 's'`,
  [`kiosks (${RECORD}, site_external_id, name)`]: `${RECORD_VALUES}, '${SITE}', 'k'`,
  [`materials (${RECORD}, site_external_id, material_type, measure_unit)`]: `${RECORD_VALUES}, '${SITE}', 'm', 'tons'`,
  'sync_runs (hauler_id, id, connection_id, status, counts, created_at)': `'${HAULER}', CASE n WHEN 1 THEN '${RUN}'::uuid ELSE gen_random_uuid() END, '${CONNECTION}', 'failed', '${JSON.stringify(NO_COUNTS)}', ${TIME}`,
  'sync_issues (hauler_id, run_id, position, severity, kind, path, reason, raw)': `'${HAULER}', '${RUN}', n, 'flagged', 'sites', 'sites[' || n || ']', 'r', '{}'`,
  'sync_changes (hauler_id, run_id, kind, change, external_id, name)': `'${HAULER}', '${RUN}', 'sites', 'created', gen_random_uuid(), 's'`,
  'tickets (hauler_id, id, site_id, revision, created_at, updated_at, inbound_updated_at, inbound_number, materials)': `'${HAULER}', CASE n WHEN 1 THEN '${TICKET}'::uuid ELSE ${ID} END, '${SITE}', ${ROWS}, now(), now(), now(), 'IN-' || n, '[]'`,
  'ticket_revisions (hauler_id, ticket_id, revision, received_at, result, body)': `'${HAULER}', '${TICKET}', n, now(), 'stale', '{}'`,
  'accounts (hauler_id, id, account_number, account_name, name_digest, search_text)': `'${HAULER}', ${ID}, 'A-' || n, 'Waste ' || n, decode(md5(n::text), 'hex'), '  WASTE'`,
  [`video_requests (hauler_id, id, connection_id, ${CLIP}, status, deadline_at, created_at, updated_at)`]: `'${HAULER}', ${ID}, '${CONNECTION}', 'c', 't', 'front', now(), now(), 'stored', now(), now(), now()`,
  'video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, start_time, interval_seconds, enabled, read_until, created_at, updated_at)': `'${HAULER}', ${ID}, '${CONNECTION}', 'c', 't', now(), 60, false, now(), now(), now()`,
  [`recordings (hauler_id, id, connection_id, source, partner_recording_id, ${CLIP}, duration_seconds, status, fetch_by, created_at, updated_at)`]: `'${HAULER}', gen_random_uuid(), '${CONNECTION}', 'continuous', n, 'c', 't' || n, 'front', ${TIME}, ${TIME}, 60, 'expired', now(), now(), now()`,
  'vision_findings (hauler_id, connection_id, digest, path, reason, first_seen_at, last_seen_at)': `'${HAULER}', '${CONNECTION}', md5(n::text), 'path ' || n, 'r', ${TIME}, now()`,
  [`reference_video_requests (id, ${CLIP}, status, created_at, finished_at)`]: `gen_random_uuid(), 'c', 't', 'front', now(), now(), 'ready', ${TIME}, now()`,
};

/** Each list with a filter that all its rows match. */
const LISTS: readonly [path: string, filter: string][] = [
  ['/haulers', ''],
  ['/api-keys', `haulerId=${HAULER}`],
  ['/connections', 'interface=site'],
  ['/actions', 'resource=r'],
  ['/sites', `haulerId=${HAULER}`],
  ['/kiosks', `siteId=${SITE}`],
  ['/materials', `siteId=${SITE}`],
  ['/sync-runs', `connectionId=${CONNECTION}`],
  [`/sync-runs/${RUN}/quarantine`, ''],
  [`/sync-runs/${RUN}/changes`, 'kind=sites'],
  ['/tickets', `siteId=${SITE}`],
  [`/tickets/${TICKET}/revisions`, ''],
  ['/accounts', `haulerId=${HAULER}`],
  ['/video-requests', 'truckId=t'],
  ['/video-subscriptions', 'truckId=t'],
  ['/recordings', 'status=expired'],
  ['/vision-findings', `haulerId=${HAULER}`],
  ['/hosted/video-requests', 'status=ready'],
];

interface Page {
  readonly data: object[];
  readonly pagination: { page: number; totalItems: number; totalPages: number; more: boolean; next: string | null };
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const client = new pg.Client({ connectionString: app.env.DATABASE_URL });
  await client.connect();
  // No checks of foreign keys.
  await client.query("SET session_replication_role = 'replica'");
  for (const [columns, values] of Object.entries(FILLS)) {
    await client.query(`INSERT INTO ${columns} SELECT ${values} FROM generate_series(1, ${ROWS}) AS n`);
  }
  await client.query('ANALYZE');
  await client.end();
}, 120_000);
afterAll(() => app.close());

const asked = (path: string, filter: string, query: object) =>
  `${path}?${filter}&${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()}`;

async function list(path: string, filter: string, query: object): Promise<Page> {
  const { status, body } = await app.admin<Page>('GET', asked(path, filter, query));
  expect([path, status]).toEqual([path, 200]);
  return body;
}

async function refused(path: string, filter: string, query: object) {
  const reply = await app.admin<ErrorAnswer>('GET', asked(path, filter, query));
  expect([path, reply.status, reply.body.error?.code]).toEqual([path, 400, 'INVALID_PAYLOAD']);
  return { paths: pathsOf(reply), error: reply.body.error };
}

describe.each(LISTS)('GET /admin/v1%s of more than 10,000 rows, filtered by %p', (path, filter) => {
  test('has pages up to row 10,000, and cursors up to the end', async () => {
    const pages = new Map<number, object[]>();
    for (const page of [1, 100]) {
      const { data, pagination } = await list(path, filter, { pageSize: 100, page });
      expect([data.length, pagination]).toMatchObject([
        100,
        { page, totalItems: 10_000, totalPages: 100, more: true, next: expect.any(String) },
      ]);
      const following = await list(path, filter, { pageSize: 100, cursor: pagination.next });
      expect(following.pagination).toMatchObject({ page: page + 1, totalItems: 10_000, more: true });
      pages.set(page, data).set(page + 1, following.data);
    }
    expect(pages.get(2)).toEqual((await list(path, filter, { pageSize: 100, page: 2 })).data);
    const texts = [...pages.values()].flat().map((row) => JSON.stringify(row));
    expect([texts.length, new Set(texts).size]).toEqual([303, 303]);
    for (const query of [{ page: 501 }, { page: '9'.repeat(30), pageSize: 100 }]) {
      const { paths, error } = await refused(path, filter, query);
      expect(paths).toEqual(['page']);
      const { cursor } = error.details as { cursor?: string };
      expect(error.message).toContain(`cursor=${cursor}`);
      const rest = await list(path, filter, { cursor, pageSize: 100 });
      expect([rest.data, rest.pagination.next]).toEqual([pages.get(101), null]);
    }
  });
});

test('counts 10,000 rows exactly, and answers a page past their end with an empty list', async () => {
  const first = new Date(Date.parse('2026-01-01T00:00:00Z') + 1000).toISOString();
  const filter = `from=${first}`;
  const { data, pagination } = await list('/recordings', filter, { pageSize: 3, page: 3333 });
  expect([data.length, pagination]).toEqual([
    3,
    { page: 3333, pageSize: 3, totalItems: 9_999, totalPages: 3333, more: false, next: null },
  ]);
  for (const page of [501, 1_000_000]) {
    const past = await list('/recordings', filter, { page });
    expect([past.data, past.pagination.page, past.pagination.totalItems]).toEqual([[], page, 9_999]);
  }
});
