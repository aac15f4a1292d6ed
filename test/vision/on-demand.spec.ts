import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { withLateClock } from '../support/late-clock.js';
import { breaks, json, raw, refuses, type ScriptedReply } from '../support/scripted-partner.js';
import {
  accepts,
  connectVision,
  element,
  type Element,
  startAnew,
  hurry,
  lists,
  POST,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../support/vision-partner.js';
import { sampleVideo } from '../support/sample-video.js';
import { orderVideo, RANGE, readRequest, requestBecomes, type ShownRequest } from '../support/video-requests.js';

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

const connect = async () => (await connectVision(app, partner.url)).id;

const order = (connectionId: string, fields?: object) => orderVideo(app, connectionId, fields);
const read = (id: string) => readRequest(app, id);
const becomes = (id: string, expected: object) => requestBecomes(app, id, expected);

describe('the request of an admin', () => {
  test.each<[string, object, string]>([
    ['end before start', { endTime: '2026-01-31T08:29:00Z' }, 'endTime'],
    ['end at start', { endTime: RANGE.startTime }, 'endTime'],
    ['more than a thousand parts', { endTime: '2026-04-31T08:29:00Z'.replace('31T', '30T') }, 'endTime'],
    [
      'the last millisecond of time',
      { startTime: '9999-12-31T23:59:59.999Z', endTime: '9999-12-31T23:59:59.9995Z' },
      'startTime',
    ],
    ['no truck', { truckId: '' }, 'truckId'],
    ['an unknown connection', { connectionId: '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10' }, 'connectionId'],
  ])('%s: 400', async (_, fields, path) => {
    const body = { connectionId: await connect(), truckId: 'T', cameraId: 'front', ...RANGE, ...fields };
    const answer = await app.admin('POST', '/video-requests', body);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_PAYLOAD', details: { violations: [{ path }] } } },
    });
  });

  test('an unknown id: 404; a list by filters', async () => {
    expect((await app.admin('GET', '/video-requests/0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10')).status).toBe(404);
    partner.on(POST, refuses(400, 'INVALID_PAYLOAD', 'bad truck'));
    const connectionId = await connect();
    const id = await order(connectionId);
    await becomes(id, { status: 'failed' });
    const list = async (query: string) =>
      (await app.admin<{ data: ShownRequest[] }>('GET', `/video-requests?${query}`)).body.data.map((shown) => shown.id);
    expect(await list(`connectionId=${connectionId}&truckId=TRUCK-7&status=failed`)).toEqual([id]);
    expect(await list(`connectionId=${connectionId}&status=stored`)).toEqual([]);
  });
});

