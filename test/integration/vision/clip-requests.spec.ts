import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { breaks, raw, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { RANGE, type ShownRequest } from '../../support/video-requests.js';
import { accepts, element, lists, POST, sha256, VIDEOS, type Element } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision();
const { becomes, order, read } = vision;

/** A listed clip that can be fetched. */
const clip = (fields: Element = {}): Element => element({ downloadUrl: vision.partner.link(sampleVideo()), ...fields });

/** The different values of a header of the POSTs that the partner has received. */
const headersOf = (name: string): Set<unknown> =>
  new Set(vision.partner.askedOf(POST).map(({ headers }) => headers[name]));

describe('a request for a video', () => {
  test('is sent once, polled, downloaded and played', async () => {
    const connectionId = await vision.connect();
    const body = sampleVideo();
    const clips: Element[] = [];
    vision.partner.on(POST, accepts({ requestId: 'req-a' }));
    vision.listVideos(() => clips);
    const asked = await vision.app.admin<ShownRequest>('POST', '/video-requests', {
      connectionId,
      truckId: 'TRUCK-7',
      cameraId: 'front',
      ...RANGE,
    });
    expect(asked).toMatchObject({ status: 202, body: { id: expect.any(String), status: 'submitting' } });
    const { id } = asked.body;
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'processing' }));
    expect(JSON.parse(vision.partner.askedOf(POST)[0]?.body ?? '')).toEqual({
      customerId: 'customer-1',
      truckId: 'TRUCK-7',
      cameraId: 'front',
      ...RANGE,
    });
    clips.push(element({ requestId: 'req-a', downloadUrl: vision.partner.link(body) }));
    await vision.hurry();
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'stored' }));
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
    expect(vision.partner.askedOf(VIDEOS)[0]?.query.get('requestId')).toBe('req-a');
    const shown = await read(id);
    expect(shown).toMatchObject({ partnerRequestId: 'req-a', recordingIds: [expect.any(String)] });
    const recording = await vision.app.admin('GET', `/recordings/${shown.recordingIds[0]}`);
    expect(recording.body).toMatchObject({ source: 'on-demand', sizeBytes: body.length, sha256: sha256(body) });
    expect(recording.text).not.toContain('sig=');
    const played = await fetch(`${vision.app.url}/admin/v1/recordings/${shown.recordingIds[0]}/content`, {
      headers: { Authorization: `Bearer ${vision.app.env.ADMIN_TOKEN}`, Range: 'bytes=10-19' },
    });
    expect(played.status).toBe(206);
    expect(Buffer.from(await played.arrayBuffer())).toEqual(body.subarray(10, 20));
  });
});

describe('POST /admin/v1/video-requests', () => {
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
  ])('refuses %s with 400', async (_, fields, path) => {
    const body = { connectionId: await vision.connect(), truckId: 'T', cameraId: 'front', ...RANGE, ...fields };
    const answer = await vision.app.admin('POST', '/video-requests', body);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_PAYLOAD', details: { violations: [{ path }] } } },
    });
  });

  test('returns 404 for an unknown id, and lists by filters', async () => {
    expect((await vision.app.admin('GET', '/video-requests/0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10')).status).toBe(404);
    vision.partner.on(POST, refuses(400, 'INVALID_PAYLOAD', 'bad truck'));
    const connectionId = await vision.connect();
    const id = await order(connectionId);
    await becomes(id, { status: 'failed' });
    const list = async (query: string) =>
      (await vision.app.admin<{ data: ShownRequest[] }>('GET', `/video-requests?${query}`)).body.data.map(
        (shown) => shown.id,
      );
    expect(await list(`connectionId=${connectionId}&truckId=TRUCK-7&status=failed`)).toEqual([id]);
    expect(await list(`connectionId=${connectionId}&status=stored`)).toEqual([]);
  });
});

