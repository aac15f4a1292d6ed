import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { JobsService } from '../../src/jobs/jobs.service.js';
import { formatInstant } from '../../src/contracts/common/instant.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { json, refuses, type ScriptedReply } from '../support/scripted-partner.js';
import {
  accepts,
  connectVision,
  CONTINUOUS,
  element,
  type Element,
  startAnew,
  hurry,
  inHours,
  lists,
  POST,
  sha256,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../support/vision-partner.js';
import { sampleVideo } from '../support/sample-video.js';

interface Subscription {
  readonly id: string;
  readonly watermark: string;
  readonly enabled: boolean;
  readonly lastError?: string;
}

let app: TestApp;
let partner: VisionPartner;
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
});
afterEach(() => startAnew(app, partner));
afterAll(async () => {
  await app.close();
  await partner.stop();
});

/** Of this test: what an earlier one had under way may still come in. */
let connected = '';
const connect = async () => (connected = (await connectVision(app, partner.url)).id);

async function follow(connectionId: string, fields: object = {}): Promise<string> {
  const body = { connectionId, truckId: 'TRUCK-7', startTime: inHours(-4), ...fields };
  const { status, body: made } = await app.admin<{ id: string }>('POST', '/video-subscriptions', body);
  expect(status).toBe(201);
  return made.id;
}

const read = async (id: string) => (await app.admin<Subscription>('GET', `/video-subscriptions/${id}`)).body;

const NOTHING_MORE = 'Not read: the connection was deleted, and nothing more will be read.';

interface Listed {
  readonly endTime: string;
  readonly durationSeconds: number;
  readonly partnerRecordingId: string;
  readonly cameraId: string;
  readonly sha256?: string;
  readonly status: string;
  readonly startTime: string;
}
const recordings = async () =>
  (await app.admin<{ data: Listed[] }>('GET', `/recordings?connectionId=${connected}&pageSize=100`)).body.data;

/** A chunk of five minutes that began so many hours ago. */
const chunk = (hours: number, fields: Element = {}): Element =>
  element({
    startTime: inHours(-hours),
    endTime: inHours(-hours + 1 / 12),
    downloadUrl: partner.link(sampleVideo(1_000)),
    ...fields,
  });

const readAgain = async (id: string): Promise<void> => {
  const before = partner.askedOf(CONTINUOUS).length;
  // A reading that is under way may have been asked for before, and cannot be hurried: the one after it counts.
  await eventually(async () => {
    await hurry(app);
    expect(partner.askedOf(CONTINUOUS).length).toBeGreaterThan(before + 1);
  });
  await eventually(async () => {
    const [row] = await app.dataSource.query<{ idle: boolean }[]>(
      'SELECT lease_token IS NULL AS idle FROM video_subscriptions WHERE id = $1',
      [id],
    );
    expect(row?.idle).toBe(true);
  });
};

/** Lists what lies in the window that is asked for. */
const within =
  (all: readonly Element[]): ScriptedReply =>
  (response, request) => {
    const [from = 0, to = 0] = ['startTime', 'endTime'].map((name) => Date.parse(request.query.get(name) ?? ''));
    const asked = ({ startTime, endTime }: Element) =>
      Date.parse(String(startTime)) < to && Date.parse(String(endTime)) > from;
    lists('recordings', () => all.filter(asked))(response, request);
  };

const reachesNow = (id: string) =>
  eventually(async () => expect(Date.parse((await read(id)).watermark)).toBeGreaterThan(Date.now() - 90_000), 10_000);

