import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { VisionFindings } from '../../../src/vision/client/findings.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { raw } from '../../support/scripted-partner.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../../support/scripted-vision.js';
import { hurryVideo } from '../../support/time.js';
import { connectVision } from '../../support/vision-partner.js';

interface Findings {
  readonly data: readonly {
    readonly path: string;
    readonly raw?: string;
    readonly seen: number;
    readonly firstSeenAt: string;
  }[];
  readonly pagination: { readonly totalItems: number; readonly totalPages: number };
}

let app: TestApp;
let partner: VisionPartner;
let connection: { readonly haulerId: string; readonly id: string };
const findings = async (query: string) => (await app.admin<Findings>('GET', `/vision-findings?${query}`)).body;

beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
  connection = await connectVision(app, partner.url);
  const times = { startTime: inHours(-2), endTime: inHours(-1.9) };
  const good = element({ ...times, downloadUrl: partner.link(sampleVideo()) });
  let listings = 0;
  // Each list has new links.
  const bad = () => [
    element({ id: 'no-link', ...times, expiresAt: inHours(8) }),
    element({
      id: 'no-start',
      startTime: 'yesterday',
      downloadUrl: `https://a.example/f${++listings}?sig=secret`,
      expiresAt: inHours(8),
    }),
  ];
  partner.on(
    CONTINUOUS,
    lists('recordings', () => [good, ...bad()]),
  );
  await app.admin('POST', '/video-subscriptions', {
    connectionId: connection.id,
    truckId: 'TRUCK-7',
    startTime: inHours(-4),
  });
  await eventually(async () => {
    await hurryVideo(app);
    expect((await findings('')).data.map(({ seen }) => seen > 1)).toEqual([true, true]);
  });
});
afterAll(async () => {
  await app.close();
  await partner.stop();
});

test('each fault is reported once, with its count, and without the signature of a link', async () => {
  const { data, pagination } = await findings('');
  expect(pagination.totalItems).toBe(2);
  const paths = data.map(({ path }) => path).sort();
  expect(paths).toEqual(['data.recordings[1].downloadUrl', 'data.recordings[2].startTime']);
  expect(JSON.stringify(data)).not.toContain('secret');
  expect(data[0]).toMatchObject({
    haulerId: connection.haulerId,
    connectionId: connection.id,
    raw: expect.any(String),
  });
});

test('an element that is nested too deep is reported, and the other elements are stored', async () => {
  const other = await startVisionPartner();
  const { id } = await connectVision(app, other.url);
  const deep = `${'['.repeat(100_000)}"\\n"${']'.repeat(100_000)}`;
  const good = (name: string, hours = -2) =>
    JSON.stringify(
      element({
        id: name,
        startTime: inHours(hours),
        endTime: inHours(hours + 0.1),
        downloadUrl: other.link(sampleVideo()),
      }),
    );
  // In an unknown field, which is not read, such a value is harmless.
  const odd = good('odd', -3).replace('{', `{"unknown":${deep},`);
  const pagination = '{"page":1,"pageSize":20,"totalItems":3,"totalPages":1}';
  const body = `{"success":true,"data":{"recordings":[${deep},${good('good')},${odd}],"pagination":${pagination}}}`;
  other.on(CONTINUOUS, raw(body, { headers: { 'Content-Type': 'application/json' } }));
  const { body: subscription } = await app.admin<{ id: string }>('POST', '/video-subscriptions', {
    connectionId: id,
    truckId: 'TRUCK-7',
    startTime: inHours(-4),
  });
  await eventually(async () => {
    await hurryVideo(app);
    expect((await findings(`connectionId=${id}`)).data.map(({ path }) => path)).toEqual(['data.recordings[0]']);
    const { body } = await app.admin<Findings>('GET', `/recordings?connectionId=${id}`);
    expect(body.pagination.totalItems).toBe(2);
  });
  await eventually(unread);
  await app.admin('DELETE', `/video-subscriptions/${subscription.id}`);
  await app.dataSource.query('DELETE FROM vision_findings WHERE connection_id = $1', [id]);
  await other.stop();
});

/** Waits until nothing is running or due: all findings are stored by then. */
async function unread(): Promise<void> {
  for (const table of ['video_subscriptions', 'video_windows']) {
    const sql = `SELECT 1 FROM ${table} WHERE started_at IS NOT NULL OR due_at <= now()`;
    expect(await app.dataSource.query(sql)).toEqual([]);
  }
}

