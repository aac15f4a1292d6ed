import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { addWindow, readDue, readWindows } from '../../support/rows.js';
import { refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import {
  accepts,
  CONTINUOUS,
  type Element,
  inHours,
  lists,
  POST,
  VIDEOS,
  within,
} from '../../support/scripted-vision.js';
import { ageReadings, makeRereadingsDue, postpone, setWindowAttempts } from '../../support/time.js';
import { useVision } from '../../support/vision-scene.js';
import { Subscriptions } from './subscriptions.js';

/**
 * When continuous recordings are listed, and listed again. Times are moved, and nothing runs by the clock. What is sent and
 * read is in `acceptance/vision`.
 */
const vision = useVision({}, { ticks: false });
const subscriptions = new Subscriptions(vision);
const { hurry } = vision;
const HOUR = 3_600_000;

const oops = refuses(400, 'INVALID_PAYLOAD', 'oops');
const asked = () => vision.partner.askedOf(CONTINUOUS);
const ids = async () => (await subscriptions.recordings()).map(({ partnerRecordingId }) => partnerRecordingId).sort();
const follow = async (fields: object = {}) =>
  subscriptions.follow(await vision.connect(), { cameraId: 'front', ...fields });

/** Starts what is due until the expectation holds. */
const soon = (expectation: () => unknown) =>
  eventually(async () => {
    await hurry();
    await expectation();
  });

describe('footage that reaches the list late (decision 48)', () => {
  /** A subscription that was read until now. */
  async function followed(listed: readonly Element[]): Promise<string> {
    vision.partner.on(CONTINUOUS, within(listed));
    const id = await follow({ startTime: inHours(-500) });
    await subscriptions.reachesNow(id);
    await subscriptions.isReadAgain();
    return id;
  }

  const passes = (hours: number) => eventually(async () => expect(await makeRereadingsDue(vision.app, hours)).toBe(1));

  const late = (hours: number): Element =>
    subscriptions.chunk(hours, { id: 'late', downloadUrl: 'https://x.invalid/a' });

  test.each<[string, string, number, number]>([
    ['3 days', 'a long weekend', 71.9, 24],
    // A re-reading looks back from the one before it.
    ['13 days, and 6 more until the re-reading', 'a truck in the workshop, with bad luck', 13 * 24 + 6 * 24, 168],
  ])('is found %s late by the next re-reading of its age (%s)', async (_, _source, hours, every) => {
    const listed: Element[] = [];
    await followed(listed);
    listed.push(late(hours));
    await passes(every);
    await soon(async () => expect(await ids()).toEqual(['late']));
  });

  test('is found although the re-reading fails at first; the watermark is not held back', async () => {
    const listed: Element[] = [];
    const id = await followed(listed);
    listed.push(late(30));
    await passes(24);
    const isOld = (start: string | null) => Date.parse(start ?? '') < Date.now() - HOUR;
    vision.partner.on(CONTINUOUS, (response, request) =>
      (isOld(request.query.get('startTime')) ? oops : within(listed))(response, request),
    );
    const failed = async () =>
      (await readWindows(vision.app)).filter(({ isReread, attempts }) => isReread && attempts > 0);
    await soon(async () => expect((await failed()).length).toBeGreaterThan(2));
    await subscriptions.reachesNow(id);
    const reason = /^The partner lists no recording; it was last asked at \S+Z\. Asking again failed: .*oops/;
    await soon(async () =>
      expect((await subscriptions.coverage(inHours(-30), inHours(-29)))[0]?.reason).toMatch(reason),
    );
    vision.partner.on(CONTINUOUS, within(listed));
    await subscriptions.isReadAgain();
    expect(await ids()).toEqual(['late']);
  });
});

describe('a window that cannot be read (decisions 48, 54)', () => {
  /** It was deferred after its third failure. A 400 does not open the circuit, however often it is received. */
  const deferred = async () => {
    vision.partner.on(CONTINUOUS, oops);
    const startTime = inHours(-4);
    const id = await follow({ startTime });
    await soon(async () => expect((await readWindows(vision.app))[0]?.attempts).toBeGreaterThan(0));
    return { id, startTime };
  };

  test('is given up after 100 attempts, stays missing in the coverage, and is read after the connection changes', async () => {
    const { startTime } = await deferred();
    await soon(async () => {
      await setWindowAttempts(vision.app, 99);
      expect((await readWindows(vision.app))[0]).toMatchObject({ due_at: null });
    });
    expect(await subscriptions.coverage(startTime, inHours(-3))).toMatchObject([
      { state: 'missing', reason: expect.stringContaining('100') },
    ]);
    vision.partner.on(CONTINUOUS, within([subscriptions.chunk(3)]));
    const changed = await vision.app.admin('PATCH', `/connections/${vision.connectionId}`, { apiKey: 'another-key' });
    expect(changed.status).toBe(200);
    await eventually(async () => expect(await readWindows(vision.app)).toEqual([]));
    expect(await subscriptions.recordings()).toHaveLength(1);
  });
});

test('after an outage of 7 hours, a recording that was listed late is found, also by a deferred window (decision 48)', async () => {
  const all = [subscriptions.chunk(8.5, { id: 'in time' })];
  vision.partner.on(CONTINUOUS, within(all));
  const id = await follow({ startTime: inHours(-30) });
  await subscriptions.reachesNow(id);
  await eventually(async () => expect(await readDue(vision.app, 'video_subscriptions')).toMatchObject({ attempts: 0 }));
  await ageReadings(vision.app, 7);
  // It ended 13 minutes before the last reading.
  all.push(subscriptions.chunk(7.3, { id: 'late' }), subscriptions.chunk(6.9, { id: 'after' }));
  vision.partner.on(CONTINUOUS, oops);
  await soon(async () => expect(await readWindows(vision.app)).toHaveLength(1));
  const [row] = await readWindows(vision.app);
  expect(Math.abs((row?.start_time.getTime() ?? 0) - Date.parse(inHours(-7.25)))).toBeLessThan(120_000);
  all.push(subscriptions.chunk(0.1, { id: 'new' }));
  vision.partner.on(CONTINUOUS, (response, request) => {
    const isOld = Date.parse(request.query.get('startTime') ?? '') < Date.parse(inHours(-7.1));
    (isOld ? oops : within(all))(response, request);
  });
  await soon(async () => expect(await ids()).toEqual(['in time', 'new']));
  vision.partner.on(CONTINUOUS, within(all));
  await soon(async () => expect(await ids()).toEqual(['after', 'in time', 'late', 'new']));
});

const NEW_KEY = 'another-partner-key';
const noRecordings = lists('recordings', () => []);

/** A partner that accepts the new key only. */
const withNewKey =
  (reply: ScriptedReply): ScriptedReply =>
  (response, request) =>
    (request.headers['api-key'] === NEW_KEY ? reply : refuses(401, 'UNAUTHORIZED'))(response, request);

const patch = async (change: object) =>
  expect((await vision.app.admin('PATCH', `/connections/${vision.connectionId}`, change)).status).toBe(200);
/** Without a change, the next attempt is in an hour. */
const isPostponed = (table: Parameters<typeof postpone>[1]) =>
  eventually(async () => expect(await postpone(vision.app, table)).toBe(1));

describe('a change of a connection (decision 18)', () => {
  test('of the key is used at once by requests, by polls and by deferred windows', async () => {
    vision.partner.on(CONTINUOUS, withNewKey(noRecordings));
    vision.partner.on(VIDEOS, withNewKey(lists('videos', () => [])));
    vision.partner.on(POST, accepts());
    const connectionId = await vision.connect();
    const first = await vision.order(connectionId);
    await vision.becomes(first, { status: 'processing' });
    await eventually(async () => {
      if (vision.partner.askedOf(VIDEOS).length === 0) await hurry();
      expect(await postpone(vision.app, 'video_polls')).toBe(1);
    });
    vision.partner.on(POST, withNewKey(accepts()));
    const second = await vision.order(connectionId, { truckId: 'TRUCK-8' });
    await isPostponed('video_request_parts');
    await addWindow(vision.app, await subscriptions.follow(connectionId, { startTime: inHours(100) }), {
      from: -3,
      to: -1,
    });
    const before = vision.partner.askedOf(VIDEOS).length;
    await patch({ apiKey: NEW_KEY });
    await eventually(async () => expect((await vision.read(second)).status).toBe('processing'));
    await eventually(async () => expect(await readWindows(vision.app)).toEqual([]));
    await eventually(() => expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThan(before));
  });

  test('of its pause makes a subscription due at its end; a change of another field makes nothing due', async () => {
    vision.partner.on(CONTINUOUS, refuses(401, 'UNAUTHORIZED'));
    await subscriptions.follow(await vision.connect());
    await isPostponed('video_subscriptions');
    await patch({ intervalSeconds: 600, enabled: true, customerId: 'customer-1', baseUrl: `${vision.partner.url}/` });
    await patch({ enabled: false });
    expect((await readDue(vision.app, 'video_subscriptions'))?.inSeconds).toBeGreaterThan(1_800);
    const before = asked().length;
    await patch({ enabled: true });
    await eventually(() => expect(asked().length).toBeGreaterThan(before));
  });

  test('of the key repeats a reading that runs, and no request', async () => {
    const held: (() => void)[] = [];
    const holdFormerKey =
      (reply: ScriptedReply, former: ScriptedReply): ScriptedReply =>
      (response, request) => {
        if (request.headers['api-key'] === NEW_KEY) return reply(response, request);
        held.push(() => former(response, request));
      };
    vision.partner.on(CONTINUOUS, holdFormerKey(noRecordings, refuses(401, 'UNAUTHORIZED')));
    vision.partner.on(POST, holdFormerKey(accepts(), accepts()));
    const connectionId = await vision.connect();
    const id = await subscriptions.follow(connectionId);
    const ordered = await vision.order(connectionId);
    await eventually(() => expect(held).toHaveLength(2));
    await patch({ apiKey: NEW_KEY });
    await eventually(() => expect(asked()).toHaveLength(2));
    for (const release of held) release();
    await eventually(async () => expect((await vision.read(ordered)).status).toBe('processing'));
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
    await eventually(async () => expect(await subscriptions.read(id)).toHaveProperty('lastReadAt'));
    expect(await subscriptions.read(id)).not.toHaveProperty('lastError');
  });
});