describe('a subscription', () => {
  test('looks as often as its connection says, unless it says something else', async () => {
    partner.on(
      CONTINUOUS,
      lists('recordings', () => []),
    );
    const connectionId = await connect();
    expect((await app.admin('PATCH', `/connections/${connectionId}`, { intervalSeconds: 3_600 })).status).toBe(200);
    const intervalOf = async (id: string) => (await app.admin<Subscription>('GET', `/video-subscriptions/${id}`)).body;
    expect(await intervalOf(await follow(connectionId))).toMatchObject({ intervalSeconds: 3_600 });
    expect(await intervalOf(await follow(connectionId, { intervalSeconds: 30 }))).toMatchObject({
      intervalSeconds: 30,
    });
  });

  test('of a paused connection is not read; what an admin asks for goes through', async () => {
    const clip = element({ requestId: 'req-p', downloadUrl: partner.link(sampleVideo()) });
    partner.on(POST, accepts({ requestId: 'req-p' }));
    partner.on(
      VIDEOS,
      lists('videos', () => [clip]),
    );
    const connectionId = await connect();
    await app.admin('PATCH', `/connections/${connectionId}`, { enabled: false });
    await follow(connectionId);
    const { truckId, cameraId, startTime, endTime } = clip;
    const asked = await app.admin('POST', '/video-requests', { connectionId, truckId, cameraId, startTime, endTime });
    expect(asked.status).toBe(202);
    await eventually(async () => {
      await hurry(app);
      expect(await recordings()).toMatchObject([{ status: 'stored' }]);
    }, 10_000);
    expect(partner.askedOf(CONTINUOUS)).toEqual([]);
  });

  test("is read though another connection's partner lets all of its own wait", async () => {
    const waiting: (() => void)[] = [];
    const answer = lists('recordings', () => [chunk(2)]);
    partner.on(CONTINUOUS, (response, request) => {
      if (request.query.get('truckId')?.startsWith('SLOW') !== true) return answer(response, request);
      waiting.push(() => json({ success: true, data: { recordings: [] } })(response, request));
    });
    const slow = await connect();
    for (let n = 0; n < 9; n++) await follow(slow, { truckId: `SLOW-${n}` });
    await eventually(async () => expect(waiting).toHaveLength(2));
    await follow(await connect());
    await eventually(async () => expect(await recordings()).toHaveLength(1));
    // Of the slow one's nine no more were asked for meanwhile.
    expect(waiting).toHaveLength(2);
    partner.on(
      CONTINUOUS,
      lists('recordings', () => []),
    );
    for (const release of waiting) release();
  });

  test('is read as of the customer that its connection names, whenever that is mended', async () => {
    const listed = within([chunk(3)]);
    partner.on(CONTINUOUS, (response, request) =>
      (request.query.get('customerId') === 'right' ? listed : refuses(404, 'NOT_FOUND', 'who?'))(response, request),
    );
    const id = await follow(await connect());
    await eventually(async () => expect((await read(id)).lastError).toContain('who?'));
    const mended = await app.admin('PATCH', `/connections/${connected}`, { customerId: 'right' });
    expect(mended.status).toBe(200);
    await eventually(async () => {
      await hurry(app);
      expect(await recordings()).toHaveLength(1);
    });
    await reachesNow(id);
  });

  test('is asked for no further page once its connection is deleted', async () => {
    partner.on(CONTINUOUS, (response, request) => {
      const pagination = { page: 1, pageSize: 1, totalItems: 60, totalPages: 60 };
      const page = json({ success: true, data: { recordings: [chunk(2)], pagination } });
      void app.admin('DELETE', `/connections/${connected}`).then(() => page(response, request));
    });
    const id = await follow(await connect());
    await eventually(async () => expect((await read(id)).lastError).toContain('The connection was deleted'));
    await eventually(async () => {
      await hurry(app);
      const [row] = await app.dataSource.query<{ due_at: Date | null }[]>(
        'SELECT due_at FROM video_subscriptions WHERE id = $1',
        [id],
      );
      expect(row?.due_at).toBeNull();
    });
    expect(partner.askedOf(CONTINUOUS)).toHaveLength(1);
  });

  test('is read, changed, listed and ended', async () => {
    partner.on(
      CONTINUOUS,
      lists('recordings', () => []),
    );
    const connectionId = await connect();
    const id = await follow(connectionId, { cameraId: 'front', intervalSeconds: 30 });
    await reachesNow(id);
    expect(Object.fromEntries(partner.asked[0]?.query ?? [])).toMatchObject({
      customerId: 'customer-1',
      truckId: 'TRUCK-7',
      cameraId: 'front',
      page: '1',
      pageSize: '100',
    });
    const changed = await app.admin('PATCH', `/video-subscriptions/${id}`, { enabled: false, intervalSeconds: 600 });
    expect(changed).toMatchObject({ status: 200, body: { enabled: false, intervalSeconds: 600 } });
    const calls = partner.asked.length;
    await hurry(app);
    const list = await app.admin('GET', `/video-subscriptions?connectionId=${connectionId}&truckId=TRUCK-7`);
    expect(list.body).toMatchObject({ data: [{ id }], pagination: { totalItems: 1 } });
    expect(partner.asked).toHaveLength(calls);
    const younger = await follow(connectionId);
    const both = await app.admin('GET', `/video-subscriptions?connectionId=${connectionId}`);
    expect(both.body).toMatchObject({ data: [{ id: younger }, { id }], pagination: { totalItems: 2 } });
    expect((await app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(204);
    expect((await app.admin('GET', `/video-subscriptions/${id}`)).status).toBe(404);
    expect((await app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(404);
  });

  test.each<[string, object, string]>([
    ['an interval under 30 s', { intervalSeconds: 29 }, 'intervalSeconds'],
    ['no start', { startTime: undefined }, 'startTime'],
    ['an unknown connection', { connectionId: '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10' }, 'connectionId'],
  ])('%s: 400', async (_, fields, path) => {
    const body = { connectionId: await connect(), truckId: 'T', startTime: inHours(-1), ...fields };
    const answer = await app.admin('POST', '/video-subscriptions', body);
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { violations: [{ path }] } } } });
  });
});

