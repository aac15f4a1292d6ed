import { describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, refuses } from '../../support/scripted-partner.js';
import { accepts, CONTINUOUS, element, inHours, lists, POST } from '../../support/scripted-vision.js';
import { Subscriptions, within } from './subscriptions.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision();
const subscriptions = new Subscriptions(vision);

describe('a subscription', () => {
  test('is read window by window, and its recordings are fetched', async () => {
    const connectionId = await vision.connect();
    const first = Date.parse(inHours(-3));
    const at = (n: number) => new Date(first + n * 300_000).toISOString();
    const chunks = [0, 1, 2].map((n) =>
      element({ startTime: at(n), endTime: at(n + 1), downloadUrl: vision.partner.link(sampleVideo()) }),
    );
    vision.listRecordings(() => chunks);
    const begun = Date.now();
    const made = await vision.app.admin<{ id: string }>('POST', '/video-subscriptions', {
      connectionId,
      truckId: 'TRUCK-7',
      startTime: inHours(-4),
    });
    expect(made).toMatchObject({ status: 201, body: { intervalSeconds: 300, enabled: true } });
    const stored = { status: 'stored' };
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([stored, stored, stored]));
    const { watermark } = await subscriptions.read(made.body.id);
    expect(Date.parse(watermark)).toBeGreaterThan(begun - 70_000);
    const covered = await vision.app.admin<{ data: { state: string }[] }>(
      'GET',
      `/coverage?connectionId=${connectionId}&truckId=TRUCK-7&from=${inHours(-4)}&to=${inHours(0)}`,
    );
    expect(covered.body.data.map(({ state }) => state)).toEqual([
      'missing',
      'stored',
      'stored',
      'stored',
      'missing',
      'missing',
    ]);
  });

  test('has the interval of its connection, or its own one', async () => {
    vision.listRecordings(() => []);
    const connectionId = await vision.connect();
    expect((await vision.app.admin('PATCH', `/connections/${connectionId}`, { intervalSeconds: 3_600 })).status).toBe(
      200,
    );
    const intervalOf = async (fields: object) =>
      (await subscriptions.read(await subscriptions.follow(connectionId, fields))).intervalSeconds;
    expect(await intervalOf({})).toBe(3_600);
    expect(await intervalOf({ intervalSeconds: 30 })).toBe(30);
  });

  test('of a paused connection is not read; a requested video is fetched', async () => {
    const clip = element({ requestId: 'req-p', downloadUrl: vision.partner.link(sampleVideo()) });
    vision.partner.on(POST, accepts({ requestId: 'req-p' }));
    vision.listVideos(() => [clip]);
    const connectionId = await vision.connect();
    await vision.app.admin('PATCH', `/connections/${connectionId}`, { enabled: false });
    await subscriptions.follow(connectionId);
    await vision.order(connectionId);
    await eventually(async () => {
      await vision.hurry();
      expect(await subscriptions.recordings()).toMatchObject([{ status: 'stored' }]);
    });
    expect(vision.partner.askedOf(CONTINUOUS)).toEqual([]);
  });

  test('is read although the partner of another connection does not answer', async () => {
    const waiting: (() => void)[] = [];
    const answer = lists('recordings', () => [subscriptions.chunk(2)]);
    vision.partner.on(CONTINUOUS, (response, request) => {
      if (request.query.get('truckId')?.startsWith('SLOW') !== true) return answer(response, request);
      waiting.push(() => json({ success: true, data: { recordings: [] } })(response, request));
    });
    const slow = await vision.connect();
    for (let n = 0; n < 9; n++) await subscriptions.follow(slow, { truckId: `SLOW-${n}` });
    await eventually(async () => expect(waiting).toHaveLength(2));
    await subscriptions.follow(await vision.connect());
    await eventually(async () => expect(await subscriptions.recordings()).toHaveLength(1));
    // The partner that does not answer received two of nine calls.
    expect(waiting).toHaveLength(2);
    vision.listRecordings(() => []);
    for (const release of waiting) release();
  });

  test('is read with the customer of its connection, also after a change', async () => {
    const listed = within([subscriptions.chunk(3)]);
    vision.partner.on(CONTINUOUS, (response, request) =>
      (request.query.get('customerId') === 'right' ? listed : refuses(404, 'NOT_FOUND', 'unknown customer'))(
        response,
        request,
      ),
    );
    const id = await subscriptions.follow(await vision.connect());
    await eventually(async () => expect((await subscriptions.read(id)).lastError).toContain('unknown customer'));
    const changed = await vision.app.admin('PATCH', `/connections/${vision.connectionId}`, { customerId: 'right' });
    expect(changed.status).toBe(200);
    await eventually(async () => {
      await vision.hurry();
      expect(await subscriptions.recordings()).toHaveLength(1);
    });
    await subscriptions.reachesNow(id);
  });

  test('reads no further page after its connection was deleted', async () => {
    vision.partner.on(CONTINUOUS, (response, request) => {
      const pagination = { page: 1, pageSize: 1, totalItems: 60, totalPages: 60 };
      const page = json({ success: true, data: { recordings: [subscriptions.chunk(2)], pagination } });
      void vision.app.admin('DELETE', `/connections/${vision.connectionId}`).then(() => page(response, request));
    });
    const id = await subscriptions.follow(await vision.connect());
    await eventually(async () =>
      expect((await subscriptions.read(id)).lastError).toContain('The connection was deleted'),
    );
    await eventually(async () => {
      await vision.hurry();
      expect(await vision.query('SELECT due_at FROM video_subscriptions')).toEqual([{ due_at: null }]);
    });
    expect(vision.partner.askedOf(CONTINUOUS)).toHaveLength(1);
  });

  test('is read, changed, listed and deleted', async () => {
    vision.listRecordings(() => []);
    const connectionId = await vision.connect();
    const id = await subscriptions.follow(connectionId, { cameraId: 'front', intervalSeconds: 30 });
    await subscriptions.reachesNow(id);
    expect(Object.fromEntries(vision.partner.asked[0]?.query ?? [])).toMatchObject({
      customerId: 'customer-1',
      truckId: 'TRUCK-7',
      cameraId: 'front',
      page: '1',
      pageSize: '100',
    });
    const changed = await vision.app.admin('PATCH', `/video-subscriptions/${id}`, {
      enabled: false,
      intervalSeconds: 600,
    });
    expect(changed).toMatchObject({ status: 200, body: { enabled: false, intervalSeconds: 600 } });
    const calls = vision.partner.asked.length;
    await vision.hurry();
    const list = await vision.app.admin('GET', `/video-subscriptions?connectionId=${connectionId}&truckId=TRUCK-7`);
    expect(list.body).toMatchObject({ data: [{ id }], pagination: { totalItems: 1 } });
    expect(vision.partner.asked).toHaveLength(calls);
    const newer = await subscriptions.follow(connectionId);
    const both = await vision.app.admin('GET', `/video-subscriptions?connectionId=${connectionId}`);
    expect(both.body).toMatchObject({ data: [{ id: newer }, { id }], pagination: { totalItems: 2 } });
    expect((await vision.app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(204);
    expect((await vision.app.admin('GET', `/video-subscriptions/${id}`)).status).toBe(404);
    expect((await vision.app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(404);
  });

  test.each<[string, object, string]>([
    ['an interval under 30 s', { intervalSeconds: 29 }, 'intervalSeconds'],
    ['no start', { startTime: undefined }, 'startTime'],
    ['an unknown connection', { connectionId: '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10' }, 'connectionId'],
  ])('is refused with %s: 400', async (_, fields, path) => {
    const body = { connectionId: await vision.connect(), truckId: 'T', startTime: inHours(-1), ...fields };
    const answer = await vision.app.admin('POST', '/video-subscriptions', body);
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { violations: [{ path }] } } } });
  });
});

