import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { raw } from '../support/scripted-partner.js';
import {
  connectVision,
  CONTINUOUS,
  element,
  hurry,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../support/vision-partner.js';

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
    await hurry(app);
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
    await hurry(app);
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
    const sql = `SELECT 1 FROM ${table} WHERE lease_token IS NOT NULL OR due_at <= now()`;
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
