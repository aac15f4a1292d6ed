import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type ErrorAnswer, pathsOf } from '../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../support/app.js';

/**
 * The SQL of this file fills tables, for which the product would take hours. `acceptance/every-route` has the pages and cursors
 * of every list. Three more rows than pages are numbered for.
 */
const ROWS = 10_003;
const HAULER = randomUUID();
/** Five rows share each time: the id decides their order. */
const TIME = "timestamptz '2026-01-01T00:00:00.000001Z' + n / 5 * interval '1 second'";
const ID = "uuidv7((n - 20000) * interval '1 second')";
const FILLS: Readonly<Record<string, string>> = {
  'haulers (id, name, created_at)': `CASE n WHEN 1 THEN '${HAULER}'::uuid ELSE gen_random_uuid() END, 'h', ${TIME}`,
  'accounts (hauler_id, id, account_number, account_name, name_digest, search_text)': `'${HAULER}', ${ID}, 'A-' || n, 'Waste ' || n, decode(md5(n::text), 'hex'), '  WASTE'`,
  'recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id, start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)': `'${HAULER}', gen_random_uuid(), gen_random_uuid(), 'continuous', n, 'c', 't' || n, 'front', ${TIME}, ${TIME}, 60, 'expired', now(), now(), now()`,
};

/** A list of each kind of sort key, with a filter that all its rows match. */
const LISTS: readonly [path: string, filter: string][] = [
  ['/haulers', ''],
  ['/accounts', `haulerId=${HAULER}`],
  ['/recordings', 'status=expired'],
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