describe('the windows of a subscription', () => {
  test('are at most 24 h long, adjacent, and end a minute ago', async () => {
    vision.listRecordings(() => []);
    const id = await subscriptions.follow(await vision.connect(), { startTime: inHours(-60) });
    await subscriptions.reachesNow(id);
    const windows = vision.partner
      .askedOf(CONTINUOUS)
      .map(
        ({ query }) =>
          [query.get('startTime'), query.get('endTime')].map((time) => Date.parse(time ?? '')) as [number, number],
      );
    expect(windows).toHaveLength(3);
    windows.forEach(([start, end], i) => {
      expect(end - start).toBeLessThanOrEqual(86_400_000);
      const next = windows[i + 1];
      if (next !== undefined) expect(next[0]).toBe(end);
      else expect(Date.now() - end).toBeGreaterThanOrEqual(59_000);
    });
  });

  test('are read page by page, and late recordings are found', async () => {
    const chunks = Array.from({ length: 250 }, (_, i) =>
      subscriptions.chunk(3.9 - i / 100, { downloadUrl: 'https://x.invalid/a' }),
    );
    vision.partner.on(CONTINUOUS, within(chunks));
    const id = await subscriptions.follow(await vision.connect());
    await subscriptions.reachesNow(id);
    const count = () => vision.query('SELECT count(*)::int AS n FROM recordings');
    expect(await count()).toEqual([{ n: 250 }]);
    expect(vision.partner.askedOf(CONTINUOUS)).toHaveLength(3);
    chunks.push(subscriptions.chunk(3.95, { id: 'late', downloadUrl: 'https://x.invalid/a' }));
    await subscriptions.readAgain(id);
    await eventually(async () => expect(await count()).toEqual([{ n: 251 }]));
  });

  test('are read again after a failure, and the watermark waits', async () => {
    const found = [subscriptions.chunk(2)];
    const broken = refuses(500, 'INTERNAL_ERROR', 'oops');
    vision.partner.on(
      CONTINUOUS,
      broken,
      broken,
      lists('recordings', () => found),
    );
    const startTime = inHours(-4);
    const id = await subscriptions.follow(await vision.connect(), { startTime });
    await eventually(async () => expect((await subscriptions.read(id)).lastError).toContain('oops'));
    expect(Date.parse((await subscriptions.read(id)).watermark)).toBe(Date.parse(startTime));
    await eventually(async () => {
      await vision.hurry();
      expect(await subscriptions.recordings()).toHaveLength(1);
    });
    await subscriptions.reachesNow(id);
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([{ status: 'stored' }]));
  });

  test('have the reason of a failure in the coverage, from the watermark on', async () => {
    vision.partner.on(CONTINUOUS, refuses(404, 'NOT_FOUND', 'the truck is unknown'));
    const connectionId = await vision.connect();
    const startTime = inHours(-4);
    const id = await subscriptions.follow(connectionId, { startTime });
    await eventually(async () => expect((await subscriptions.read(id)).lastError).toContain('the truck is unknown'));
    const query = `connectionId=${connectionId}&truckId=TRUCK-7&from=${startTime}&to=${inHours(-3)}`;
    const { body } = await vision.app.admin<{ data: { reason: string }[] }>('GET', `/coverage?${query}`);
    expect(body.data.map(({ reason }) => reason)).toEqual([
      `Not read yet: ${(await subscriptions.read(id)).lastError}`,
    ]);
  });

  test('are read after one that keeps failing, which holds the watermark until it can be read', async () => {
    let isRepaired = false;
    const old = subscriptions.chunk(59);
    const recent = subscriptions.chunk(2);
    const startTime = inHours(-60);
    const firstDay = Date.parse(startTime) + 86_400_000;
    vision.partner.on(CONTINUOUS, (response, request) => {
      const end = Date.parse(request.query.get('endTime') ?? '');
      if (end <= firstDay && !isRepaired) return refuses(500, 'INTERNAL_ERROR', 'bad day')(response, request);
      lists('recordings', () => (end <= firstDay ? [old] : [recent]))(response, request);
    });
    const id = await subscriptions.follow(await vision.connect(), { startTime });
    await eventually(async () => {
      await vision.hurry();
      expect(await subscriptions.recordings()).toMatchObject([{ status: 'stored' }]);
    });
    expect(Date.parse((await subscriptions.read(id)).watermark)).toBe(Date.parse(startTime));
    const [first] = await subscriptions.coverage(inHours(-50), inHours(-48));
    expect(first?.reason).toContain('bad day');
    isRepaired = true;
    await eventually(async () => {
      await vision.hurry();
      expect(await subscriptions.recordings()).toHaveLength(2);
    });
    await subscriptions.reachesNow(id);
  });
});

test('a window that a gateway always refuses with 504 is deferred once the circuit closes again', async () => {
  vision.partner.on(CONTINUOUS, refuses(504, 'INTERNAL_ERROR', 'gateway timeout'));
  const startTime = inHours(-31);
  const id = await subscriptions.follow(await vision.connect(), { startTime });
  await eventually(async () => expect((await subscriptions.read(id)).lastError).toContain('504'));
  await eventually(async () => {
    await vision.hurry();
    expect((await subscriptions.read(id)).lastError).not.toContain('504');
  });
  // The circuit stays open for 30 s.
  const now = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 31_000);
  await eventually(async () => {
    await vision.hurry();
    const rows = await vision.query<unknown>('SELECT start_time, reason FROM video_windows');
    const reason = expect.stringContaining('504');
    expect(rows).toEqual([{ start_time: new Date(startTime), reason }]);
  }, 15_000).finally(() => clock.mockRestore());
  const [row] = await vision.query<{ read_until: Date }>('SELECT read_until FROM video_subscriptions WHERE id = $1', [
    id,
  ]);
  expect(row?.read_until.getTime()).toBe(Date.parse(startTime) + 86_400_000);
});
