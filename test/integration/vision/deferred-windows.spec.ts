import { describe, expect, test } from '@jest/globals';
import { formatInstant } from '../../../src/contracts/common/instant.js';
import { WorkService } from '../../../src/work/work.service.js';
import { eventually } from '../../support/eventually.js';
import { refuses } from '../../support/scripted-partner.js';
import { CONTINUOUS, inHours, lists, type Element } from '../../support/scripted-vision.js';
import { Subscriptions, within } from './subscriptions.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision();
const subscriptions = new Subscriptions(vision);

const NOTHING_MORE = 'Not read: the connection was deleted, and nothing more will be read.';

describe('a deferred window', () => {
  const deferredWindow = async () => {
    // A 400 does not open the circuit, however often it is received.
    vision.partner.on(CONTINUOUS, refuses(400, 'INVALID_PAYLOAD', 'oops'));
    const startTime = inHours(-4);
    const id = await subscriptions.follow(await vision.connect(), { startTime, cameraId: 'front' });
    await eventually(async () => {
      await vision.hurry();
      expect((await windows())[0]?.attempts).toBeGreaterThan(0);
    });
    return { id, startTime };
  };
  const windows = () =>
    vision.query<{ due_at: Date | null; attempts: number }>('SELECT due_at, attempts FROM video_windows');
  /** The job has claimed the window, and has set a later due time without an attempt. */
  const isPostponed = () =>
    eventually(async () => {
      // A reading that is running now ends as an attempt: the next one counts.
      await vision.hurry();
      await eventually(async () => {
        const [row] = await windows();
        expect(row?.attempts).toBe(0);
        expect(row?.due_at?.getTime()).toBeGreaterThan(Date.now() + 30_000);
      }, 2_000);
    });

  test('is read although the partner of another connection does not answer', async () => {
    const waiting: (() => void)[] = [];
    const none = lists('recordings', () => []);
    const answer = lists('recordings', () => [subscriptions.chunk(2)]);
    vision.partner.on(CONTINUOUS, (response, request) => {
      if (request.query.get('truckId')?.startsWith('SLOW') !== true) return answer(response, request);
      waiting.push(() => none(response, request));
    });
    // The subscriptions of these windows are not due yet.
    const defer = async (connectionId: string, truckId: string) => {
      await vision.query(
        `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, due_at)
         SELECT hauler_id, gen_random_uuid(), id, connection_id, now() - interval '3 hours', now() - interval '1 hour', 'oops', now()
         FROM video_subscriptions WHERE id = $1`,
        [await subscriptions.follow(connectionId, { truckId, startTime: inHours(100) })],
      );
    };
    const slow = await vision.connect();
    for (let n = 0; n < 9; n++) await defer(slow, `SLOW-${n}`);
    await eventually(async () => expect(waiting).toHaveLength(2));
    await defer(await vision.connect(), 'TRUCK-7');
    await eventually(async () => expect(await subscriptions.recordings()).toHaveLength(1));
    // The partner that does not answer received two of nine calls.
    expect(waiting).toHaveLength(2);
    vision.partner.on(CONTINUOUS, none);
    for (const release of waiting) release();
  });

  test.each<[string, number, string, number]>([
    ['is extended by the next one that fails', -23.9, 'NULL', 1],
    ['is not extended beyond a day', -24.1, 'NULL', 2],
    ['is not extended while it is read', -4, 'now()', 2],
  ])('%s', async (_, begins, startedAt, rows) => {
    vision.partner.on(CONTINUOUS, refuses(400, 'INVALID_PAYLOAD', 'oops'));
    const id = await subscriptions.follow(await vision.connect(), { startTime: inHours(100) });
    const readUntil = new Date(inHours(-2));
    await vision.query(
      `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, started_at, due_at)
       SELECT hauler_id, gen_random_uuid(), id, connection_id, $2, $3, 'oops', ${startedAt}, now() + interval '1 hour' FROM video_subscriptions WHERE id = $1`,
      [id, inHours(begins), readUntil],
    );
    await vision.query(
      'UPDATE video_subscriptions SET start_time = $2, read_until = $3, due_at = now() WHERE id = $1',
      [id, inHours(-30), readUntil],
    );
    const found = await eventually(async () => {
      await vision.query('UPDATE video_subscriptions SET due_at = now() WHERE started_at IS NULL');
      vision.app.app.get(WorkService).runDue('vision crawl');
      const ends = await vision.query<{ end_time: Date }>('SELECT end_time FROM video_windows ORDER BY 1');
      expect(ends.at(-1)?.end_time.getTime()).toBeGreaterThan(readUntil.getTime());
      return ends;
    });
    expect(found).toHaveLength(rows);
    expect(found[0]?.end_time.getTime() === readUntil.getTime()).toBe(rows === 2);
  });

  test('of a deleted subscription is deleted unread', async () => {
    const id = await subscriptions.follow(await vision.connect(), { startTime: inHours(100) });
    expect((await vision.app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(204);
    await vision.query(
      `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, due_at)
       SELECT hauler_id, gen_random_uuid(), id, connection_id, now() - interval '3 hours', now(), now() FROM video_subscriptions WHERE id = $1`,
      [id],
    );
    await eventually(async () => {
      await vision.hurry();
      expect(await windows()).toEqual([]);
    });
    expect(vision.partner.asked).toEqual([]);
  });

  test.each<[string, (id: string, enabled: boolean) => Promise<unknown>]>([
    [
      'its subscription is disabled',
      (id, enabled) => vision.app.admin('PATCH', `/video-subscriptions/${id}`, { enabled }),
    ],
    [
      'its connection is paused',
      (_id, enabled) =>
        vision.query('UPDATE connections SET enabled = $2 WHERE id = $1', [vision.connectionId, enabled]),
    ],
  ])('waits while %s', async (_, set) => {
    const { id } = await deferredWindow();
    await set(id, false);
    await isPostponed();
    vision.partner.on(CONTINUOUS, within([subscriptions.chunk(3)]));
    vision.partner.asked.length = 0;
    await isPostponed();
    expect(vision.partner.asked).toEqual([]);
    await set(id, true);
    await eventually(async () => {
      await vision.hurry();
      expect(await windows()).toEqual([]);
    });
    expect(await subscriptions.recordings()).toHaveLength(1);
  });

  test('is given up after 100 attempts, stays missing in the coverage, and is read after the connection changes', async () => {
    const { startTime } = await deferredWindow();
    // Otherwise the subscription keeps deferring the minutes that passed meanwhile. A reading that is running would set its due time again.
    await eventually(async () => {
      const stopped = 'UPDATE video_subscriptions SET due_at = NULL WHERE started_at IS NULL RETURNING id';
      expect((await vision.app.dataSource.query<[unknown[]]>(stopped))[0]).toHaveLength(1);
    });
    await eventually(async () => {
      await vision.query('UPDATE video_windows SET attempts = 99 WHERE due_at IS NOT NULL');
      await vision.hurry();
      expect((await windows()).filter(({ due_at }) => due_at !== null)).toEqual([]);
    });
    const end = inHours(-3);
    await eventually(async () =>
      expect(await subscriptions.coverage(startTime, end)).toMatchObject([
        { state: 'missing', reason: expect.stringContaining('100') },
      ]),
    );
    vision.partner.on(CONTINUOUS, within([subscriptions.chunk(3)]));
    expect(
      (await vision.app.admin('PATCH', `/connections/${vision.connectionId}`, { apiKey: 'another-key' })).status,
    ).toBe(200);
    await eventually(async () => expect(await windows()).toEqual([]));
    expect(await subscriptions.recordings()).toHaveLength(1);
  });

  test('stays missing with its reason when the connection is deleted', async () => {
    const { id, startTime } = await deferredWindow();
    expect((await vision.app.admin('DELETE', `/connections/${vision.connectionId}`)).status).toBe(204);
    await eventually(async () => {
      await vision.hurry();
      expect(await windows()).toMatchObject([{ due_at: null }]);
    });
    expect((await subscriptions.read(id)).watermark).toBe(startTime);
    expect(await subscriptions.coverage(inHours(-3), inHours(-2))).toMatchObject([
      { state: 'missing', reason: NOTHING_MORE },
    ]);
    expect((await vision.app.admin('DELETE', `/video-subscriptions/${id}`)).status).toBe(204);
    expect(await windows()).toEqual([]);
  });
});

test('the time that was not read before the deletion of a connection is reported as never read', async () => {
  const id = await vision.connect();
  vision.partner.on(CONTINUOUS, refuses(503, 'INTERNAL_ERROR', 'busy'));
  await subscriptions.follow(id);
  const reasons = async () => (await subscriptions.coverage(inHours(-2), inHours(-1))).map(({ reason }) => reason);
  expect(await reasons()).toEqual([expect.stringMatching(/^Not read yet/)]);
  expect((await vision.app.admin('DELETE', `/connections/${id}`)).status).toBe(204);
  expect(await reasons()).toEqual([NOTHING_MORE]);
});

describe('after an outage of 7 hours', () => {
  /** The last reading was 7 hours ago. A recording that ended 13 minutes before it was listed after it. */
  const outage = async (): Promise<{ id: string; all: Element[] }> => {
    const all = [subscriptions.chunk(8.5, { id: 'in time' })];
    vision.partner.on(CONTINUOUS, within(all));
    const id = await subscriptions.follow(await vision.connect(), { startTime: inHours(-30) });
    await subscriptions.reachesNow(id);
    await vision.query(
      `UPDATE video_subscriptions SET read_until = now() - interval '7 hours 1 minute',
         last_read_at = now() - interval '7 hours' WHERE id = $1`,
      [id],
    );
    all.push(subscriptions.chunk(7.3, { id: 'late' }), subscriptions.chunk(6.9, { id: 'after' }));
    return { id, all };
  };
  const ids = async () => (await subscriptions.recordings()).map(({ partnerRecordingId }) => partnerRecordingId).sort();

  test('a recording that was listed late is found', async () => {
    await outage();
    await eventually(async () => {
      await vision.hurry();
      expect(await ids()).toEqual(['after', 'in time', 'late']);
    });
  });

  test('it is found by a deferred window too', async () => {
    const { id, all } = await outage();
    vision.partner.on(CONTINUOUS, refuses(400, 'INVALID_PAYLOAD', 'oops'));
    const start = await eventually(async () => {
      await vision.hurry();
      const rows = await vision.query<{ start_time: Date }>('SELECT start_time FROM video_windows');
      expect(rows).toHaveLength(1);
      return rows[0]?.start_time.getTime() ?? 0;
    });
    expect(Math.abs(start - Date.parse(inHours(-7.25)))).toBeLessThan(60_000);
    expect((await subscriptions.read(id)).watermark).toBe(formatInstant(new Date(start)));
    all.push(subscriptions.chunk(0.1, { id: 'new' }));
    vision.partner.on(CONTINUOUS, (response, request) => {
      const isOld = Date.parse(request.query.get('startTime') ?? '') < Date.parse(inHours(-7.1));
      (isOld ? refuses(400, 'INVALID_PAYLOAD', 'oops') : within(all))(response, request);
    });
    await eventually(async () => {
      await vision.hurry();
      expect(await ids()).toEqual(['in time', 'new']);
    });
    vision.partner.on(CONTINUOUS, within(all));
    await eventually(async () => {
      await vision.hurry();
      expect(await ids()).toEqual(['after', 'in time', 'late', 'new']);
    });
    await subscriptions.reachesNow(id);
  });
});
