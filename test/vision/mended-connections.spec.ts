import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { refuses, type ScriptedReply } from '../support/scripted-partner.js';
import { orderVideo, readRequest } from '../support/video-requests.js';
import {
  accepts,
  connectVision,
  CONTINUOUS,
  hurry,
  inHours,
  lists,
  POST,
  startAnew,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../support/vision-partner.js';

let app: TestApp;
let partner: VisionPartner;
let connectionId = '';
let haulerId = '';
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
});
beforeEach(async () => void ({ id: connectionId, haulerId } = await connectVision(app, partner.url)));
afterEach(() => startAnew(app, partner));
afterAll(async () => {
  await app.close();
  await partner.stop();
});

const MENDED_KEY = 'another-key-of-theirs';
const noRecordings = lists('recordings', () => []);
const noVideos = lists('videos', () => []);

/** Refuses every key but the mended one. */
const known =
  (reply: ScriptedReply): ScriptedReply =>
  (response, request) =>
    (request.headers['api-key'] === MENDED_KEY ? reply : refuses(401, 'UNAUTHORIZED'))(response, request);

const follow = async (startTime = inHours(-4)) =>
  (await app.admin<{ id: string }>('POST', '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime }))
    .body.id;
const patch = async (change: object) =>
  expect((await app.admin('PATCH', `/connections/${connectionId}`, change)).status).toBe(200);

interface DueRow {
  readonly soon: boolean;
  readonly attempts: number;
  readonly last_error: string | null;
}
const dueRow = async (table: string) => {
  const [row] = await app.dataSource.query<DueRow[]>(
    `SELECT due_at < now() + interval '30 minutes' AS soon, attempts, last_error FROM ${table} WHERE hauler_id = $1`,
    [haulerId],
  );
  return row;
};
/** As after many failures: without the change, nothing would be asked for an hour. Only what nobody has in hand. */
const putOff = async (table: string) => {
  await eventually(async () => {
    const [, put] = await app.dataSource.query<[unknown[], number]>(
      `UPDATE ${table} SET due_at = now() + interval '1 hour', attempts = 8
       WHERE hauler_id = $1 AND due_at IS NOT NULL AND last_error IS NOT NULL AND lease_token IS NULL`,
      [haulerId],
    );
    expect(put).toBe(1);
  });
};

test.each<[string, () => object]>([
  ['key', () => ({ apiKey: MENDED_KEY })],
  ['next key', () => ({ nextApiKey: MENDED_KEY })],
  ['customer', () => ({ customerId: 'right' })],
  ['address', () => ({ baseUrl: `${partner.url}/right` })],
])('a mended %s is tried at once by what is followed', async (_, change) => {
  const reply: ScriptedReply = (response, request) => {
    const isRight = request.path.startsWith('/right/') || request.query.get('customerId') === 'right';
    (isRight ? noRecordings : known(noRecordings))(response, request);
  };
  partner.on(CONTINUOUS, reply);
  partner.on(CONTINUOUS.replace('/', '/right/'), reply);
  await follow();
  await putOff('video_subscriptions');
  await patch(change());
  await eventually(async () => {
    const [row] = await app.dataSource.query<{ read: boolean }[]>(
      'SELECT last_read_at IS NOT NULL AS read FROM video_subscriptions WHERE hauler_id = $1',
      [haulerId],
    );
    expect(row?.read).toBe(true);
  });
  expect(await dueRow('video_subscriptions')).toEqual({ soon: true, attempts: 0, last_error: null });
});

test('so it is by orders, by what is asked about them, and by windows that were laid by', async () => {
  partner.on(CONTINUOUS, known(noRecordings));
  partner.on(VIDEOS, known(noVideos));
  partner.on(POST, accepts());
  const asked = await orderVideo(app, connectionId);
  await eventually(async () => expect((await readRequest(app, asked)).status).toBe('processing'));
  await hurry(app);
  await putOff('video_polls');
  partner.on(POST, known(accepts()));
  const ordered = await orderVideo(app, connectionId, { truckId: 'TRUCK-8' });
  await putOff('video_request_parts');
  await app.dataSource.query(
    `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, due_at, last_error)
     SELECT hauler_id, gen_random_uuid(), id, connection_id, now() - interval '3 hours', now() - interval '1 hour',
       now() + interval '1 hour', 'oops' FROM video_subscriptions WHERE id = $1`,
    [await follow(inHours(100))],
  );
  await putOff('video_windows');
  const before = partner.askedOf(VIDEOS).length;
  await patch({ apiKey: MENDED_KEY });
  await eventually(async () => expect((await readRequest(app, ordered)).status).toBe('processing'));
  await eventually(async () => expect(await dueRow('video_windows')).toBeUndefined());
  await eventually(() => expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(before));
  await eventually(async () =>
    expect(await dueRow('video_polls')).toEqual({ soon: true, attempts: 0, last_error: null }),
  );
});

test('so is everything when a pause ends', async () => {
  partner.on(CONTINUOUS, refuses(401, 'UNAUTHORIZED'));
  await follow();
  await putOff('video_subscriptions');
  await patch({ enabled: false });
  partner.on(CONTINUOUS, noRecordings);
  expect(await dueRow('video_subscriptions')).toMatchObject({ soon: false });
  await patch({ enabled: true });
  await eventually(() => expect(partner.askedOf(CONTINUOUS)).toHaveLength(2));
});

test('a change of something else makes nothing due', async () => {
  partner.on(CONTINUOUS, refuses(401, 'UNAUTHORIZED'));
  await follow();
  await putOff('video_subscriptions');
  await patch({ intervalSeconds: 600, enabled: true, customerId: 'customer-1', baseUrl: `${partner.url}/` });
  expect(await dueRow('video_subscriptions')).toMatchObject({ soon: false, attempts: 8 });
});

test('a reading that waits for its answer by the former key is given up, an order is not', async () => {
  const held: (() => void)[] = [];
  const holdingFormer =
    (reply: ScriptedReply, former: ScriptedReply): ScriptedReply =>
    (response, request) => {
      if (request.headers['api-key'] === MENDED_KEY) return reply(response, request);
      held.push(() => former(response, request));
    };
  partner.on(CONTINUOUS, holdingFormer(noRecordings, refuses(401, 'UNAUTHORIZED')));
  partner.on(POST, holdingFormer(accepts(), accepts()));
  partner.on(VIDEOS, noVideos);
  await follow();
  const ordered = await orderVideo(app, connectionId);
  await eventually(() => expect(held).toHaveLength(2));
  await patch({ apiKey: MENDED_KEY });
  await eventually(() => expect(partner.askedOf(CONTINUOUS)).toHaveLength(2));
  for (const release of held) release();
  await eventually(async () => expect((await readRequest(app, ordered)).status).toBe('processing'));
  expect(partner.askedOf(POST)).toHaveLength(1);
  expect(await dueRow('video_subscriptions')).toMatchObject({ attempts: 0, last_error: null });
});
