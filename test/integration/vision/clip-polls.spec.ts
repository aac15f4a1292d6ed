import { describe, expect, jest, test } from '@jest/globals';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, raw, refuses } from '../../support/scripted-partner.js';
import { RANGE } from '../../support/video-requests.js';
import { accepts, element, lists, POST, VIDEOS, type Element } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision();
const { becomes, order, read } = vision;

describe('polling', () => {
  test('starts after about 5 s, by the id of the request', async () => {
    vision.partner.on(POST, accepts({ requestId: 'req-x' }));
    vision.listVideos(() => []);
    await becomes(await order(await vision.connect()), { status: 'processing' });
    const [part] = await vision.query<{ inSeconds: number }>(
      `SELECT extract(epoch FROM next_poll_at - submitted_at)::float8 AS "inSeconds" FROM video_request_parts
       WHERE polls = 0 AND next_poll_at > now()`,
    );
    if (part !== undefined) expect(Math.abs(part.inSeconds - 5)).toBeLessThanOrEqual(1);
    await vision.hurry();
    await eventually(() => expect(vision.partner.askedOf(VIDEOS)).not.toHaveLength(0));
    const [poll] = vision.partner.askedOf(VIDEOS);
    expect(Object.fromEntries(poll?.query ?? [])).toMatchObject({ customerId: 'customer-1', requestId: 'req-x' });
  });

  test('uses a long id unchanged', async () => {
    const requestId = 'r'.repeat(1_000);
    const clips = [element({ requestId, downloadUrl: vision.partner.link(sampleVideo()) })];
    vision.partner.on(POST, accepts({ requestId }));
    vision.listVideos(() => clips);
    await becomes(await order(await vision.connect()), { status: 'stored' });
  });

  test('ends a request that data.request calls failed', async () => {
    const request = { requestId: 'req-f', status: 'failed', message: 'Nothing was recorded.' };
    vision.partner.on(POST, accepts({ requestId: 'req-f' }));
    vision.listVideos(() => [], { request });
    const shown = await becomes(await order(await vision.connect()), { status: 'failed' });
    expect(shown.reason).toContain('Nothing was recorded.');
  });

  test('continues after an unknown status', async () => {
    vision.partner.on(POST, accepts({ requestId: 'req-u', status: 'QUEUED' }));
    vision.listVideos(() => [], { request: { requestId: 'req-u', status: 'TRANSCODING' } });
    const id = await order(await vision.connect());
    await becomes(id, { status: 'processing' });
    await eventually(() => expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThan(0));
    expect(await read(id)).toMatchObject({ status: 'processing' });
  });

  test('ends a request as failed after three 404 in a row', async () => {
    const gone = refuses(404, 'NOT_FOUND', 'no such truck');
    vision.partner.on(POST, accepts());
    vision.partner.on(
      VIDEOS,
      gone,
      gone,
      lists('videos', () => []),
      gone,
      gone,
      gone,
    );
    const shown = await becomes(await order(await vision.connect()), { status: 'failed' });
    expect(shown.reason).toContain('3 times in a row');
    expect(vision.partner.askedOf(VIDEOS)).toHaveLength(6);
  });

  test('is repeated after a response that breaks the contract', async () => {
    const clips = [element({ requestId: 'req-h', downloadUrl: vision.partner.link(sampleVideo()) })];
    vision.partner.on(POST, accepts({ requestId: 'req-h' }));
    vision.partner.on(
      VIDEOS,
      raw('<html>'),
      json({ success: true, data: 7 }),
      lists('videos', () => clips),
    );
    await becomes(await order(await vision.connect()), { status: 'stored' });
  });

  test('ends a request as expired at its deadline', async () => {
    vision.partner.on(POST, accepts());
    vision.listVideos(() => []);
    const id = await order(await vision.connect());
    await becomes(id, { status: 'processing' });
    await vision.endDeadline();
    const shown = await becomes(id, { status: 'expired' });
    expect(shown.reason).toContain('deadline');
  });

  test('ends it with the last error of the partner', async () => {
    vision.partner.on(POST, accepts());
    vision.partner.on(VIDEOS, refuses(401, 'UNAUTHORIZED'));
    const id = await order(await vision.connect());
    await becomes(id, { status: 'processing' });
    await eventually(async () => {
      if (vision.partner.askedOf(VIDEOS).length === 0) await vision.hurry();
      const polls = await vision.query<unknown>('SELECT last_error IS NOT NULL AS failed FROM video_polls');
      expect(polls).toEqual([{ failed: true }]);
    });
    await vision.endDeadline();
    const shown = await becomes(id, { status: 'expired' });
    expect(shown.reason).toMatch(/ Last response: .* does not accept our API key\.$/);
  });

  test('checks a deadline in time that is earlier than the next poll', async () => {
    vision.partner.on(POST, accepts());
    vision.listVideos(() => []);
    await becomes(await order(await vision.connect()), { status: 'processing' });
    await vision.query(
      `UPDATE video_request_parts SET submitted_at = now() - interval '2 hours',
         deadline_at = date_trunc('second', now()) + interval '2 minutes'`,
    );
    await eventually(async () => {
      const [row] = await vision.query<{ later: boolean }>(
        `SELECT poll.due_at = part.deadline_at AS at_deadline, part.next_poll_at > part.deadline_at AS later
         FROM video_polls AS poll, video_request_parts AS part WHERE poll.started_at IS NULL`,
      );
      // No poll of a request of this age has ended yet.
      if (row?.later === false) await vision.hurry();
      expect(row).toEqual({ at_deadline: true, later: true });
    });
  });

  test('is not delayed by a new request', async () => {
    vision.partner.on(POST, accepts());
    vision.listVideos(() => []);
    const connectionId = await vision.connect();
    await becomes(await order(connectionId), { status: 'processing' });
    // A row that is worked on stays due.
    await vision.query(
      `UPDATE video_polls SET due_at = now() - interval '1 minute', started_at = now() + interval '1 hour'`,
    );
    await becomes(await order(connectionId), { status: 'processing' });
    const polls = await vision.query<unknown>('SELECT due_at < now() AS due FROM video_polls');
    expect(polls).toEqual([{ due: true }]);
    await vision.query('UPDATE video_polls SET started_at = NULL');
  });

  test.each([
    ['the POST', POST, 'video_request_parts'],
    ['a poll', VIDEOS, 'video_polls'],
  ])('checks the deadline in time if the Retry-After of %s is later', async (_, path, table) => {
    vision.partner.on(POST, accepts());
    vision.partner.on(path, refuses(429, 'INTERNAL_ERROR', 'tomorrow', { 'Retry-After': '80000' }));
    const other = await startTestApp({ on: vision.app, env: { VISION_REQUEST_DEADLINE: 3_600_000 } });
    const body = { connectionId: await vision.connect(), truckId: 'TRUCK-7', cameraId: 'front', ...RANGE };
    expect((await other.admin('POST', '/video-requests', body)).status).toBe(202);
    await eventually(async () => {
      if (vision.partner.askedOf(path).length === 0) await vision.hurry();
      const refused = await vision.query<unknown>(
        `SELECT row.due_at BETWEEN part.deadline_at AND part.deadline_at + interval '10 seconds' AS at_deadline
         FROM ${table} AS row, video_request_parts AS part WHERE row.last_error IS NOT NULL`,
      );
      expect(refused).toEqual([{ at_deadline: true }]);
    });
    await other.close();
  });

  test('starts by the clock of the database, also if the clock of the service is behind', async () => {
    vision.partner.on(POST, accepts());
    vision.listVideos(() => []);
    await becomes(await order(await vision.connect()), { status: 'processing' });
    const now = Date.now;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
    try {
      const asked = vision.partner.askedOf(VIDEOS).length;
      // A poll that is running sets its due time again at its end.
      await eventually(async () => {
        await vision.hurry();
        expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThan(asked);
      });
    } finally {
      clock.mockRestore();
    }
  });

  test('fetches all clips of a request that have one id', async () => {
    const first = element({
      id: 'one',
      requestId: 'req-i',
      endTime: '2026-01-31T08:32:00Z',
      downloadUrl: vision.partner.link(sampleVideo(200)),
    });
    const second = {
      ...first,
      startTime: '2026-01-31T08:32:00Z',
      endTime: '2026-01-31T08:35:00Z',
      downloadUrl: vision.partner.link(sampleVideo(300)),
    };
    vision.partner.on(POST, accepts({ requestId: 'req-i' }));
    vision.listVideos(() => [first, second, first]);
    const shown = await becomes(await order(await vision.connect()), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(2);
  });

  describe('with clips that arrive while the partner prepares others', () => {
    const half = (startTime: string, endTime: string) =>
      element({ requestId: 'req-half', startTime, endTime, downloadUrl: vision.partner.link(sampleVideo()) });
    const first = () => half(RANGE.startTime, '2026-01-31T08:32:00Z');
    const second = () => half('2026-01-31T08:32:00Z', RANGE.endTime);
    let clips: Element[];
    let status: string;

    /** Returns a request whose first clip is stored. */
    const halfStored = async (connectionId: string) => {
      clips = [first()];
      status = 'processing';
      vision.partner.on(POST, accepts({ requestId: 'req-half' }), accepts());
      vision.partner.on(VIDEOS, (response, asked) => {
        const request = { requestId: 'req-half', status, message: 'one more' };
        lists('videos', () => clips, asked.query.get('requestId') === 'req-half' ? { request } : {})(response, asked);
      });
      const id = await order(connectionId);
      await eventually(async () => {
        await vision.hurry();
        const stored = await vision.query<unknown>("SELECT 1 FROM recordings WHERE status = 'stored'");
        expect(stored).toHaveLength(1);
      });
      // The poll that found the clip may still be running.
      await eventually(async () => expect(await read(id)).toMatchObject({ status: 'processing', reason: 'one more' }));
      return id;
    };

    test('fetches them at once, and stores the request with the last one', async () => {
      const id = await halfStored(await vision.connect());
      clips.push(second());
      status = 'ready';
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(2);
    });

    test('stores the request when the partner sends ready without another clip', async () => {
      const id = await halfStored(await vision.connect());
      status = 'ready';
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(1);
    });

    test('stores the request when the partner sends ready and lists no clip', async () => {
      const id = await halfStored(await vision.connect());
      clips = [];
      status = 'ready';
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(1);
    });

    test('continues when the partner lists no clip and sends no status', async () => {
      const id = await halfStored(await vision.connect());
      clips = [];
      const asked = vision.partner.askedOf(VIDEOS).length;
      await eventually(async () => {
        await vision.hurry();
        expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThan(asked + 1);
      });
      expect(await read(id)).toMatchObject({ status: 'processing' });
    });

    test('continues when only the list of the customer was read, which has no status', async () => {
      const connectionId = await vision.connect();
      const id = await halfStored(connectionId);
      await becomes(await order(connectionId, { cameraId: 'rear' }), { status: 'processing' });
      const byList = () => vision.partner.askedOf(VIDEOS).filter(({ query }) => !query.has('requestId')).length;
      await eventually(async () => {
        await vision.hurry();
        expect(byList()).toBeGreaterThan(1);
      });
      expect(await read(id)).toMatchObject({ status: 'processing' });
      clips.push(second());
      status = 'ready';
      await eventually(() =>
        vision.query("UPDATE video_request_parts SET polled_individually_at = now() - interval '15 minutes'"),
      );
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(2);
    });

    test('keeps them playable after the deadline', async () => {
      const id = await halfStored(await vision.connect());
      await vision.endDeadline();
      const shown = await becomes(id, { status: 'expired', reason: expect.stringContaining('the whole video') });
      expect((await vision.app.admin('GET', `/recordings/${shown.recordingIds[0]}`)).body).toMatchObject({
        status: 'stored',
      });
    });
  });

  test('ends a request that was not submitted by the clock of the database', async () => {
    vision.partner.on(POST, refuses(429, 'INTERNAL_ERROR', 'later'));
    const id = await order(await vision.connect());
    await eventually(() => expect(vision.partner.askedOf(POST)).not.toHaveLength(0));
    await vision.endDeadline();
    const reason = expect.stringContaining('Last response: ');
    const shown = await withLateClock(3_600_000, () => becomes(id, { status: 'expired', reason }));
    expect(shown.reason).toContain('asks for fewer calls');
  });

  test('records a malformed element, and stores the others', async () => {
    const good = element({ requestId: 'req-m', downloadUrl: vision.partner.link(sampleVideo()) });
    vision.partner.on(POST, accepts({ requestId: 'req-m' }));
    vision.partner.on(VIDEOS, json({ success: true, data: { items: [{ id: 7, requestId: 'req-m' }, good] } }));
    const connectionId = await vision.connect();
    await becomes(await order(connectionId), { status: 'stored' });
    const findings = await vision.query<{ path: string; raw: string }>(
      'SELECT path, raw FROM vision_findings WHERE connection_id = $1',
      [connectionId],
    );
    expect(findings).toEqual([{ path: 'data.items[0].truckId', raw: '{"id":7,"requestId":"req-m"}' }]);
  });
});

describe('many open requests of one customer', () => {
  test('a thousand are polled with at most 20 calls', async () => {
    const connectionId = await vision.connect();
    const { haulerId } = vision;
    await vision.query(
      `INSERT INTO video_requests (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time, end_time,
         status, deadline_at, created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, 'customer-1', 'TRUCK-7', 'front', now(), now(), 'processing',
         now() + interval '1 day', now(), now() FROM generate_series(1, 1000)`,
      [haulerId, connectionId],
    );
    await vision.query(
      `INSERT INTO video_request_parts (hauler_id, id, request_id, number, connection_id, customer_id, truck_id, camera_id,
         start_time, end_time, status, partner_request_id, deadline_at, polls, next_poll_at, submitted_at, polled_individually_at)
       SELECT $1, gen_random_uuid(), r.id, 1, $2, 'customer-1', 'TRUCK-7', 'front', '2026-01-31T08:30:00Z',
         '2026-01-31T08:35:00Z', 'processing', 'r' || row_number() OVER (), now() + interval '1 day', 5,
         now() + random() * interval '25 seconds', now(), now()
       FROM video_requests r WHERE r.connection_id = $2`,
      [haulerId, connectionId],
    );
    await vision.query("UPDATE video_request_parts SET next_poll_at = now() WHERE partner_request_id = 'r1'");
    // More clips than requests; only the last ones belong to them.
    const others = Array.from({ length: 1_500 }, (_, n) =>
      element({ requestId: `another ${n}`, downloadUrl: 'https://x.example/a' }),
    );
    const ours = Array.from({ length: 10 }, (_, i) =>
      element({ requestId: `r${i + 1}`, downloadUrl: vision.partner.link(sampleVideo(200)) }),
    );
    vision.listVideos(() => [...others, ...ours]);
    const pollCalls = async () => {
      const before = vision.partner.askedOf(VIDEOS).length;
      await vision.query(
        `INSERT INTO video_polls (hauler_id, connection_id, customer_id, due_at) VALUES ($1, $2, 'customer-1', now())
         ON CONFLICT (hauler_id, connection_id, customer_id) DO UPDATE SET due_at = now()`,
        [haulerId, connectionId],
      );
      await eventually(async () => {
        const [poll] = await vision.query<{ idle: boolean }>(
          'SELECT started_at IS NULL AND due_at > now() AS idle FROM video_polls WHERE connection_id = $1',
          [connectionId],
        );
        expect(poll?.idle).toBe(true);
      });
      return vision.partner.askedOf(VIDEOS).length - before;
    };
    expect(await pollCalls()).toBe(16);
    const [{ polled }] = await vision.app.dataSource.query<[{ polled: number }]>(
      'SELECT count(*)::int AS polled FROM video_request_parts WHERE polls = 6',
    );
    // The other ten are found.
    expect(polled).toBe(990);
    await vision.query("UPDATE video_request_parts SET next_poll_at = now() + random() * interval '25 seconds'");
    await vision.query("UPDATE video_request_parts SET next_poll_at = now() WHERE partner_request_id = 'r1'");
    expect(await pollCalls()).toBeLessThanOrEqual(16);
    await eventually(async () => {
      const [{ stored }] = await vision.app.dataSource.query<[{ stored: number }]>(
        "SELECT count(*)::int AS stored FROM video_requests WHERE status = 'stored'",
      );
      expect(stored).toBe(10);
    });
    expect(vision.partner.askedOf(VIDEOS).every(({ query }) => query.get('requestId') === null)).toBe(true);
  });

  test('one that stays open is polled by its own id after 15 minutes', async () => {
    vision.partner.on(POST, accepts({ requestId: 'req-1' }), accepts({ requestId: 'req-2' }));
    vision.partner.on(VIDEOS, (response, asked) => {
      const failed = { request: { requestId: 'req-2', status: 'failed', message: 'seen' } };
      lists('videos', () => [], asked.query.get('requestId') === 'req-2' ? failed : {})(response, asked);
    });
    const connectionId = await vision.connect();
    const first = await order(connectionId);
    await becomes(first, { status: 'processing' });
    const second = await order(connectionId);
    await becomes(second, { status: 'processing' });
    await vision.query(
      `UPDATE video_request_parts SET polled_individually_at = now() - interval '15 minutes' WHERE partner_request_id = 'req-2'`,
    );
    const shown = await becomes(second, { status: 'failed' });
    expect(shown.reason).toContain('seen');
  });
});

/** Runs `work` while the clock of this process is `byMs` milliseconds behind the clock of the database. */
async function withLateClock<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  const RealDate = Date;
  class LateDate extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      super(given.length === 0 ? RealDate.now() - byMs : given[0]);
    }

    static override now(): number {
      return RealDate.now() - byMs;
    }

    /** Dates that were created before are dates as well. */
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof RealDate;
    }
  }
  globalThis.Date = LateDate as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}
