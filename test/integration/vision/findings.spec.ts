import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { VisionFindings } from '../../../src/vision/client/findings.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../../support/scripted-vision.js';
import { addOldFindings, readOldFindings } from '../../support/rows.js';
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
  const { data, pagination } = await findings(`connectionId=${connection.id}`);
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

/** Without a partner. */
let idle: TestApp;
beforeAll(async () => {
  idle = await startTestApp({ ticks: false });
});
afterAll(() => idle.close());

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

const find = (connection: Connection, [from, to]: readonly [number, number], seenDays: number) =>
  addOldFindings(idle, connection, { from, to, seenDays });
const kept = ({ id }: Connection) => readOldFindings(idle, id);

test('findings that were not seen for 90 days are deleted, others stay, however old', async () => {
  await find(ended, [1, 3], 90.01);
  await find(ended, [4, 5], 89.9);
  await sweep();
  expect(await kept(ended)).toEqual({ count: 2, first: 4, last: 5 });
});

test('a connection keeps its 10,000 last seen findings, whatever another connection has', async () => {
  const other = await connectVision(idle, 'https://partner.example');
  await find(ended, [1, MAX + 2_500], 1);
  await find(other, [1, MAX], 2);
  await sweep();
  expect(await kept(ended)).toEqual({ count: MAX, first: 2_501, last: MAX + 2_500 });
  expect(await kept(other)).toMatchObject({ count: MAX });
});
