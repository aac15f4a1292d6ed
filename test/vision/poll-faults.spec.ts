import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { json, refuses, type ScriptedReply } from '../support/scripted-partner.js';
import { orderVideo, readRequest, requestBecomes } from '../support/video-requests.js';
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

let app: TestApp;
let partner: VisionPartner;
let clips: Element[];
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
});
afterEach(() => startAnew(app, partner));
afterAll(async () => {
  await app.close();
  await partner.stop();
});

const clip = (fields: Element): Element => element({ downloadUrl: partner.link(sampleVideo()), ...fields });
const listed = lists('videos', () => clips);
const others = (count: number): Element[] =>
  Array.from({ length: count }, () => element({ requestId: 'another', downloadUrl: 'https://x.example/a' }));

/** The rear camera's request R-rear and the front camera's R-front, both with the partner, of whom nothing is listed yet. */
async function twoOpen(): Promise<{ rear: string; front: string }> {
  clips = [];
  partner.on(POST, accepts({ requestId: 'R-rear' }), accepts({ requestId: 'R-front' }));
  partner.on(VIDEOS, listed);
  const { id } = await connectVision(app, partner.url);
  const rear = await orderVideo(app, id, { cameraId: 'rear' });
  await requestBecomes(app, rear, { status: 'processing' });
  const front = await orderVideo(app, id);
  await requestBecomes(app, front, { status: 'processing' });
  await idle();
  return { rear, front };
}

const idle = () =>
  eventually(async () => {
    const rows = await app.dataSource.query<unknown[]>(
      'SELECT lease_token IS NULL AND due_at > now() AS idle FROM video_polls',
    );
    expect(rows).toEqual([{ idle: true }]);
  });

/** Once more where a round that writes the same rows has crossed it, and PostgreSQL ended this statement. */
const aloneIsTime = () =>
  eventually(() =>
    app.dataSource.query(
      "UPDATE video_request_parts SET polled_individually_at = now() - interval '14 minutes', polls = 5",
    ),
  );

const partOf = async (requestId: string) => {
  const [part] = await app.dataSource.query<object[]>(
    `SELECT status, reason, polls, polled_individually_at > now() - interval '1 minute' AS just_asked
     FROM video_request_parts WHERE partner_request_id = $1`,
    [requestId],
  );
  return part;
};

/** By its own id the rear camera's request is answered so; everything else as usual. */
const rearAlone =
  (reply: ScriptedReply): ScriptedReply =>
  (response, asked) =>
    (asked.query.get('requestId') === 'R-rear' ? reply : listed)(response, asked);

const pagesFrom =
  (first: number, reply: ScriptedReply): ScriptedReply =>
  (response, asked) =>
    (Number(asked.query.get('page') ?? 1) >= first ? reply : listed)(response, asked);

test.each<[string, ScriptedReply, string]>([
  ['500', refuses(500, 'INTERNAL_ERROR', 'oops'), 'status 500'],
  ['400', refuses(400, 'INVALID_PAYLOAD', 'what?'), 'status 400'],
  ['an answer that is none', json({ success: false }), 'does not conform to the contract'],
  ['an error and 200', json({ success: false, error: { code: 'X', message: 'oops' } }), 'it says X: oops'],
])('one that is answered with %s by its own id waits on, and holds up no other', async (_, reply, reason) => {
  const { rear, front } = await twoOpen();
  partner.on(VIDEOS, rearAlone(reply));
  clips = [clip({ requestId: 'R-front' })];
  await aloneIsTime();
  await requestBecomes(app, front, { status: 'stored' });
  expect(await partOf('R-rear')).toMatchObject({ status: 'processing', just_asked: true });
  expect(await readRequest(app, rear)).toMatchObject({ status: 'processing', reason: expect.stringContaining(reason) });
});

test('a partner that has asked to be left alone is, also where another request is sent meanwhile', async () => {
  clips = [];
  partner.on(POST, accepts());
  partner.on(VIDEOS, refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '600' }));
  const { id } = await connectVision(app, partner.url);
  await orderVideo(app, id);
  const minutesLeft = async () => {
    const [poll] = await app.dataSource.query<{ minutes: number }[]>(
      'SELECT extract(epoch FROM due_at - now())::float8 / 60 AS minutes FROM video_polls WHERE last_error IS NOT NULL',
    );
    return poll?.minutes ?? 0;
  };
  await eventually(async () => {
    if (partner.askedOf(VIDEOS).length === 0) await hurry(app);
    expect(await minutesLeft()).toBeGreaterThan(9);
  });
  const other = await orderVideo(app, id, { cameraId: 'rear' });
  await eventually(async () => expect(await readRequest(app, other)).toMatchObject({ status: 'processing' }));
  expect(await minutesLeft()).toBeGreaterThan(9);
});

test('what was wrong with one is told until it is answered, or with its end', async () => {
  const { rear, front } = await twoOpen();
  partner.on(VIDEOS, rearAlone(refuses(400, 'INVALID_PAYLOAD', 'what?')));
  await aloneIsTime();
  await requestBecomes(app, rear, { status: 'processing', reason: expect.stringContaining('what?') });
  partner.on(VIDEOS, listed);
  await aloneIsTime();
  await eventually(async () => {
    await hurry(app);
    expect(await readRequest(app, rear)).not.toHaveProperty('reason');
  });
  partner.on(VIDEOS, rearAlone(refuses(400, 'INVALID_PAYLOAD', 'what now?')));
  await aloneIsTime();
  await requestBecomes(app, rear, { reason: expect.stringContaining('what now?') });
  await eventually(() =>
    app.dataSource.query("UPDATE video_request_parts SET deadline_at = now() - interval '1 second'"),
  );
  const { reason } = await requestBecomes(app, rear, { status: 'expired' });
  expect(reason).toContain('deadline');
  expect(reason).toContain('what now?');
  expect((await requestBecomes(app, front, { status: 'expired' })).reason).not.toContain('what');
});