describe('POST /admin/v1/video-requests/{id}/retry', () => {
  const retry = (id: string) => vision.app.admin('POST', `/video-requests/${id}/retry`);

  test('sends a request again that the partner had refused, and refuses a stored one', async () => {
    vision.partner.on(
      POST,
      refuses(400, 'INVALID_PAYLOAD', 'the truck is not known yet'),
      accepts({ requestId: 'second' }),
    );
    vision.listVideos(() => [clip({ requestId: 'second' })]);
    const id = await order(await vision.connect());
    await becomes(id, { status: 'failed' });
    const status = expect.stringMatching(/^(submitting|processing)$/);
    expect(await retry(id)).toMatchObject({ status: 202, body: { status } });
    await becomes(id, { status: 'stored', partnerRequestId: 'second' });
    expect(vision.partner.askedOf(POST)).toHaveLength(2);
    // A partner that keeps its first answer to a key would only repeat its refusal.
    expect(headersOf('idempotency-key').size).toBe(2);
    expect((await retry(id)).status).toBe(409);
    expect((await retry('0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10')).status).toBe(404);
  });

  test('polls a request again that the partner had accepted, and sends no other', async () => {
    const clips: Element[] = [];
    vision.partner.on(POST, accepts({ requestId: 'slow' }));
    vision.listVideos(() => clips);
    const id = await order(await vision.connect());
    await becomes(id, { status: 'processing' });
    await vision.endDeadline();
    await becomes(id, { status: 'expired' });
    clips.push(clip({ requestId: 'slow' }));
    expect(await retry(id)).toMatchObject({ status: 202, body: { status: 'processing' } });
    await becomes(id, { status: 'stored' });
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
  });

  test('fetches a clip again whose link the partner had withdrawn', async () => {
    const refused = vision.partner.link(sampleVideo(), (_, res) => res.writeHead(410).end());
    let clips = [element({ requestId: 'lost', downloadUrl: refused })];
    vision.partner.on(POST, accepts({ requestId: 'lost' }));
    vision.listVideos(() => (vision.partner.fetched.length === 0 ? clips : []));
    const id = await order(await vision.connect());
    await becomes(id, { status: 'expired' });
    clips = [clip({ requestId: 'lost' })];
    vision.listVideos(() => clips);
    // Its download may have begun.
    expect(await retry(id)).toMatchObject({
      status: 202,
      body: { status: expect.stringMatching(/^(ready|downloading)$/) },
    });
    await becomes(id, { status: 'stored' });
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
  });
});