test('findings can be filtered, and have pages', async () => {
  const none = '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10';
  const totals = [
    `connectionId=${connection.id}`,
    `connectionId=${none}`,
    `haulerId=${connection.haulerId}`,
    `haulerId=${none}`,
    `from=${inHours(-1)}&to=${inHours(1)}`,
    `from=${inHours(1)}`,
    `to=${inHours(-1)}`,
  ].map(async (query) => (await findings(query)).pagination.totalItems);
  expect(await Promise.all(totals)).toEqual([2, 0, 2, 0, 2, 0, 0]);
  const [first, second] = [await findings('pageSize=1'), await findings('pageSize=1&page=2')];
  expect(first.pagination).toMatchObject({ totalItems: 2, totalPages: 2 });
  expect(first.data[0]?.path).not.toBe(second.data[0]?.path);
});

test.each(['pageSize=101', 'page=0', 'from=yesterday', 'connectionId=1'])('%s: 400', async (query) => {
  expect((await app.admin('GET', `/vision-findings?${query}`)).status).toBe(400);
});

/** Without a partner. */
let idle: TestApp;
const CONNECTIONS = ['0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10', '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a11'];
beforeAll(async () => {
  idle = await startTestApp();
  await idle.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
     SELECT gen_random_uuid(), gen_random_uuid(), ($1::uuid[])[1 + n % 2], 'continuous', 'p' || n, 'c', 'T' || n % 3,
       (ARRAY['front', 'rear'])[1 + (n / 3) % 2], begins, begins + interval '5 minutes', 300,
       (ARRAY['stored', 'stored', 'stored', 'failed', 'expired'])[1 + n % 5], now(), now(), now()
     FROM (SELECT n, timestamptz '2026-01-01T00:00:00Z' + n * interval '7 minutes' AS begins
           FROM generate_series(1, 3000) AS n) AS series`,
    [CONNECTIONS],
  );
  // Between two milliseconds.
  await idle.dataSource.query(
    "UPDATE recordings SET start_time = start_time + interval '500 microseconds' WHERE partner_recording_id IN ('p40', 'p41')",
  );
  // Moves are counted as well.
  await idle.dataSource.query(
    "UPDATE recordings SET status = 'available' WHERE partner_recording_id LIKE 'p1%' AND status = 'failed'",
  );
  await idle.dataSource.query("DELETE FROM recordings WHERE partner_recording_id LIKE 'p2_'");
});
afterAll(() => idle.close());

interface Page {
  readonly data: { readonly id: string }[];
  readonly pagination: { readonly totalItems: number };
}

describe('the list of recordings', () => {
  test.each<[string, string]>([
    ['', 'true'],
    [`connectionId=${CONNECTIONS[0]}`, `connection_id = '${CONNECTIONS[0]}'`],
    ['truckId=T1&cameraId=rear', "truck_id = 'T1' AND camera_id = 'rear'"],
    ['status=available&source=continuous', "status = 'available'"],
    ['source=on-demand', 'false'],
    ['from=2026-01-03T10:11:12Z', "start_time >= '2026-01-03T10:11:12Z'"],
    ['to=2026-01-03T10:11:12Z', "start_time < '2026-01-03T10:11:12Z'"],
    ['to=2026-01-01T04:40:00.000900Z', "start_time < '2026-01-01T04:40:00.000900Z'"],
    ['from=2026-01-01T04:40:00.000100Z&to=2026-01-01T04:40:00.000900Z', "start_time = '2026-01-01T04:40:00.000500Z'"],
    ['from=2026-01-01T04:40:00.000501Z', "start_time > '2026-01-01T04:40:00.000500Z'"],
    [
      'from=2026-01-03T01:00:00Z&to=2026-01-03T02:00:00Z&status=stored',
      "start_time >= '2026-01-03T01:00:00Z' AND start_time < '2026-01-03T02:00:00Z' AND status = 'stored'",
    ],
    [
      'from=2026-01-02T01:00:00Z&to=2026-01-09T02:00:00Z&truckId=T2',
      "start_time >= '2026-01-02T01:00:00Z' AND start_time < '2026-01-09T02:00:00Z' AND truck_id = 'T2'",
    ],
  ])('filtered by "%s" is each page of what a plain query finds', async (query, condition) => {
    const rows = await idle.dataSource.query<{ id: string }[]>(
      `SELECT id FROM recordings WHERE ${condition} ORDER BY start_time DESC, id DESC`,
    );
    const last = Math.max(1, Math.ceil(rows.length / 7));
    for (const page of new Set([1, 2, Math.ceil(last / 2), last, last + 1])) {
      const { body } = await idle.admin<Page>('GET', `/recordings?${query}&page=${page}&pageSize=7`);
      const expected = rows.slice((page - 1) * 7, page * 7).map(({ id }) => id);
      expect(body.data.map(({ id }) => id)).toEqual(expected);
      expect(body.pagination).toMatchObject({ page, totalItems: rows.length, totalPages: Math.ceil(rows.length / 7) });
    }
  });

  test.each(['pageSize=101', 'page=0', 'status=gone', 'from=yesterday'])('%s: 400', async (query) => {
    expect((await idle.admin('GET', `/recordings?${query}`)).status).toBe(400);
  });

  test('no recording of that id: 404', async () => {
    expect((await idle.admin('GET', `/recordings/${CONNECTIONS[0]}`)).status).toBe(404);
    expect((await idle.admin('GET', `/recordings/${CONNECTIONS[0]}/content`)).status).toBe(404);
  });
});

const MAX = 10_000;

interface Connection {
  readonly haulerId: string;
  readonly id: string;
}

let ended: Connection;
beforeEach(async () => {
  ended = await connectVision(idle, 'https://partner.example');
});

const sweep = () => idle.app.get(VisionFindings).deleteOld();

/** Stores findings with these numbers as digests; `seen` is the SQL of the time at which finding `i` was last seen. */
const find = ({ haulerId, id }: Connection, [from, to]: readonly [number, number], seen: string) =>
  idle.dataSource.query(
    `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, first_seen_at, last_seen_at)
     SELECT $1, $2, i, 'data.items[0].truckId', 'is missing', now() - interval '200 days', ${seen}
     FROM generate_series($3::integer, $4::integer) i`,
    [haulerId, id, from, to],
  );

async function kept({ id }: Connection): Promise<{ count: number; first: number; last: number }> {
  const [row] = await idle.dataSource.query<[{ count: number; first: number; last: number }]>(
    `SELECT count(*)::integer AS count, min(digest::integer) AS first, max(digest::integer) AS last
     FROM vision_findings WHERE connection_id = $1`,
    [id],
  );
  return row;
}

test('findings that were not seen for 90 days are deleted, others stay, however old', async () => {
  await find(ended, [1, 3], "now() - interval '90 days 1 minute'");
  await find(ended, [4, 5], "now() - interval '89 days 23 hours'");
  expect(await sweep()).toBe(3);
  expect(await kept(ended)).toEqual({ count: 2, first: 4, last: 5 });
});

test('a connection keeps its 10,000 last seen findings, whatever another connection has', async () => {
  const other = await connectVision(idle, 'https://partner.example');
  await find(ended, [1, MAX + 2_500], "now() - interval '1 day' + i * interval '1 microsecond'");
  await find(other, [1, MAX], "now() - interval '2 days'");
  expect(await sweep()).toBe(2_500);
  expect(await kept(ended)).toEqual({ count: MAX, first: 2_501, last: MAX + 2_500 });
  expect(await kept(other)).toMatchObject({ count: MAX });
});

test('a connection keeps 10,000 findings that were seen at the same moment', async () => {
  await find(ended, [1, MAX + 60], 'now()');
  expect(await sweep()).toBe(60);
  expect(await kept(ended)).toMatchObject({ count: MAX });
});

test('the findings of a deleted connection are deleted too', async () => {
  await find(ended, [1, 3], "now() - interval '91 days'");
  await idle.dataSource.query('UPDATE connections SET deleted_at = now() WHERE id = $1', [ended.id]);
  expect(await sweep()).toBe(3);
});

test('several instances at once delete no more than one would', async () => {
  await find(ended, [1, MAX + 3_000], "now() - i * interval '1 second'");
  const gone = await Promise.all([sweep(), sweep(), sweep()]);
  expect(gone.reduce((sum, count) => sum + count)).toBe(3_000);
  expect(await kept(ended)).toEqual({ count: MAX, first: 1, last: MAX });
});

test('a finding that another transaction has locked is left for the next time', async () => {
  await find(ended, [1, 2], "now() - interval '91 days'");
  await idle.dataSource.transaction(async (manager) => {
    const seen = "UPDATE vision_findings SET last_seen_at = now() WHERE connection_id = $1 AND digest = '1'";
    await manager.query(seen, [ended.id]);
    expect(await sweep()).toBe(1);
  });
  expect(await sweep()).toBe(0);
  expect(await kept(ended)).toEqual({ count: 1, first: 1, last: 1 });
});