describe('windows', () => {
  test('are closed, of at most 24 h, meet, and end a minute ago', async () => {
    partner.on(
      CONTINUOUS,
      lists('recordings', () => []),
    );
    const id = await follow(await connect(), { startTime: inHours(-60) });
    await reachesNow(id);
    const windows = partner
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

  test('every page is read, and chunks that come late are found', async () => {
    const chunks = Array.from({ length: 250 }, (_, i) => chunk(3.9 - i / 100, { downloadUrl: 'https://x.invalid/a' }));
    partner.on(CONTINUOUS, within(chunks));
    const id = await follow(await connect());
    await reachesNow(id);
    const count = async () =>
      (await app.dataSource.query<[{ n: number }]>('SELECT count(*)::int AS n FROM recordings'))[0].n;
    expect(await count()).toBe(250);
    expect(partner.askedOf(CONTINUOUS)).toHaveLength(3);
    chunks.push(chunk(3.95, { id: 'late', downloadUrl: 'https://x.invalid/a' }));
    await readAgain(id);
    await eventually(async () => expect(await count()).toBe(251));
  });

  test('one that fails is tried again, and the watermark waits for it', async () => {
    const found = [chunk(2)];
    const broken = refuses(500, 'INTERNAL_ERROR', 'oops');
    partner.on(
      CONTINUOUS,
      broken,
      broken,
      lists('recordings', () => found),
    );
    const startTime = inHours(-4);
    const id = await follow(await connect(), { startTime });
    await eventually(async () => expect((await read(id)).lastError).toContain('oops'));
    expect(Date.parse((await read(id)).watermark)).toBe(Date.parse(startTime));
    await eventually(async () => {
      await hurry(app);
      expect(await recordings()).toHaveLength(1);
    });
    await reachesNow(id);
    await eventually(async () => expect(await recordings()).toMatchObject([{ status: 'stored' }]));
  });

  test('one that fails is told with its reason by the coverage, from the watermark on', async () => {
    partner.on(CONTINUOUS, refuses(404, 'NOT_FOUND', 'the truck is unknown'));
    const connectionId = await connect();
    const startTime = inHours(-4);
    const id = await follow(connectionId, { startTime });
    await eventually(async () => expect((await read(id)).lastError).toContain('the truck is unknown'));
    const query = `connectionId=${connectionId}&truckId=TRUCK-7&from=${startTime}&to=${inHours(-3)}`;
    const { body } = await app.admin<{ data: { reason: string }[] }>('GET', `/coverage?${query}`);
    expect(body.data.map(({ reason }) => reason)).toEqual([`Not read yet: ${(await read(id)).lastError}`]);
  });

  test('one that fails for good lets the others by, holds the watermark, and is filled in when it can be', async () => {
    let mended = false;
    const old = chunk(59);
    const young = chunk(2);
    const startTime = inHours(-60);
    const firstDay = Date.parse(startTime) + 86_400_000;
    partner.on(CONTINUOUS, (response, request) => {
      const end = Date.parse(request.query.get('endTime') ?? '');
      if (end <= firstDay && !mended) return refuses(500, 'INTERNAL_ERROR', 'bad day')(response, request);
      lists('recordings', () => (end <= firstDay ? [old] : [young]))(response, request);
    });
    const connectionId = await connect();
    const id = await follow(connectionId, { startTime });
    await eventually(async () => {
      await hurry(app);
      expect(await recordings()).toMatchObject([{ status: 'stored' }]);
    }, 10_000);
    expect(Date.parse((await read(id)).watermark)).toBe(Date.parse(startTime));
    const covered = await app.admin<{ data: { reason: string }[] }>(
      'GET',
      `/coverage?connectionId=${connectionId}&truckId=TRUCK-7&cameraId=front&from=${inHours(-50)}&to=${inHours(-48)}`,
    );
    expect(covered.body.data[0]?.reason).toContain('bad day');
    mended = true;
    await eventually(async () => {
      await hurry(app);
      expect(await recordings()).toHaveLength(2);
    });
    await reachesNow(id);
  });
});

test('a window that a gateway always refuses with 504 is deferred once the circuit closes again', async () => {
  partner.on(CONTINUOUS, refuses(504, 'INTERNAL_ERROR', 'gateway timeout'));
  const startTime = inHours(-31);
  const id = await follow(await connect(), { startTime });
  await eventually(async () => expect((await read(id)).lastError).toContain('504'));
  await eventually(async () => {
    await hurry(app);
    expect((await read(id)).lastError).not.toContain('504');
  }, 15_000);
  // The circuit stays open for 30 s.
  const now = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 31_000);
  await eventually(async () => {
    await hurry(app);
    const rows = await app.dataSource.query<unknown[]>('SELECT start_time, reason FROM video_windows');
    const reason = expect.stringContaining('504');
    expect(rows).toEqual([{ start_time: new Date(startTime), reason }]);
  }, 15_000).finally(() => clock.mockRestore());
  const [row] = await app.dataSource.query<{ read_until: Date }[]>(
    'SELECT read_until FROM video_subscriptions WHERE id = $1',
    [id],
  );
  expect(row?.read_until.getTime()).toBe(Date.parse(startTime) + 86_400_000);
});

describe('a deferred window', () => {
  const laidBy = async () => {
    // No failure of the partner's that would have it left alone for a while, however often it is asked.
    partner.on(CONTINUOUS, refuses(400, 'INVALID_PAYLOAD', 'oops'));
    const startTime = inHours(-4);
    const id = await follow(await connect(), { startTime, cameraId: 'front' });
    await eventually(async () => {
      await hurry(app);
      expect((await windows())[0]?.attempts).toBeGreaterThan(0);
    }, 15_000);
    return { id, startTime };
  };
  const windows = () =>
    app.dataSource.query<{ due_at: Date | null; attempts: number }[]>('SELECT due_at, attempts FROM video_windows');
  /** The work has had it in hand, and put it off without a try. */
  const putOff = async () => {
    await hurry(app);
    await eventually(async () => {
      const [row] = await windows();
      expect(row?.attempts).toBe(0);
      expect(row?.due_at?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    });
  };

  test("is read though another connection's partner lets all of its own wait", async () => {
    const waiting: (() => void)[] = [];
    const none = lists('recordings', () => []);
    const answer = lists('recordings', () => [chunk(2)]);
    partner.on(CONTINUOUS, (response, request) => {
      if (request.query.get('truckId')?.startsWith('SLOW') !== true) return answer(response, request);
      waiting.push(() => none(response, request));
    });
    // Their subscriptions are not due yet.
    const layBy = async (connectionId: string, truckId: string) => {
      await app.dataSource.query(
        `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, due_at)
         SELECT hauler_id, gen_random_uuid(), id, connection_id, now() - interval '3 hours', now() - interval '1 hour', 'oops', now()
         FROM video_subscriptions WHERE id = $1`,
        [await follow(connectionId, { truckId, startTime: inHours(100) })],
      );
    };
    const slow = await connect();
    for (let n = 0; n < 9; n++) await layBy(slow, `SLOW-${n}`);
    await eventually(async () => expect(waiting).toHaveLength(2));
    await layBy(await connect(), 'TRUCK-7');
    await eventually(async () => expect(await recordings()).toHaveLength(1));
    // Of the slow one's nine no more were asked for meanwhile.
    expect(waiting).toHaveLength(2);
    partner.on(CONTINUOUS, none);
    for (const release of waiting) release();
  });

  test.each<[string, number, string, number]>([
    ['takes in the next one that fails', -23.9, 'NULL', 1],
    ['takes in none beyond a day', -24.1, 'NULL', 2],
    ['takes in none while it is read itself, for nobody would read the rest', -4, 'gen_random_uuid()', 2],
  ])('%s', async (_, begins, token, rows) => {
    partner.on(CONTINUOUS, refuses(400, 'INVALID_PAYLOAD', 'oops'));
    const id = await follow(await connect(), { startTime: inHours(100) });
    const readUntil = new Date(inHours(-2));
    await app.dataSource.query(
      `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, lease_token, due_at)
       SELECT hauler_id, gen_random_uuid(), id, connection_id, $2, $3, 'oops', ${token}, now() + interval '1 hour' FROM video_subscriptions WHERE id = $1`,
      [id, inHours(begins), readUntil],
    );
    await app.dataSource.query(
      'UPDATE video_subscriptions SET start_time = $2, read_until = $3, due_at = now() WHERE id = $1',
      [id, inHours(-30), readUntil],
    );
    const found = await eventually(async () => {
      await app.dataSource.query('UPDATE video_subscriptions SET due_at = now() WHERE lease_token IS NULL');
      app.app.get(JobsService).runDue('vision crawl');
      const ends = await app.dataSource.query<{ end_time: Date }[]>('SELECT end_time FROM video_windows ORDER BY 1');
      expect(ends.at(-1)?.end_time.getTime()).toBeGreaterThan(readUntil.getTime());
      return ends;
    }, 15_000);
    expect(found).toHaveLength(rows);
    expect(found[0]?.end_time.getTime() === readUntil.getTime()).toBe(rows === 2);
  });

  test('of a subscription that has ended is dropped unread', async () => {
    const id = await follow(await connect(), { startTime: inHours(100) });
    expect((await app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(204);
    await app.dataSource.query(
      `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, due_at)
       SELECT hauler_id, gen_random_uuid(), id, connection_id, now() - interval '3 hours', now(), now() FROM video_subscriptions WHERE id = $1`,
      [id],
    );
    await eventually(async () => {
      await hurry(app);
      expect(await windows()).toEqual([]);
    });
    expect(partner.asked).toEqual([]);
  });

  test.each<[string, (id: string, enabled: boolean) => Promise<unknown>]>([
    [
      'its subscription is switched off',
      (id, enabled) => app.admin('PATCH', `/video-subscriptions/${id}`, { enabled }),
    ],
    [
      'its connection is paused',
      (_id, enabled) => app.dataSource.query('UPDATE connections SET enabled = $2 WHERE id = $1', [connected, enabled]),
    ],
  ])('waits while %s', async (_, set) => {
    const { id } = await laidBy();
    await set(id, false);
    await eventually(putOff, 10_000);
    partner.on(CONTINUOUS, within([chunk(3)]));
    partner.asked.length = 0;
    await putOff();
    expect(partner.asked).toEqual([]);
    await set(id, true);
    await eventually(async () => {
      await hurry(app);
      expect(await windows()).toEqual([]);
    });
    expect(await recordings()).toHaveLength(1);
  });

  test('is given up after 100 attempts, stays missing in the coverage, and is read after the connection changes', async () => {
    const { startTime } = await laidBy();
    // Otherwise the subscription keeps deferring the minutes that passed meanwhile. A run that is under way would set its due time again.
    await eventually(async () => {
      const stopped = 'UPDATE video_subscriptions SET due_at = NULL WHERE lease_token IS NULL RETURNING id';
      expect((await app.dataSource.query<[unknown[]]>(stopped))[0]).toHaveLength(1);
    });
    await eventually(async () => {
      await app.dataSource.query('UPDATE video_windows SET attempts = 99 WHERE due_at IS NOT NULL');
      await hurry(app);
      expect((await windows()).filter(({ due_at }) => due_at !== null)).toEqual([]);
    }, 10_000);
    const address = `/coverage?connectionId=${connected}&truckId=TRUCK-7&cameraId=front&from=${startTime}&to=${inHours(-3)}`;
    await eventually(async () => {
      const { body } = await app.admin<{ data: object[] }>('GET', address);
      expect(body.data).toMatchObject([{ state: 'missing', reason: expect.stringContaining('100') }]);
    });
    partner.on(CONTINUOUS, within([chunk(3)]));
    expect((await app.admin('PATCH', `/connections/${connected}`, { apiKey: 'another-key' })).status).toBe(200);
    await eventually(async () => expect(await windows()).toEqual([]));
    expect(await recordings()).toHaveLength(1);
  });

  test('stays as a hole with its reason when the connection is deleted', async () => {
    const { id, startTime } = await laidBy();
    expect((await app.admin('DELETE', `/connections/${connected}`)).status).toBe(204);
    await eventually(async () => {
      await hurry(app);
      expect(await windows()).toMatchObject([{ due_at: null }]);
    });
    expect((await read(id)).watermark).toBe(startTime);
    const range = `from=${inHours(-3)}&to=${inHours(-2)}`;
    const { body } = await app.admin<{ data: object[] }>(
      'GET',
      `/coverage?connectionId=${connected}&truckId=TRUCK-7&cameraId=front&${range}`,
    );
    expect(body.data).toMatchObject([{ state: 'missing', reason: NOTHING_MORE }]);
    expect((await app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(204);
    expect(await windows()).toEqual([]);
  });
});

test('what comes after a connection was deleted is told as read by nobody any more', async () => {
  const id = await connect();
  await follow(id);
  const reasons = async (): Promise<unknown> => {
    const range = `from=${inHours(1)}&to=${inHours(2)}`;
    const address = `/coverage?connectionId=${id}&truckId=TRUCK-7&cameraId=front&${range}`;
    return (await app.admin<{ data: { reason: string }[] }>('GET', address)).body.data.map(({ reason }) => reason);
  };
  expect(await reasons()).toEqual([expect.stringMatching(/^Not read yet/)]);
  expect((await app.admin('DELETE', `/connections/${id}`)).status).toBe(204);
  expect(await reasons()).toEqual([NOTHING_MORE]);
});

describe('after an outage of 7 hours', () => {
  /** The last look was 7 hours ago; a chunk that had ended 13 minutes before it was listed after it. */
  const outage = async (): Promise<{ id: string; all: Element[] }> => {
    const all = [chunk(8.5, { id: 'in time' })];
    partner.on(CONTINUOUS, within(all));
    const id = await follow(await connect(), { startTime: inHours(-30) });
    await reachesNow(id);
    await app.dataSource.query(
      `UPDATE video_subscriptions SET read_until = now() - interval '7 hours 1 minute',
         last_read_at = now() - interval '7 hours' WHERE id = $1`,
      [id],
    );
    all.push(chunk(7.3, { id: 'late' }), chunk(6.9, { id: 'after' }));
    return { id, all };
  };
  const ids = async () => (await recordings()).map(({ partnerRecordingId }) => partnerRecordingId).sort();

  test('what was listed late before it is found', async () => {
    await outage();
    await eventually(async () => {
      await hurry(app);
      expect(await ids()).toEqual(['after', 'in time', 'late']);
    });
  });

  test('so it is by a window that is laid by first', async () => {
    const { id, all } = await outage();
    partner.on(CONTINUOUS, refuses(400, 'INVALID_PAYLOAD', 'oops'));
    const laidBy = await eventually(async () => {
      await hurry(app);
      const rows = await app.dataSource.query<{ start_time: Date }[]>('SELECT start_time FROM video_windows');
      expect(rows).toHaveLength(1);
      return rows[0]?.start_time.getTime() ?? 0;
    }, 15_000);
    expect(Math.abs(laidBy - Date.parse(inHours(-13)))).toBeLessThan(60_000);
    expect((await read(id)).watermark).toBe(formatInstant(new Date(laidBy)));
    all.push(chunk(2, { id: 'new' }));
    partner.on(CONTINUOUS, (response, request) => {
      const isOld = Date.parse(request.query.get('startTime') ?? '') < Date.parse(inHours(-12));
      (isOld ? refuses(400, 'INVALID_PAYLOAD', 'oops') : within(all))(response, request);
    });
    await eventually(async () => {
      await hurry(app);
      expect(await ids()).toEqual(['in time', 'new']);
    }, 15_000);
    partner.on(CONTINUOUS, within(all));
    await eventually(async () => {
      await hurry(app);
      expect(await ids()).toEqual(['after', 'in time', 'late', 'new']);
    });
    await reachesNow(id);
  });
});

describe('a list that is not as the contract says', () => {
  const three = () => [chunk(2), chunk(2.1), chunk(2.2)];

  test.each<[string, (chunks: Element[], page: number) => unknown]>([
    ['items under another name', (items) => ({ items })],
    ['totals that are too low', (chunks, page) => listOf(chunks, page, { totalItems: 1, totalPages: 1 })],
    ['totals that are too high', (chunks, page) => listOf(chunks, page, { totalItems: 250, totalPages: 3 })],
    [
      'an element without a start, and one without a link',
      ([first, ...others]) => ({
        recordings: [{ ...first, startTime: undefined }, first, ...others, { ...first, downloadUrl: undefined }],
      }),
    ],
  ])('%s: all that can be read is stored', async (_, data) => {
    const chunks = three();
    partner.on(CONTINUOUS, (response, request) => {
      const page = Number(request.query.get('page'));
      json({ success: true, data: data(chunks, page) })(response, request);
    });
    await reachesNow(await follow(await connect()));
    await eventually(async () =>
      expect((await recordings()).map(({ status }) => status)).toEqual(['stored', 'stored', 'stored']),
    );
  });

  test.each([404, 400])('no totals, and %i past the end, which is told', async (status) => {
    const chunks = three();
    const past = refuses(status, 'NOT_FOUND', 'Invalid page.');
    const all = json({ success: true, data: { recordings: chunks } });
    partner.on(CONTINUOUS, (response, request) => (request.query.get('page') === '1' ? all : past)(response, request));
    await reachesNow(await follow(await connect()));
    expect(await recordings()).toHaveLength(3);
    const { body } = await app.admin<{ data: object[] }>('GET', `/vision-findings?connectionId=${connected}`);
    expect(body.data).toMatchObject([{ path: 'page', reason: expect.stringContaining(`status ${status}`) }]);
  });

  test('no totals, and ids that are made anew at each listing', async () => {
    const chunks = three();
    let listing = 0;
    partner.on(CONTINUOUS, (response, request) => {
      listing++;
      const anew = chunks.map((item, i) => ({ ...item, id: `listing-${listing}-${i}` }));
      json({ success: true, data: { recordings: request.query.get('page') === '1' ? anew : [] } })(response, request);
    });
    await reachesNow(await follow(await connect()));
    expect(await recordings()).toHaveLength(3);
  });

  const listOf = (chunks: Element[], page: number, totals: object) => ({
    recordings: page === 1 ? chunks : [],
    pagination: { page, pageSize: 100, ...totals },
  });
});

describe('the same chunk', () => {
  let following = '';
  const settle = async (chunks: Element[]) => {
    partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    following = await follow(await connect());
    await reachesNow(following);
    return settleAgain();
  };
  const settleAgain = async () => {
    await readAgain(following);
    return recordings();
  };

  test('by its id, listed again with another link, is one', async () => {
    const one = chunk(2, { id: 'same' });
    const again = { ...one, endTime: inHours(-1.9), downloadUrl: partner.link(sampleVideo(200)) };
    expect(await settle([one, again])).toHaveLength(1);
  });

  test('by truck, camera and range, under another id, is one', async () => {
    const one = chunk(2);
    expect(await settle([one, { ...one, id: 'other', downloadUrl: partner.link(sampleVideo(200)) }])).toHaveLength(1);
  });

  test('chunks that merely overlap are both kept, and so are two cameras', async () => {
    const one = chunk(2);
    const overlapping = chunk(2.02);
    expect(await settle([one, overlapping, { ...one, id: 'rear', cameraId: 'rear' }])).toHaveLength(3);
  });

  test('two cameras under one id are two chunks, of which each has its own film', async () => {
    const [front, rear] = [sampleVideo(200), sampleVideo(300)];
    const one = chunk(2, { id: 'shared', downloadUrl: partner.link(front) });
    const other = { ...one, cameraId: 'rear', downloadUrl: partner.link(rear) };
    await settle([one, other]);
    await eventually(async () =>
      expect((await recordings()).map(({ status }) => status)).toEqual(['stored', 'stored']),
    );
    const sums = (await recordings()).map(({ cameraId, sha256: sum }) => `${cameraId} ${sum}`).sort();
    expect(sums).toEqual([`front ${sha256(front)}`, `rear ${sha256(rear)}`]);
  });

  test('dozens of cameras under one id are recognised again, each by itself', async () => {
    const busy = partner.link(sampleVideo(), (_, res) => res.writeHead(503, { 'Retry-After': '600' }).end());
    const one = chunk(2, { id: 'shared', downloadUrl: busy });
    const chunks = Array.from({ length: 30 }, (_, n) => ({ ...one, cameraId: `camera ${n}` }));
    expect(await settle(chunks)).toHaveLength(30);
    expect(await settleAgain()).toHaveLength(30);
    expect(new Set((await recordings()).map(({ cameraId }) => cameraId)).size).toBe(30);
  });

  test('another camera under the id of one that waits does not take its place', async () => {
    const busy = partner.link(sampleVideo(), (_, res) => res.writeHead(503, { 'Retry-After': '600' }).end());
    const chunks = [chunk(2, { id: 'shared', downloadUrl: busy })];
    await settle(chunks);
    await eventually(async () => expect(await recordings()).toMatchObject([{ status: 'available' }]));
    const rear = sampleVideo(300);
    chunks.push({ ...chunks[0], cameraId: 'rear', downloadUrl: partner.link(rear) });
    await settleAgain();
    await eventually(async () => {
      const found = (await recordings()).sort((a, b) => (a.cameraId < b.cameraId ? -1 : 1));
      expect(found).toMatchObject([
        { cameraId: 'front', status: 'available' },
        { cameraId: 'rear', status: 'stored', sha256: sha256(rear) },
      ]);
    });
  });

  test('listed under the other name of its camera is one', async () => {
    const one = chunk(2, { id: 'two names' });
    expect(await settle([one])).toHaveLength(1);
    partner.on(
      CONTINUOUS,
      lists('recordings', () => [{ ...one, cameraId: '1' }]),
    );
    expect(await settleAgain()).toHaveLength(1);
  });

  test('a reused id is another chunk', async () => {
    expect(await settle([chunk(2, { id: 'again' }), chunk(3, { id: 'again' })])).toHaveLength(2);
  });

  test('whose end moves while it waits takes the new range', async () => {
    const chunks = [
      chunk(2, { id: 'grows', downloadUrl: partner.link(sampleVideo(), (_, res) => res.writeHead(503).end()) }),
    ];
    await settle(chunks);
    await eventually(async () => expect(await recordings()).toMatchObject([{ status: 'available' }]));
    const endTime = inHours(-1.8);
    chunks[0] = { ...chunks[0], endTime, durationSeconds: 720, downloadUrl: partner.link(sampleVideo()) };
    await eventually(async () => {
      await hurry(app);
      expect(await recordings()).toMatchObject([{ status: 'stored', endTime, durationSeconds: 720 }]);
    }, 10_000);
  });

  test('whose end moves after it was fetched is fetched again, and covers all of its time', async () => {
    const chunks = [chunk(2, { id: 'grows' })];
    await settle(chunks);
    await eventually(async () => expect(await recordings()).toMatchObject([{ status: 'stored' }]));
    const [startTime, endTime] = [String(chunks[0]?.['startTime']), inHours(-1.8)];
    chunks[0] = { ...chunks[0], endTime, downloadUrl: partner.link(sampleVideo()) };
    await eventually(async () => {
      await hurry(app);
      expect((await recordings()).map(({ status }) => status)).toEqual(['stored', 'stored']);
    });
    const covered = await app.admin<{ data: { state: string }[] }>(
      'GET',
      `/coverage?connectionId=${connected}&truckId=TRUCK-7&cameraId=front&from=${startTime}&to=${endTime}`,
    );
    expect(new Set(covered.body.data.map(({ state }) => state))).toEqual(new Set(['stored']));
    // A list that is still of yesterday changes nothing.
    chunks[0] = { ...chunks[0], endTime: inHours(-1.95) };
    expect(await settleAgain()).toHaveLength(2);
  });

  test('listed by two subscriptions is one', async () => {
    const one = chunk(2);
    partner.on(
      CONTINUOUS,
      lists('recordings', () => [one]),
    );
    const connectionId = await connect();
    const ids = [await follow(connectionId), await follow(connectionId, { cameraId: 'front' })];
    for (const id of ids) await reachesNow(id);
    expect(await recordings()).toHaveLength(1);
  });
});