describe('the POST to the partner', () => {
  test.each<[string, ScriptedReply, number]>([
    ['500', refuses(500, 'INTERNAL_ERROR', 'oops'), 3],
    ['503', refuses(503, 'INTERNAL_ERROR', 'busy'), 3],
    ['no response', breaks('', 0), 3],
    ['400', refuses(400, 'INVALID_PAYLOAD', 'bad truck'), 1],
    ['404', refuses(404, 'NOT_FOUND', 'no such camera'), 1],
    ['a redirect', raw('', { status: 302, headers: { Location: 'https://elsewhere.example' } }), 1],
  ])('fails after %s, with the reason', async (_, reply, tries) => {
    vision.partner.on(POST, reply);
    const shown = await becomes(await order(await vision.connect()), { status: 'failed', reason: expect.any(String) });
    expect(shown.reason).toContain('127.0.0.1');
    expect(vision.partner.askedOf(POST)).toHaveLength(tries);
    expect([...headersOf('idempotency-key')]).toEqual([expect.stringMatching(/^[\x21-\x7e]{1,255}$/)]);
    expect(headersOf('x-request-id').size).toBe(tries);
  });

  test.each<[string, ScriptedReply]>([
    ['401', refuses(401, 'UNAUTHORIZED')],
    ['429', refuses(429, 'INTERNAL_ERROR')],
  ])('is repeated until it is accepted after %s', async (_, reply) => {
    vision.partner.on(POST, reply, reply, reply, reply, accepts());
    vision.listVideos(() => []);
    await becomes(await order(await vision.connect()), { status: 'processing' });
    expect(vision.partner.askedOf(POST)).toHaveLength(5);
  });

  test('fails after 10,000 attempts', async () => {
    vision.partner.on(POST, refuses(429, 'INTERNAL_ERROR', 'later'));
    const id = await order(await vision.connect());
    await eventually(() => expect(vision.partner.askedOf(POST)).not.toHaveLength(0));
    await eventually(async () => {
      await vision.query('UPDATE video_request_parts SET attempts = 9999 WHERE due_at IS NOT NULL');
      await vision.hurry();
      expect(await read(id)).toMatchObject({ status: 'failed', reason: expect.stringMatching(/10,?000/) });
    });
  });

  test('is not repeated after it was accepted', async () => {
    vision.partner.on(POST, breaks('', 0), accepts());
    vision.listVideos(() => []);
    const id = await order(await vision.connect());
    await becomes(id, { status: 'processing' });
    await vision.hurry();
    expect(vision.partner.askedOf(POST)).toHaveLength(2);
  });

  test('is sent although another partner does not answer', async () => {
    const waiting: (() => void)[] = [];
    vision.partner.on(POST, (response, request) => {
      const { truckId } = JSON.parse(request.body) as { truckId: string };
      const answer = () => accepts({ status: 'failed' })(response, request);
      if (truckId === 'SLOW') waiting.push(answer);
      else answer();
    });
    const slow = await vision.connect();
    for (let n = 0; n < 9; n++) await order(slow, { truckId: 'SLOW' });
    await eventually(async () => expect(waiting).toHaveLength(8));
    await becomes(await order(await vision.connect()), { status: 'failed' });
    expect(waiting).toHaveLength(8);
    vision.partner.on(POST, accepts({ status: 'failed' }));
    for (const release of waiting) release();
  });

  test('does not deadlock with the poll of another request', async () => {
    vision.partner.on(POST, accepts());
    vision.listVideos(() => []);
    const connectionId = await vision.connect();
    await becomes(await order(connectionId), { status: 'processing' });
    const second = await vision.app.dataSource.transaction(async (poll) => {
      await poll.query('SELECT 1 FROM video_polls FOR UPDATE');
      const id = await order(connectionId);
      await eventually(async () => {
        const waiting = await vision.query<unknown>(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE 'INSERT INTO video_polls%'`,
        );
        expect(waiting).toHaveLength(1);
      });
      await poll.query("SET LOCAL lock_timeout = '500ms'");
      await poll.query('SELECT 1 FROM video_request_parts FOR UPDATE');
      await poll.query('SELECT 1 FROM video_requests FOR UPDATE');
      return id;
    });
    await becomes(second, { status: 'processing' });
    expect(vision.partner.askedOf(POST)).toHaveLength(2);
  });

  test('is accepted although its findings cannot be stored at that moment', async () => {
    vision.partner.on(POST, accepts({ status: 'QUEUED' }));
    const connectionId = await vision.connect();
    await vision.app.dataSource.transaction(async (other) => {
      await other.query('LOCK TABLE vision_findings IN EXCLUSIVE MODE');
      const id = await order(connectionId);
      await eventually(async () => expect(await read(id)).toMatchObject({ status: 'processing' }));
    });
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
  });

  test('fails with a 202 of status failed', async () => {
    vision.partner.on(POST, accepts({ requestId: 'req-failed', status: 'failed', message: 'The camera is broken.' }));
    const shown = await becomes(await order(await vision.connect()), {
      status: 'failed',
      partnerRequestId: 'req-failed',
    });
    expect(shown.reason).toContain('The camera is broken.');
  });

  test('is polled at once after a 202 of status ready', async () => {
    const clips = [clip({ requestId: 'req-ready' })];
    vision.partner.on(POST, accepts({ requestId: 'req-ready', status: 'ready' }));
    vision.listVideos(() => clips);
    const id = await order(await vision.connect());
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'stored' }));
  });
});

describe('a 202 without a readable id', () => {
  const withoutId = accepts({ requestId: 1.5 });
  const range = { endTime: '2026-01-31T08:35:02Z' };

  test('allows a clip that is listed under an id', async () => {
    vision.partner.on(POST, withoutId);
    vision.listVideos(() => [clip({ requestId: 'req-n', ...range })]);
    const shown = await becomes(await order(await vision.connect()), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(1);
  });

  test('may have a number that is too large: the clip is recognised by truck, camera and range', async () => {
    const id = '12345678901234567891';
    const headers = { 'Content-Type': 'application/json' };
    vision.partner.on(POST, raw(`{"success":true,"requestId":${id},"status":"processing"}`, { status: 202, headers }));
    const video = JSON.stringify(clip(range)).replace('{', `{"requestId":${id},`);
    const videos = `[${video}]`;
    vision.partner.on(VIDEOS, raw(`{"success":true,"data":{"videos":${videos}}}`, { headers }));
    await becomes(await order(await vision.connect()), { status: 'stored' });
    expect(vision.partner.askedOf(VIDEOS).some(({ query }) => query.has('requestId'))).toBe(false);
  });

  test('does not match a clip of another request', async () => {
    vision.partner.on(POST, accepts({ requestId: 'req-1' }), withoutId);
    const clips = [clip({ requestId: 'req-1' })];
    vision.listVideos(() => clips);
    const connectionId = await vision.connect();
    await becomes(await order(connectionId), { status: 'stored' });
    const numbered = await order(connectionId, { cameraId: '1' });
    await becomes(numbered, { status: 'processing' });
    const before = vision.partner.askedOf(VIDEOS).length;
    await eventually(async () => {
      await vision.hurry();
      expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThan(before + 1);
    });
    expect(await read(numbered)).toMatchObject({ status: 'processing' });
    clips.push(clip({ requestId: 'req-2', cameraId: '1' }));
    await becomes(numbered, { status: 'stored' });
  });

  test('matches a clip of another connection, also of the same hauler', async () => {
    vision.partner.on(POST, accepts({ requestId: 'req-1' }), withoutId);
    vision.listVideos(() => [clip({ requestId: 'req-1' })]);
    const one = await vision.connect();
    const { haulerId } = vision;
    const other = await vision.connect();
    await vision.query('UPDATE connections SET hauler_id = $1 WHERE id = $2', [haulerId, other]);
    await becomes(await order(one), { status: 'stored' });
    await becomes(await order(other), { status: 'stored' });
  });
});

describe('a long range', () => {
  test('is requested in parts; a failed part does not affect the others', async () => {
    vision.partner.on(POST, (response, asked) => {
      const { startTime } = JSON.parse(asked.body) as { startTime: string };
      accepts({ requestId: `req ${startTime}` })(response, asked);
    });
    const clips: Element[] = ['08:00', '10:00'].map((hour) =>
      clip({
        requestId: `req 2026-01-31T${hour}:00Z`,
        startTime: `2026-01-31T${hour}:00Z`,
        endTime: hour === '08:00' ? '2026-01-31T09:00:00Z' : '2026-01-31T10:30:00Z',
      }),
    );
    vision.partner.on(VIDEOS, (response, asked) => {
      const id = asked.query.get('requestId');
      const request =
        id === 'req 2026-01-31T09:00:00Z' ? { request: { requestId: id, status: 'failed', message: 'lost' } } : {};
      lists('videos', () => clips, request)(response, asked);
    });
    const range = { startTime: '2026-01-31T08:00:00Z', endTime: '2026-01-31T10:30:00Z' };
    const id = await order(await vision.connect(), range);
    const shown = await becomes(id, { status: 'failed', reason: expect.stringContaining('Part 2 of 3') });
    expect(shown.parts.map(({ status, startTime }) => [status, startTime])).toEqual([
      ['stored', '2026-01-31T08:00:00Z'],
      ['failed', '2026-01-31T09:00:00Z'],
      ['stored', '2026-01-31T10:00:00Z'],
    ]);
    expect(shown.recordingIds).toHaveLength(2);
    expect(vision.partner.askedOf(POST)).toHaveLength(3);
  });
});

test('an hour with microseconds is requested as one part, in milliseconds', async () => {
  vision.partner.on(POST, accepts());
  vision.listVideos(() => []);
  const range = { startTime: '2026-01-31T08:00:00.123456Z', endTime: '2026-01-31T09:00:00.123456Z' };
  const shown = await becomes(await order(await vision.connect(), range), { status: 'processing' });
  const sent = { startTime: '2026-01-31T08:00:00.123Z', endTime: '2026-01-31T09:00:00.123Z' };
  expect(vision.partner.askedOf(POST).map(({ body }) => JSON.parse(body) as object)).toEqual([
    expect.objectContaining(sent),
  ]);
  expect(shown.parts).toEqual([expect.objectContaining(sent)]);
});