describe('the POST', () => {
  test.each<[string, ScriptedReply, number]>([
    ['500', refuses(500, 'INTERNAL_ERROR', 'oops'), 3],
    ['503', refuses(503, 'INTERNAL_ERROR', 'busy'), 3],
    ['a lost answer', breaks('', 0), 3],
    ['400', refuses(400, 'INVALID_PAYLOAD', 'bad truck'), 1],
    ['404', refuses(404, 'NOT_FOUND', 'no such camera'), 1],
    ['a redirect', raw('', { status: 302, headers: { Location: 'https://elsewhere.example' } }), 1],
  ])('%s ends it after so many tries, with the reason', async (_, reply, tries) => {
    partner.on(POST, reply);
    const shown = await becomes(await order(await connect()), { status: 'failed', reason: expect.any(String) });
    expect(shown.reason).toContain('127.0.0.1');
    expect(partner.askedOf(POST)).toHaveLength(tries);
  });

  test.each<[string, ScriptedReply]>([
    ['401', refuses(401, 'UNAUTHORIZED')],
    ['429', refuses(429, 'INTERNAL_ERROR')],
  ])('%s is waited out', async (_, reply) => {
    partner.on(POST, reply, reply, reply, reply, accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    await becomes(await order(await connect()), { status: 'processing' });
    expect(partner.askedOf(POST)).toHaveLength(5);
  });

  test('a request is given up after 10,000 attempts', async () => {
    partner.on(POST, refuses(429, 'INTERNAL_ERROR', 'later'));
    const id = await order(await connect());
    await eventually(() => expect(partner.askedOf(POST)).not.toHaveLength(0));
    await eventually(async () => {
      await app.dataSource.query('UPDATE video_request_parts SET attempts = 9999 WHERE due_at IS NOT NULL');
      await hurry(app);
      expect(await read(id)).toMatchObject({ status: 'failed', reason: expect.stringMatching(/10,?000/) });
    }, 10_000);
  });

  test('a second try that is taken is the last', async () => {
    partner.on(POST, breaks('', 0), accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    const id = await order(await connect());
    await becomes(id, { status: 'processing' });
    await hurry(app);
    expect(partner.askedOf(POST)).toHaveLength(2);
  });

  test('goes out though another partner lets all of its own wait', async () => {
    const waiting: (() => void)[] = [];
    partner.on(POST, (response, request) => {
      const { truckId } = JSON.parse(request.body) as { truckId: string };
      const answer = () => accepts({ status: 'failed' })(response, request);
      if (truckId === 'SLOW') waiting.push(answer);
      else answer();
    });
    const slow = await connect();
    for (let n = 0; n < 9; n++) await order(slow, { truckId: 'SLOW' });
    await eventually(async () => expect(waiting).toHaveLength(8));
    await becomes(await order(await connect()), { status: 'failed' });
    expect(waiting).toHaveLength(8);
    partner.on(POST, accepts({ status: 'failed' }));
    for (const release of waiting) release();
  });

  test('one that is taken while a round writes waits for it, and holds nothing that the round may need', async () => {
    partner.on(POST, accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    const connectionId = await connect();
    await becomes(await order(connectionId), { status: 'processing' });
    const second = await app.dataSource.transaction(async (round) => {
      await round.query('SELECT 1 FROM video_polls FOR UPDATE');
      const id = await order(connectionId);
      await eventually(async () => {
        const waiting = await app.dataSource.query<unknown[]>(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE 'INSERT INTO video_polls%'`,
        );
        expect(waiting).toHaveLength(1);
      }, 3_000);
      await round.query("SET LOCAL lock_timeout = '500ms'");
      await round.query('SELECT 1 FROM video_request_parts FOR UPDATE');
      await round.query('SELECT 1 FROM video_requests FOR UPDATE');
      return id;
    });
    await becomes(second, { status: 'processing' });
    expect(partner.askedOf(POST)).toHaveLength(2);
  });

  test('one whose faults cannot be told has been taken all the same', async () => {
    partner.on(POST, accepts({ status: 'QUEUED' }));
    const connectionId = await connect();
    await app.dataSource.transaction(async (other) => {
      await other.query('LOCK TABLE vision_findings IN EXCLUSIVE MODE');
      const id = await order(connectionId);
      await eventually(async () => expect(await read(id)).toMatchObject({ status: 'processing' }), 3_000);
    });
    expect(partner.askedOf(POST)).toHaveLength(1);
  });

  test('a 202 that says failed', async () => {
    partner.on(POST, accepts({ requestId: 'req-failed', status: 'failed', message: 'The camera is broken.' }));
    const shown = await becomes(await order(await connect()), { status: 'failed', partnerRequestId: 'req-failed' });
    expect(shown.reason).toContain('The camera is broken.');
  });

  test('a 202 that says ready is asked about at once', async () => {
    const clips = [element({ requestId: 'req-ready', downloadUrl: partner.link(sampleVideo()) })];
    partner.on(POST, accepts({ requestId: 'req-ready', status: 'ready' }));
    partner.on(
      VIDEOS,
      lists('videos', () => clips),
    );
    const id = await order(await connect());
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'stored' }));
  });

  test('a body that nobody can read is an acceptance: the clip is recognised by truck, camera and range', async () => {
    partner.on(POST, raw('ok', { status: 202 }));
    partner.on(
      VIDEOS,
      lists('videos', () => [element({ cameraId: '1', downloadUrl: partner.link(sampleVideo()) })]),
    );
    await becomes(await order(await connect()), { status: 'stored' });
    expect(partner.askedOf(POST)).toHaveLength(1);
  });
});

describe('a 202 without an id that can be read', () => {
  const sides = { endTime: '2026-01-31T08:35:02Z' };

  test('the clip is recognised though it is listed under an id', async () => {
    partner.on(POST, raw('ok', { status: 202 }));
    partner.on(
      VIDEOS,
      lists('videos', () => [element({ requestId: 'req-n', ...sides, downloadUrl: partner.link(sampleVideo()) })]),
    );
    const shown = await becomes(await order(await connect()), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(1);
  });

  test('a number as id that is too large to be read counts as none, and the clip is recognised by what it shows', async () => {
    const id = '12345678901234567891';
    const headers = { 'Content-Type': 'application/json' };
    partner.on(POST, raw(`{"success":true,"requestId":${id},"status":"processing"}`, { status: 202, headers }));
    const clip = JSON.stringify(element({ ...sides, downloadUrl: partner.link(sampleVideo()) }));
    const videos = `[${clip.replace('{', `{"requestId":${id},`)}]`;
    partner.on(VIDEOS, raw(`{"success":true,"data":{"videos":${videos}}}`, { headers }));
    await becomes(await order(await connect()), { status: 'stored' });
    expect(partner.askedOf(VIDEOS).some(({ query }) => query.has('requestId'))).toBe(false);
  });

  test('what was delivered to another request is not taken for its clip', async () => {
    partner.on(POST, accepts({ requestId: 'req-1' }), raw('ok', { status: 202 }));
    const clips = [element({ requestId: 'req-1', downloadUrl: partner.link(sampleVideo()) })];
    partner.on(
      VIDEOS,
      lists('videos', () => clips),
    );
    const connectionId = await connect();
    await becomes(await order(connectionId), { status: 'stored' });
    const numbered = await order(connectionId, { cameraId: '1' });
    await becomes(numbered, { status: 'processing' });
    const before = partner.askedOf(VIDEOS).length;
    await eventually(async () => {
      await hurry(app);
      expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(before + 1);
    });
    expect(await read(numbered)).toMatchObject({ status: 'processing' });
    clips.push(element({ requestId: 'req-2', cameraId: '1', downloadUrl: partner.link(sampleVideo()) }));
    await becomes(numbered, { status: 'stored' });
  });

  test('what was delivered to a request of another connection is taken for it, also where both are one hauler’s', async () => {
    partner.on(POST, accepts({ requestId: 'req-1' }), raw('ok', { status: 202 }));
    partner.on(
      VIDEOS,
      lists('videos', () => [element({ requestId: 'req-1', downloadUrl: partner.link(sampleVideo()) })]),
    );
    const [one, other] = [await connectVision(app, partner.url), await connectVision(app, partner.url)];
    await app.dataSource.query('UPDATE connections SET hauler_id = $1 WHERE id = $2', [one.haulerId, other.id]);
    await becomes(await order(one.id), { status: 'stored' });
    await becomes(await order(other.id), { status: 'stored' });
  });
});

describe('polling', () => {
  test('the first one comes after 5 s and is by the id of the request', async () => {
    partner.on(POST, accepts({ requestId: 'req-x' }));
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    await order(await connect());
    await eventually(() => expect(partner.askedOf(VIDEOS)).toHaveLength(1), 9_000);
    const [post, poll] = partner.asked;
    expect((poll?.at ?? 0) - (post?.at ?? 0)).toBeGreaterThan(3_900);
    expect(Object.fromEntries(poll?.query ?? [])).toMatchObject({ customerId: 'customer-1', requestId: 'req-x' });
  });

  test('by a long id as it came', async () => {
    const requestId = 'r'.repeat(1_000);
    const clips = [element({ requestId, downloadUrl: partner.link(sampleVideo()) })];
    partner.on(POST, accepts({ requestId }));
    partner.on(
      VIDEOS,
      lists('videos', () => clips),
    );
    await becomes(await order(await connect()), { status: 'stored' });
  });

  test('data.request is believed', async () => {
    const request = { requestId: 'req-f', status: 'failed', message: 'Nothing was recorded.' };
    partner.on(POST, accepts({ requestId: 'req-f' }));
    partner.on(
      VIDEOS,
      lists('videos', () => [], { request }),
    );
    const shown = await becomes(await order(await connect()), { status: 'failed' });
    expect(shown.reason).toContain('Nothing was recorded.');
  });

  test('an unknown status stays open', async () => {
    partner.on(POST, accepts({ requestId: 'req-u', status: 'QUEUED' }));
    partner.on(
      VIDEOS,
      lists('videos', () => [], { request: { requestId: 'req-u', status: 'TRANSCODING' } }),
    );
    const id = await order(await connect());
    await becomes(id, { status: 'processing' });
    await eventually(() => expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(0), 9_000);
    expect(await read(id)).toMatchObject({ status: 'processing' });
  });

  test('404 three times in a row ends a request as failed', async () => {
    const gone = refuses(404, 'NOT_FOUND', 'no such truck');
    partner.on(POST, accepts());
    partner.on(
      VIDEOS,
      gone,
      gone,
      lists('videos', () => []),
      gone,
      gone,
      gone,
    );
    const shown = await becomes(await order(await connect()), { status: 'failed' });
    expect(shown.reason).toContain('3 times in a row');
    expect(partner.askedOf(VIDEOS)).toHaveLength(6);
  });

  test('an answer that is none is asked for again', async () => {
    const clips = [element({ requestId: 'req-h', downloadUrl: partner.link(sampleVideo()) })];
    partner.on(POST, accepts({ requestId: 'req-h' }));
    partner.on(
      VIDEOS,
      raw('<html>'),
      json({ success: true, data: 7 }),
      lists('videos', () => clips),
    );
    await becomes(await order(await connect()), { status: 'stored' });
  });

  test('the deadline ends it as expired', async () => {
    partner.on(POST, accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    const id = await order(await connect());
    await becomes(id, { status: 'processing' });
    await eventually(() =>
      app.dataSource.query("UPDATE video_request_parts SET deadline_at = now() - interval '1 second'"),
    );
    const shown = await becomes(id, { status: 'expired' });
    expect(shown.reason).toContain('deadline');
  });

  test('which says why the partner could not be asked', async () => {
    partner.on(POST, accepts());
    partner.on(VIDEOS, refuses(401, 'UNAUTHORIZED'));
    const id = await order(await connect());
    await becomes(id, { status: 'processing' });
    await eventually(async () => {
      if (partner.askedOf(VIDEOS).length === 0) await hurry(app);
      const polls = await app.dataSource.query<unknown[]>('SELECT last_error IS NOT NULL AS failed FROM video_polls');
      expect(polls).toEqual([{ failed: true }]);
    });
    await eventually(() =>
      app.dataSource.query("UPDATE video_request_parts SET deadline_at = now() - interval '1 second'"),
    );
    const shown = await becomes(id, { status: 'expired' });
    expect(shown.reason).toMatch(/ Last response: .* does not accept our API key\.$/);
  });

  test('a deadline that comes before the next round is looked at when it comes', async () => {
    partner.on(POST, accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    await becomes(await order(await connect()), { status: 'processing' });
    await app.dataSource.query(
      `UPDATE video_request_parts SET submitted_at = now() - interval '2 hours',
         deadline_at = date_trunc('second', now()) + interval '2 minutes'`,
    );
    await eventually(async () => {
      const [row] = await app.dataSource.query<{ later: boolean }[]>(
        `SELECT poll.due_at = part.deadline_at AS at_deadline, part.next_poll_at > part.deadline_at AS later
         FROM video_polls AS poll, video_request_parts AS part WHERE poll.lease_token IS NULL`,
      );
      // No round of one that is open for so long has ended yet.
      if (row?.later === false) await hurry(app);
      expect(row).toEqual({ at_deadline: true, later: true });
    }, 10_000);
  });

  test('a request that is taken meanwhile puts no round off', async () => {
    partner.on(POST, accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    const connectionId = await connect();
    await becomes(await order(connectionId), { status: 'processing' });
    // Held, so that it stays as it is: due already.
    await app.dataSource.query(
      `UPDATE video_polls SET due_at = now() - interval '1 minute', lease_token = gen_random_uuid(),
         leased_until = now() + interval '1 hour'`,
    );
    await becomes(await order(connectionId), { status: 'processing' });
    const polls = await app.dataSource.query<unknown[]>('SELECT due_at < now() AS due FROM video_polls');
    expect(polls).toEqual([{ due: true }]);
    await app.dataSource.query('UPDATE video_polls SET lease_token = NULL, leased_until = NULL');
  });

  test.each([
    ['the POST', POST, 'video_request_parts'],
    ['a poll', VIDEOS, 'video_polls'],
  ])('%s that the partner puts off beyond the deadline is looked at again when it comes', async (_, path, table) => {
    partner.on(POST, accepts());
    partner.on(path, refuses(429, 'INTERNAL_ERROR', 'tomorrow', { 'Retry-After': '80000' }));
    const hasty = await startTestApp({ on: app, env: { VISION_REQUEST_DEADLINE: 3_600_000 } });
    const body = { connectionId: await connect(), truckId: 'TRUCK-7', cameraId: 'front', ...RANGE };
    expect((await hasty.admin('POST', '/video-requests', body)).status).toBe(202);
    await eventually(async () => {
      if (partner.askedOf(path).length === 0) await hurry(app);
      const refused = await app.dataSource.query<unknown[]>(
        `SELECT row.due_at BETWEEN part.deadline_at AND part.deadline_at + interval '10 seconds' AS at_deadline
         FROM ${table} AS row, video_request_parts AS part WHERE row.last_error IS NOT NULL`,
      );
      expect(refused).toEqual([{ at_deadline: true }]);
    });
    await hasty.close();
  });

  test('a poll that is due by the database is held, also where the clock here is behind', async () => {
    partner.on(POST, accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    await becomes(await order(await connect()), { status: 'processing' });
    const now = Date.now;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
    try {
      const asked = partner.askedOf(VIDEOS).length;
      // A round that is under way just now puts off what is hurried meanwhile.
      await eventually(async () => {
        await hurry(app);
        expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(asked);
      });
    } finally {
      clock.mockRestore();
    }
  });

  test('clips of one request under one id are all fetched', async () => {
    const first = element({
      id: 'one',
      requestId: 'req-i',
      endTime: '2026-01-31T08:32:00Z',
      downloadUrl: partner.link(sampleVideo(200)),
    });
    const second = {
      ...first,
      startTime: '2026-01-31T08:32:00Z',
      endTime: '2026-01-31T08:35:00Z',
      downloadUrl: partner.link(sampleVideo(300)),
    };
    partner.on(POST, accepts({ requestId: 'req-i' }));
    partner.on(
      VIDEOS,
      lists('videos', () => [first, second, first]),
    );
    const shown = await becomes(await order(await connect()), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(2);
  });

  describe('clips that come while the partner still prepares others', () => {
    const half = (startTime: string, endTime: string) =>
      element({ requestId: 'req-half', startTime, endTime, downloadUrl: partner.link(sampleVideo()) });
    const first = () => half(RANGE.startTime, '2026-01-31T08:32:00Z');
    const second = () => half('2026-01-31T08:32:00Z', RANGE.endTime);
    let clips: Element[];
    let status: string;

    /** With its first clip stored. */
    const halfStored = async (connectionId: string) => {
      clips = [first()];
      status = 'processing';
      partner.on(POST, accepts({ requestId: 'req-half' }), accepts());
      partner.on(VIDEOS, (response, asked) => {
        const request = { requestId: 'req-half', status, message: 'one more' };
        lists('videos', () => clips, asked.query.get('requestId') === 'req-half' ? { request } : {})(response, asked);
      });
      const id = await order(connectionId);
      await eventually(async () => {
        await hurry(app);
        const stored = await app.dataSource.query<unknown[]>("SELECT 1 FROM recordings WHERE status = 'stored'");
        expect(stored).toHaveLength(1);
      });
      // The round that found the clip may still be at it, though the clip is stored.
      await eventually(async () => expect(await read(id)).toMatchObject({ status: 'processing', reason: 'one more' }));
      return id;
    };

    test('are fetched at once, and it is stored with the last of them', async () => {
      const id = await halfStored(await connect());
      clips.push(second());
      status = 'ready';
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(2);
    });

    test('are all, where it says so without another one', async () => {
      const id = await halfStored(await connect());
      status = 'ready';
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(1);
    });

    test('are all, where it says so and lists none any more', async () => {
      const id = await halfStored(await connect());
      clips = [];
      status = 'ready';
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(1);
    });

    test('are not all, where it lists none any more without saying so', async () => {
      const id = await halfStored(await connect());
      clips = [];
      const asked = partner.askedOf(VIDEOS).length;
      await eventually(async () => {
        await hurry(app);
        expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(asked + 1);
      });
      expect(await read(id)).toMatchObject({ status: 'processing' });
    });

    test('are not taken for all by the list of the customer, which says nothing of it', async () => {
      const connectionId = await connect();
      const id = await halfStored(connectionId);
      await becomes(await order(connectionId, { cameraId: 'rear' }), { status: 'processing' });
      const byList = () => partner.askedOf(VIDEOS).filter(({ query }) => !query.has('requestId')).length;
      await eventually(async () => {
        await hurry(app);
        expect(byList()).toBeGreaterThan(1);
      });
      expect(await read(id)).toMatchObject({ status: 'processing' });
      clips.push(second());
      status = 'ready';
      await eventually(() =>
        app.dataSource.query("UPDATE video_request_parts SET polled_individually_at = now() - interval '15 minutes'"),
      );
      expect((await becomes(id, { status: 'stored' })).recordingIds).toHaveLength(2);
    });

    test('stay playable where the deadline comes', async () => {
      const id = await halfStored(await connect());
      await eventually(() =>
        app.dataSource.query("UPDATE video_request_parts SET deadline_at = now() - interval '1 second'"),
      );
      const shown = await becomes(id, { status: 'expired', reason: expect.stringContaining('the whole video') });
      expect((await app.admin('GET', `/recordings/${shown.recordingIds[0]}`)).body).toMatchObject({ status: 'stored' });
    });
  });

  test('when it was taken, asked about next and given up is reckoned by the database', async () => {
    partner.on(POST, accepts());
    partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    const connectionId = await connect();
    await withLateClock(3_600_000, async () => {
      await order(connectionId);
      await eventually(async () => {
        const parts = await app.dataSource.query<unknown[]>(
          `SELECT submitted_at BETWEEN now() - interval '10 seconds' AND now() AS taken, polled_individually_at = submitted_at AS asked,
             next_poll_at - submitted_at BETWEEN interval '4 seconds' AND interval '6 seconds' AS next,
             poll_at = next_poll_at AS due, part.deadline_at - now() BETWEEN interval '23:59' AND interval '24:00' AS deadline,
             request.deadline_at = part.deadline_at AS one
           FROM (SELECT part.*, poll.due_at AS poll_at FROM video_request_parts AS part
                 LEFT JOIN video_polls AS poll USING (hauler_id, connection_id, customer_id)) AS part
           JOIN video_requests AS request ON request.id = part.request_id`,
        );
        expect(parts).toEqual([{ taken: true, asked: true, next: true, due: true, deadline: true, one: true }]);
      });
    });
  });

  test('a deadline that has come by the database ends what could not be submitted', async () => {
    partner.on(POST, refuses(429, 'INTERNAL_ERROR', 'later'));
    const id = await order(await connect());
    await eventually(() => expect(partner.askedOf(POST)).not.toHaveLength(0));
    await eventually(() =>
      app.dataSource.query("UPDATE video_request_parts SET deadline_at = now() - interval '1 second'"),
    );
    const reason = expect.stringContaining('Last response: ');
    const shown = await withLateClock(3_600_000, () => becomes(id, { status: 'expired', reason }));
    expect(shown.reason).toContain('asks for fewer calls');
  });

  test('a malformed element is recorded, and the others land', async () => {
    const good = element({ requestId: 'req-m', downloadUrl: partner.link(sampleVideo()) });
    partner.on(POST, accepts({ requestId: 'req-m' }));
    partner.on(VIDEOS, json({ success: true, data: { items: [{ id: 7, requestId: 'req-m' }, good] } }));
    const connectionId = await connect();
    await becomes(await order(connectionId), { status: 'stored' });
    const findings = await app.dataSource.query<{ path: string; raw: string }[]>(
      'SELECT path, raw FROM vision_findings WHERE connection_id = $1',
      [connectionId],
    );
    expect(findings).toEqual([{ path: 'data.items[0].truckId', raw: '{"id":7,"requestId":"req-m"}' }]);
  });
});

describe('a long range', () => {
  test('is asked for in parts; one that fails does not take the others along', async () => {
    partner.on(POST, (response, asked) => {
      const { startTime } = JSON.parse(asked.body) as { startTime: string };
      accepts({ requestId: `req ${startTime}` })(response, asked);
    });
    const clips: Element[] = ['08:00', '10:00'].map((hour) =>
      element({
        requestId: `req 2026-01-31T${hour}:00Z`,
        startTime: `2026-01-31T${hour}:00Z`,
        endTime: hour === '08:00' ? '2026-01-31T09:00:00Z' : '2026-01-31T10:30:00Z',
        downloadUrl: partner.link(sampleVideo()),
      }),
    );
    partner.on(VIDEOS, (response, asked) => {
      const id = asked.query.get('requestId');
      const request =
        id === 'req 2026-01-31T09:00:00Z' ? { request: { requestId: id, status: 'failed', message: 'lost' } } : {};
      lists('videos', () => clips, request)(response, asked);
    });
    const range = { startTime: '2026-01-31T08:00:00Z', endTime: '2026-01-31T10:30:00Z' };
    const id = await order(await connect(), range);
    const shown = await becomes(id, { status: 'failed', reason: expect.stringContaining('Part 2 of 3') });
    expect(shown.parts.map(({ status, startTime }) => [status, startTime])).toEqual([
      ['stored', '2026-01-31T08:00:00Z'],
      ['failed', '2026-01-31T09:00:00Z'],
      ['stored', '2026-01-31T10:00:00Z'],
    ]);
    expect(shown.recordingIds).toHaveLength(2);
    expect(partner.askedOf(POST)).toHaveLength(3);
  });
});

test('an hour with microseconds is asked for at one go, in milliseconds', async () => {
  partner.on(POST, accepts());
  partner.on(
    VIDEOS,
    lists('videos', () => []),
  );
  const range = { startTime: '2026-01-31T08:00:00.123456Z', endTime: '2026-01-31T09:00:00.123456Z' };
  const shown = await becomes(await order(await connect(), range), { status: 'processing' });
  const sent = { startTime: '2026-01-31T08:00:00.123Z', endTime: '2026-01-31T09:00:00.123Z' };
  expect(partner.askedOf(POST).map(({ body }) => JSON.parse(body) as object)).toEqual([expect.objectContaining(sent)]);
  expect(shown.parts).toEqual([expect.objectContaining(sent)]);
});

describe('many open requests of one customer', () => {
  test('a thousand are polled by at most 11 list calls a round', async () => {
    const { id: connectionId, haulerId } = await connectVision(app, partner.url);
    await app.dataSource.query(
      `INSERT INTO video_requests (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time, end_time,
         status, deadline_at, created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, 'customer-1', 'TRUCK-7', 'front', now(), now(), 'processing',
         now() + interval '1 day', now(), now() FROM generate_series(1, 1000)`,
      [haulerId, connectionId],
    );
    await app.dataSource.query(
      `INSERT INTO video_request_parts (hauler_id, id, request_id, number, connection_id, customer_id, truck_id, camera_id,
         start_time, end_time, status, partner_request_id, deadline_at, polls, next_poll_at, submitted_at, polled_individually_at)
       SELECT $1, gen_random_uuid(), r.id, 1, $2, 'customer-1', 'TRUCK-7', 'front', '2026-01-31T08:30:00Z',
         '2026-01-31T08:35:00Z', 'processing', 'r' || row_number() OVER (), now() + interval '1 day', 5,
         now() + random() * interval '25 seconds', now(), now()
       FROM video_requests r WHERE r.connection_id = $2`,
      [haulerId, connectionId],
    );
    await app.dataSource.query("UPDATE video_request_parts SET next_poll_at = now() WHERE partner_request_id = 'r1'");
    // Twice as many clips as are asked about, only the last of them ours.
    const others = Array.from({ length: 1_500 }, () =>
      element({ requestId: 'another', downloadUrl: 'https://x.example/a' }),
    );
    const ours = Array.from({ length: 10 }, (_, i) =>
      element({ requestId: `r${i + 1}`, downloadUrl: partner.link(sampleVideo(200)) }),
    );
    partner.on(
      VIDEOS,
      lists('videos', () => [...others, ...ours]),
    );
    const round = async () => {
      const before = partner.askedOf(VIDEOS).length;
      await app.dataSource.query(
        `INSERT INTO video_polls (hauler_id, connection_id, customer_id, due_at) VALUES ($1, $2, 'customer-1', now())
         ON CONFLICT (hauler_id, connection_id, customer_id) DO UPDATE SET due_at = now()`,
        [haulerId, connectionId],
      );
      await eventually(async () => {
        const [poll] = await app.dataSource.query<{ idle: boolean }[]>(
          'SELECT lease_token IS NULL AND due_at > now() AS idle FROM video_polls WHERE connection_id = $1',
          [connectionId],
        );
        expect(poll?.idle).toBe(true);
      });
      return partner.askedOf(VIDEOS).length - before;
    };
    expect(await round()).toBe(11);
    const [{ polled }] = await app.dataSource.query<[{ polled: number }]>(
      'SELECT count(*)::int AS polled FROM video_request_parts WHERE polls = 6',
    );
    expect(polled).toBe(1_000);
    await app.dataSource.query(
      "UPDATE video_request_parts SET next_poll_at = now() + random() * interval '25 seconds'",
    );
    await app.dataSource.query("UPDATE video_request_parts SET next_poll_at = now() WHERE partner_request_id = 'r1'");
    expect(await round()).toBeLessThanOrEqual(11);
    await eventually(async () => {
      const [{ stored }] = await app.dataSource.query<[{ stored: number }]>(
        "SELECT count(*)::int AS stored FROM video_requests WHERE status = 'stored'",
      );
      expect(stored).toBe(10);
    });
    expect(partner.askedOf(VIDEOS).every(({ query }) => query.get('requestId') === null)).toBe(true);
  });

  test('one that stays open is asked for by its own id when it is time', async () => {
    partner.on(POST, accepts({ requestId: 'req-1' }), accepts({ requestId: 'req-2' }));
    partner.on(VIDEOS, (response, asked) => {
      const failed = { request: { requestId: 'req-2', status: 'failed', message: 'seen' } };
      lists('videos', () => [], asked.query.get('requestId') === 'req-2' ? failed : {})(response, asked);
    });
    const connectionId = await connect();
    const first = await order(connectionId);
    await becomes(first, { status: 'processing' });
    const second = await order(connectionId);
    await becomes(second, { status: 'processing' });
    await app.dataSource.query(
      `UPDATE video_request_parts SET polled_individually_at = now() - interval '15 minutes' WHERE partner_request_id = 'req-2'`,
    );
    const shown = await becomes(second, { status: 'failed' });
    expect(shown.reason).toContain('seen');
  });
});