test('a partner that asks to be waited for is asked nothing more, and what it has said before counts', async () => {
  const { front } = await twoOpen();
  clips = [clip({ requestId: 'R-front' })];
  partner.on(VIDEOS, rearAlone(refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '3600' })));
  await aloneIsTime();
  await hurry(app);
  await eventually(async () => expect(await readRequest(app, front)).toMatchObject({ status: 'stored' }));
  await eventually(async () => {
    const polls = await app.dataSource.query<unknown[]>(
      `SELECT next_page, due_at - now() BETWEEN interval '59 minutes' AND interval '1 hour' AS waits,
         last_error LIKE '%429%' AS told FROM video_polls`,
    );
    expect(polls).toEqual([{ next_page: 1, waits: true, told: true }]);
  });
  // It was not answered, and is asked again when the partner may be.
  expect(await partOf('R-rear')).toMatchObject({ status: 'processing', just_asked: false, polls: 6 });
});

test.each([
  ['a whole partner that refuses us', refuses(401, 'UNAUTHORIZED')],
  ['a Retry-After beside a fault', refuses(500, 'INTERNAL_ERROR', 'oops', { 'Retry-After': '600' })],
])('%s ends the asking by own ids', async (_, reply) => {
  await twoOpen();
  const before = partner.askedOf(VIDEOS).length;
  partner.on(VIDEOS, (response, asked) => (asked.query.has('requestId') ? reply : listed)(response, asked));
  await aloneIsTime();
  await hurry(app);
  await eventually(async () => {
    const polls = await app.dataSource.query<unknown[]>('SELECT last_error IS NOT NULL AS told FROM video_polls');
    expect(polls).toEqual([{ told: true }]);
  });
  const asked = partner.askedOf(VIDEOS).slice(before);
  expect(asked.map(({ query }) => query.has('requestId'))).toEqual([false, true]);
});

test.each<[string, ScriptedReply]>([
  ['400', refuses(400, 'INVALID_PAYLOAD', 'no such page')],
  ['404', refuses(404, 'NOT_FOUND', 'no such page')],
  ['500', refuses(500, 'INTERNAL_ERROR', 'oops')],
])('a list that became shorter is read from its first page where a later one is answered with %s', async (_, reply) => {
  const { rear, front } = await twoOpen();
  partner.on(VIDEOS, pagesFrom(2, reply));
  await app.dataSource.query('UPDATE video_polls SET next_page = 3');
  clips = [clip({ requestId: 'R-rear', cameraId: 'rear' }), clip({ requestId: 'R-front' })];
  await requestBecomes(app, rear, { status: 'stored' });
  await requestBecomes(app, front, { status: 'stored' });
});

test.each<[string, ScriptedReply]>([
  ['404', refuses(404, 'NOT_FOUND', 'no such page')],
  ['500', refuses(500, 'INTERNAL_ERROR', 'oops')],
])('what the first pages have told counts, though a later one is answered with %s', async (_, reply) => {
  const { rear, front } = await twoOpen();
  clips = [clip({ requestId: 'R-front' }), ...others(150)];
  partner.on(VIDEOS, pagesFrom(2, reply));
  await requestBecomes(app, front, { status: 'stored' });
  expect(await readRequest(app, rear)).toMatchObject({ status: 'processing' });
});

test('where the list fails, those whose time it is are asked for by their own ids', async () => {
  const { front } = await twoOpen();
  clips = [clip({ requestId: 'R-front' })];
  const broken = json({ success: false });
  partner.on(VIDEOS, (response, asked) => (asked.query.has('requestId') ? listed : broken)(response, asked));
  await aloneIsTime();
  await requestBecomes(app, front, { status: 'stored' });
});

test('a clip under the id of a request that shows another truck is told with it, and as a finding', async () => {
  const { rear } = await twoOpen();
  clips = [clip({ requestId: 'R-rear', cameraId: 'rear', truckId: 'TRUCK-9' })];
  await aloneIsTime();
  await requestBecomes(app, rear, {
    reason: expect.stringMatching(/under request R-rear shows truck TRUCK-9,.* TRUCK-7/),
  });
  // What the test before had under way may still be told.
  const findings = await app.dataSource.query<{ reason: string }[]>(
    'SELECT path, reason FROM vision_findings WHERE connection_id = (SELECT connection_id FROM video_requests WHERE id = $1)',
    [rear],
  );
  expect(findings).toEqual([
    { path: 'data.videos[].requestId', reason: expect.stringContaining('R-rear shows truck TRUCK-9') },
  ]);
  await eventually(() =>
    app.dataSource.query("UPDATE video_request_parts SET deadline_at = now() - interval '1 second'"),
  );
  const { reason } = await requestBecomes(app, rear, { status: 'expired' });
  expect(reason).toContain('TRUCK-9');
});

test('a truck that is only spelled otherwise is the one that was asked for', async () => {
  const { rear } = await twoOpen();
  clips = [clip({ requestId: 'R-rear', cameraId: 'rear', truckId: 'T-0007' })];
  await requestBecomes(app, rear, { status: 'stored' });
});
