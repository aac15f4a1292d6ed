import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, refuses, when } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, type Element, inHours, lists, sha256, within } from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import { type ErrorBody, paths } from '../support/hauler.js';
import { admin, administer, call } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

const UNKNOWN = '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10';

/** A recording of five minutes that started so many hours ago. */
const chunk = ({ partner }: VisionScene, hours: number, fields: Element = {}): Element =>
  element({
    startTime: inHours(-hours),
    endTime: inHours(-hours + 1 / 12),
    downloadUrl: partner.link(sampleVideo(1_000)),
    ...fields,
  });

/** A subscription to a partner that lists what overlaps a window. */
async function following(listed: (vision: VisionScene) => readonly Element[], fields: Element = {}) {
  const vision = await VisionScene.create();
  vision.partner.on(CONTINUOUS, within(listed(vision)));
  return { vision, id: await vision.follow({ startTime: inHours(-4), cameraId: 'front', ...fields }) };
}

const queries = ({ partner }: VisionScene) => partner.askedOf(CONTINUOUS).map(({ query }) => query);
const timeOf = (query: URLSearchParams, name: string): number => Date.parse(query.get(name) ?? '');

const readAgain = (id: string, body: object) => admin<ErrorBody>('POST', `/video-subscriptions/${id}/read-again`, body);

/** Has the last hours listed again, and waits until the partner was asked. */
async function listedAgain(vision: VisionScene, id: string): Promise<void> {
  const before = queries(vision).length;
  expect((await readAgain(id, { from: inHours(-3), to: inHours(-1) })).status).toBe(202);
  await eventually(() => expect(queries(vision).length).toBeGreaterThan(before));
  await vision.isRead(id);
}

test.each<[string, object, string]>([
  ['an interval under 30 s', { intervalSeconds: 29 }, 'intervalSeconds'],
  ['an interval over a day', { intervalSeconds: 86_401 }, 'intervalSeconds'],
  ['no start', { startTime: undefined }, 'startTime'],
  ['no truck', { truckId: '' }, 'truckId'],
  ['an unknown connection', { connectionId: UNKNOWN }, 'connectionId'],
])('a subscription with %s is refused: 400 (decision 48)', async (_, fields, path) => {
  const { connectionId } = await VisionScene.create();
  const body = { connectionId, truckId: 'T', startTime: inHours(-1), ...fields };
  const refused = await admin<ErrorBody>('POST', '/video-subscriptions', body);
  expect([refused.status, paths(refused)]).toEqual([400, [path]]);
});

test.each<[string, object, string]>([
  ['an end before the start', { from: inHours(-1), to: inHours(-2) }, 'to'],
  ['more than 366 days', { from: inHours(-9_000), to: inHours(-1) }, 'to'],
  ['a time that has not begun', { from: inHours(1), to: inHours(2) }, 'from'],
  ['no start', { to: inHours(2) }, 'from'],
])('read-again is refused with %s: 400 (decision 48)', async (_, body, path) => {
  const { id } = await following(() => [], { startTime: inHours(100) });
  const refused = await readAgain(id, body);
  expect([refused.status, paths(refused)]).toEqual([400, [path]]);
});

