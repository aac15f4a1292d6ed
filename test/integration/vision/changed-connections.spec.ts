import { beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { accepts, CONTINUOUS, inHours, lists, POST, VIDEOS } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';
import { Subscriptions } from './subscriptions.js';

const vision = useVision();
const { order, read } = vision;

let connectionId = '';
let haulerId = '';
beforeEach(async () => {
  connectionId = await vision.connect();
  haulerId = vision.haulerId;
});

const NEW_KEY = 'another-partner-key';
const noRecordings = lists('recordings', () => []);
const noVideos = lists('videos', () => []);

/** A partner that accepts the new key only. */
const withNewKey =
  (reply: ScriptedReply): ScriptedReply =>
  (response, request) =>
    (request.headers['api-key'] === NEW_KEY ? reply : refuses(401, 'UNAUTHORIZED'))(response, request);

const follow = (fields?: object) => new Subscriptions(vision).follow(connectionId, fields);
const patch = async (change: object) =>
  expect((await vision.app.admin('PATCH', `/connections/${connectionId}`, change)).status).toBe(200);

interface DueRow {
  readonly soon: boolean;
  readonly attempts: number;
  readonly last_error: string | null;
}
const dueRow = async (table: string) => {
  const [row] = await vision.query<DueRow>(
    `SELECT due_at < now() + interval '30 minutes' AS soon, attempts, last_error FROM ${table} WHERE hauler_id = $1`,
    [haulerId],
  );
  return row;
};
/** The state after many failures: without a change, the next attempt is in an hour. Waits until no job runs the row. */
const postpone = async (table: string) => {
  await eventually(async () => {
    const [, count] = await vision.app.dataSource.query<[unknown[], number]>(
      `UPDATE ${table} SET due_at = now() + interval '1 hour', attempts = 8
       WHERE hauler_id = $1 AND due_at IS NOT NULL AND last_error IS NOT NULL AND started_at IS NULL`,
      [haulerId],
    );
    expect(count).toBe(1);
  });
};

test.each<[string, () => object]>([
  ['key', () => ({ apiKey: NEW_KEY })],
  ['next key', () => ({ nextApiKey: NEW_KEY })],
  ['customer', () => ({ customerId: 'right' })],
  ['address', () => ({ baseUrl: `${vision.partner.url}/right` })],
])('a changed %s is used at once by subscriptions', async (_, change) => {
  const reply: ScriptedReply = (response, request) => {
    const isRight = request.path.startsWith('/right/') || request.query.get('customerId') === 'right';
    (isRight ? noRecordings : withNewKey(noRecordings))(response, request);
  };
  vision.partner.on(CONTINUOUS, reply);
  vision.partner.on(CONTINUOUS.replace('/', '/right/'), reply);
  await follow();
  await postpone('video_subscriptions');
  await patch(change());
  await eventually(async () => {
    const [row] = await vision.query<{ read: boolean }>(
      'SELECT last_read_at IS NOT NULL AS read FROM video_subscriptions WHERE hauler_id = $1',
      [haulerId],
    );
    expect(row?.read).toBe(true);
  });
  expect(await dueRow('video_subscriptions')).toEqual({ soon: true, attempts: 0, last_error: null });
});

test('a changed key is used at once by requests, by polls and by deferred windows', async () => {
  vision.partner.on(CONTINUOUS, withNewKey(noRecordings));
  vision.partner.on(VIDEOS, withNewKey(noVideos));
  vision.partner.on(POST, accepts());
  const asked = await order(connectionId);
  await eventually(async () => expect((await read(asked)).status).toBe('processing'));
  await vision.hurry();
  await postpone('video_polls');
  vision.partner.on(POST, withNewKey(accepts()));
  const ordered = await order(connectionId, { truckId: 'TRUCK-8' });
  await postpone('video_request_parts');
  await vision.query(
    `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, due_at, last_error)
     SELECT hauler_id, gen_random_uuid(), id, connection_id, now() - interval '3 hours', now() - interval '1 hour',
       now() + interval '1 hour', 'oops' FROM video_subscriptions WHERE id = $1`,
    [await follow({ startTime: inHours(100) })],
  );
  await postpone('video_windows');
  const before = vision.partner.askedOf(VIDEOS).length;
  await patch({ apiKey: NEW_KEY });
  await eventually(async () => expect((await read(ordered)).status).toBe('processing'));
  await eventually(async () => expect(await dueRow('video_windows')).toBeUndefined());
  await eventually(() => expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThan(before));
  await eventually(async () =>
    expect(await dueRow('video_polls')).toEqual({ soon: true, attempts: 0, last_error: null }),
  );
});

test('a subscription is due at once after a pause', async () => {
  vision.partner.on(CONTINUOUS, refuses(401, 'UNAUTHORIZED'));
  await follow();
  await postpone('video_subscriptions');
  await patch({ enabled: false });
  vision.partner.on(CONTINUOUS, noRecordings);
  expect(await dueRow('video_subscriptions')).toMatchObject({ soon: false });
  await patch({ enabled: true });
  await eventually(() => expect(vision.partner.askedOf(CONTINUOUS)).toHaveLength(2));
});

test('a change of another field makes nothing due', async () => {
  vision.partner.on(CONTINUOUS, refuses(401, 'UNAUTHORIZED'));
  await follow();
  await postpone('video_subscriptions');
  await patch({ intervalSeconds: 600, enabled: true, customerId: 'customer-1', baseUrl: `${vision.partner.url}/` });
  expect(await dueRow('video_subscriptions')).toMatchObject({ soon: false, attempts: 8 });
});

test('a reading with the former key is repeated, a request is not', async () => {
  const held: (() => void)[] = [];
  const holdFormerKey =
    (reply: ScriptedReply, former: ScriptedReply): ScriptedReply =>
    (response, request) => {
      if (request.headers['api-key'] === NEW_KEY) return reply(response, request);
      held.push(() => former(response, request));
    };
  vision.partner.on(CONTINUOUS, holdFormerKey(noRecordings, refuses(401, 'UNAUTHORIZED')));
  vision.partner.on(POST, holdFormerKey(accepts(), accepts()));
  vision.partner.on(VIDEOS, noVideos);
  await follow();
  const ordered = await order(connectionId);
  await eventually(() => expect(held).toHaveLength(2));
  await patch({ apiKey: NEW_KEY });
  await eventually(() => expect(vision.partner.askedOf(CONTINUOUS)).toHaveLength(2));
  for (const release of held) release();
  await eventually(async () => expect((await read(ordered)).status).toBe('processing'));
  expect(vision.partner.askedOf(POST)).toHaveLength(1);
  expect(await dueRow('video_subscriptions')).toMatchObject({ attempts: 0, last_error: null });
});