const stories: Record<string, () => Promise<unknown>> = {
  'windows are at most 24 h long, adjacent, and end a minute ago (section 4.6 customerId, truckId, cameraId, startTime, endTime, page, pageSize; decision 48)':
    async () => {
      const { vision, id } = await following(() => [], { startTime: inHours(-60) });
      await vision.isRead(id);
      const [first = new URLSearchParams()] = queries(vision);
      expect(Object.fromEntries(first)).toMatchObject({
        ...{ customerId: 'customer-1', truckId: 'TRUCK-7', cameraId: 'front' },
        ...{ page: '1', pageSize: '100' },
      });
      // A window may be read twice: a poke makes the reading due again.
      const windows = new Map(queries(vision).map((query) => [timeOf(query, 'startTime'), timeOf(query, 'endTime')]));
      let end = timeOf(first, 'startTime');
      for (const [start, windowEnd] of [...windows].sort(([one], [other]) => one - other).slice(0, 3)) {
        expect(start).toBe(end);
        expect(windowEnd - start).toBeLessThanOrEqual(86_400_000);
        end = windowEnd;
      }
      expect(Date.now() - end).toBeGreaterThanOrEqual(59_000);
    },

  'every page of a window is read (decision 48)': async () => {
    const { vision, id } = await following((scene) => {
      const link = { downloadUrl: scene.partner.link(sampleVideo(200)) };
      return Array.from({ length: 130 }, (_, n) => chunk(scene, 3.9 - n / 100, { id: `chunk ${n}`, ...link }));
    });
    await vision.isRead(id);
    expect(await vision.recordings()).toHaveLength(130);
    // A window may be read twice at once: a poke makes the reading due again.
    const pages = new Set(queries(vision).map((query) => query.get('page')));
    expect([...pages].sort()).toEqual(['1', '2']);
  },

  'the watermark skips no window that fails; those after it are read (section 4.6 400, 401, 404, 500; decision 48)':
    async () => {
      const vision = await VisionScene.create();
      const startTime = inHours(-30);
      const [old, recent] = [chunk(vision, 29), chunk(vision, 2)];
      const firstDay = Date.parse(startTime) + 86_400_000;
      const broken = { isSo: true };
      vision.partner.on(CONTINUOUS, (response, request) => {
        const isFirst = Date.parse(request.query.get('endTime') ?? '') <= firstDay;
        if (isFirst && broken.isSo) return refuses(500, 'INTERNAL_ERROR', 'bad day')(response, request);
        within([old, recent])(response, request);
      });
      const id = await vision.follow({ startTime, cameraId: 'front' });
      await eventually(async () => expect((await vision.subscription(id)).lastError).toContain('bad day'));
      expect(Date.parse((await vision.subscription(id)).watermark)).toBe(Date.parse(startTime));
      expect(await vision.coverage(startTime, inHours(-29.5))).toMatchObject([
        { state: 'missing', reason: expect.stringContaining('bad day') },
      ]);
      broken.isSo = false;
      await vision.recordingsBecome([{ status: 'stored' }, { status: 'stored' }]);
      await vision.isRead(id);
    },

  'a recording that is listed up to 15 minutes late is found by the next reading (decision 48)': async () => {
    const listed: Element[] = [];
    const { vision, id } = await following(() => listed);
    await vision.isRead(id);
    listed.push(chunk(vision, 0.2, { id: 'late' }));
    await vision.recordingsBecome([{ status: 'stored', partnerRecordingId: 'late' }]);
  },

  'a poke while the truck is being read is followed by another reading (decision 48)': async () => {
    const vision = await VisionScene.create();
    let release = (): void => undefined;
    vision.partner.on(CONTINUOUS, when(new Promise<void>((resolve) => (release = resolve)), within([])));
    await vision.follow({ startTime: inHours(-4), intervalSeconds: 86_400 });
    await eventually(() => expect(queries(vision)).toHaveLength(1));
    const headers = { 'API-KEY': vision.connectionKey };
    const poked = await call('POST', '/partner/v1/pokes', { headers, body: { truckId: 'TRUCK-7' } });
    expect(poked).toMatchObject({ status: 202, body: { polls: 1 } });
    release();
    await eventually(() => expect(queries(vision).length).toBeGreaterThan(1), 20_000);
  },

  'read-again lists any time again, each day once, however often it is asked (decision 48)': async () => {
    const listed: Element[] = [];
    const { vision, id } = await following(() => listed, { startTime: inHours(-500) });
    await vision.isRead(id);
    const before = queries(vision).length;
    listed.push(chunk(vision, 400, { id: 'late' }));
    let release = (): void => undefined;
    vision.partner.on(CONTINUOUS, when(new Promise<void>((resolve) => (release = resolve)), within(listed)));
    const [from, to] = [inHours(-450), inHours(-380)];
    const answers = await Promise.all([1, 2, 3].map(() => readAgain(id, { from, to })));
    expect(answers).toMatchObject([1, 2, 3].map(() => ({ status: 202, body: { id } })));
    release();
    await eventually(async () => expect(await vision.recordings()).toMatchObject([{ partnerRecordingId: 'late' }]));
    const starts = queries(vision)
      .slice(before)
      .map((query) => query.get('startTime'));
    expect(new Set(starts).size).toBe(starts.length);
    const { data } = await administer<{ data: object[] }>('GET', `/actions?resource=video-subscription:${id}`);
    expect(data[0]).toMatchObject({ changes: { from: expect.stringContaining(from.slice(0, -1)) } });
  },

  'the coverage says what is stored, and why the rest is missing (decision 49)': async () => {
    const { vision, id } = await following((scene) => [
      chunk(scene, 3),
      chunk(scene, 2, {
        downloadUrl: scene.partner.link(sampleVideo(), (_, response) => response.writeHead(503).end()),
      }),
    ]);
    await vision.isRead(id);
    const states = async () => (await vision.coverage(inHours(-3.5), inHours(-1.5))).map(({ state }) => state);
    await eventually(async () =>
      expect(await states()).toEqual(['missing', 'stored', 'missing', 'available', 'missing']),
    );
    const [first] = await vision.coverage(inHours(-3.5), inHours(-3.2));
    expect(first?.reason).toBe(`The partner lists no recording; it was last asked at ${first?.lastAskedAt ?? ''}.`);
    expect(await vision.coverage(inHours(-9), inHours(-8))).toMatchObject([
      { state: 'missing', reason: expect.any(String) },
    ]);
  },

  'a subscription is read with the customer of its connection, also after a change (section 4.6 404)': async () => {
    const vision = await VisionScene.create();
    const listed = [chunk(vision, 3)];
    vision.partner.on(CONTINUOUS, (response, request) => {
      const isRight = request.query.get('customerId') === 'right';
      (isRight ? within(listed) : refuses(404, 'NOT_FOUND', 'unknown customer'))(response, request);
    });
    const id = await vision.follow({ startTime: inHours(-4) });
    await eventually(async () => expect((await vision.subscription(id)).lastError).toContain('unknown customer'));
    await administer('PATCH', `/connections/${vision.connectionId}`, { customerId: 'right' });
    await vision.recordingsBecome([{ status: 'stored' }]);
    expect(await vision.isRead(id)).not.toHaveProperty('lastError');
  },

  'a paused subscription is not read, and is read after the pause (decision 48)': async () => {
    const { vision, id } = await following((scene) => [chunk(scene, 3)]);
    await vision.recordingsBecome([{ status: 'stored' }]);
    const change = { enabled: false, intervalSeconds: 600 };
    expect(await administer('PATCH', `/video-subscriptions/${id}`, change)).toMatchObject(change);
    const before = queries(vision).length;
    await vision.nudge();
    // A clip that was requested later was sent: the work of the connection ran.
    vision.prepares(() => [element({ requestId: 'r-1', downloadUrl: vision.partner.link(sampleVideo(1_000)) })], {
      requestId: 'r-1',
    });
    await vision.becomes(await vision.order(), { status: 'stored' });
    expect(queries(vision)).toHaveLength(before);
    await administer('PATCH', `/video-subscriptions/${id}`, { enabled: true });
    await eventually(() => expect(queries(vision).length).toBeGreaterThan(before));
  },

  'no further page is read after the connection was deleted; what was not read stays missing (decisions 49, 54)':
    async () => {
      const vision = await VisionScene.create();
      const pagination = { page: 1, pageSize: 1, totalItems: 60, totalPages: 60 };
      vision.partner.on(CONTINUOUS, (response, request) => {
        const page = json({ success: true, data: { recordings: [chunk(vision, 2)], pagination } });
        void admin('DELETE', `/connections/${vision.connectionId}`).then(() => page(response, request));
      });
      const id = await vision.follow({ startTime: inHours(-4) });
      await eventually(async () => expect((await vision.subscription(id)).lastError).toContain('was deleted'));
      expect(queries(vision)).toHaveLength(1);
      expect(await vision.coverage(inHours(-3), inHours(-2.5))).toMatchObject([
        { state: 'missing', reason: 'Not read: the connection was deleted, and nothing more will be read.' },
      ]);
    },

  'a subscription is read although the partner of another hauler does not answer (decision 48)': async () => {
    const slow = await VisionScene.create();
    let release = (): void => undefined;
    const empty = lists('recordings', () => []);
    slow.partner.on(CONTINUOUS, when(new Promise<void>((resolve) => (release = resolve)), empty));
    for (let n = 0; n < 9; n++) await slow.follow({ truckId: `SLOW-${n}`, startTime: inHours(-1) });
    await eventually(() => expect(queries(slow).length).toBeGreaterThan(1));
    const { vision } = await following((scene) => [chunk(scene, 3)]);
    await vision.recordingsBecome([{ status: 'stored' }]);
    // Two of its nine trucks are asked for at once.
    expect(queries(slow)).toHaveLength(2);
    release();
  },

  'a recording of two subscriptions is stored once (decision 48)': async () => {
    const { vision, id } = await following((scene) => [chunk(scene, 2)]);
    const other = await vision.follow({ startTime: inHours(-4) });
    for (const each of [id, other]) await vision.isRead(each);
    await vision.recordingsBecome([{ status: 'stored' }]);
  },
};

testAtOnce(
  '$name',
  Object.entries(stories).map(([name, run]) => ({ name, run })),
  ({ run }) => run(),
);

interface Again {
  readonly name: string;
  /** The element as it is listed later. */
  readonly later: (vision: VisionScene, first: Element) => Element;
  /** Partner's ids and states of all recordings in the end. */
  readonly become: readonly Element[];
  /** The first one cannot be fetched. */
  readonly isWaiting?: true;
}

const stored = { status: 'stored' };
const [rear, moved] = [sampleVideo(300), sampleVideo(400)];
const EARLIER = inHours(-2.05);

testAtOnce(
  'a recording that is listed again $name (decision 48)',
  [
    {
      name: 'under another id and link is the same one',
      later: (_, first) => ({ ...first, id: 'renamed' }),
      become: [stored],
    },
    {
      name: 'with its id and a range that overlaps is kept beside the first one',
      later: ({ partner }, first) => ({ ...first, startTime: EARLIER, downloadUrl: partner.link(moved) }),
      become: [stored, { ...stored, sha256: sha256(moved) }],
    },
    {
      name: 'with its id for another camera is another one, with its own file',
      later: ({ partner }, first) => ({ ...first, cameraId: 'rear', downloadUrl: partner.link(rear) }),
      become: [
        { ...stored, cameraId: 'front' },
        { ...stored, cameraId: 'rear', sha256: sha256(rear) },
      ],
    },
    {
      name: 'under a camera name that nobody has declared to be the same is another one',
      later: (_, first) => ({ ...first, cameraId: '1' }),
      become: [
        { ...stored, cameraId: 'front' },
        { ...stored, cameraId: '1' },
      ],
    },
    {
      name: 'with its id and a later range is another one',
      later: (_, first) => ({ ...first, startTime: inHours(-1.5), endTime: inHours(-1.4) }),
      become: [stored, stored],
    },
    {
      name: 'with a later end before it was fetched takes the new range and link',
      isWaiting: true,
      later: ({ partner }, first) => ({
        ...first,
        endTime: inHours(-1.8),
        durationSeconds: 720,
        downloadUrl: partner.link(moved),
      }),
      become: [{ ...stored, durationSeconds: 720, sha256: sha256(moved) }],
    },
  ] satisfies Again[],
  async ({ later, become, isWaiting }: Again) => {
    const vision = await VisionScene.create();
    const busy = vision.partner.link(rear, (_, response) => response.writeHead(503).end());
    const first = chunk(vision, 2, isWaiting === true ? { downloadUrl: busy } : {});
    const listed: Element[] = [first];
    vision.partner.on(CONTINUOUS, (response, request) => within(listed)(response, request));
    const id = await vision.follow({ startTime: inHours(-4) });
    await vision.isRead(id);
    if (isWaiting !== true) await vision.recordingsBecome([stored]);
    listed[0] = later(vision, first);
    // A reading leaves a recording alone while it is being fetched.
    await eventually(async () => {
      await listedAgain(vision, id);
      await vision.recordingsBecome(become, 8_000);
    });
  },
);
