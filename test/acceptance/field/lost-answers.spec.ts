import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { breaks, html, json, raw, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import type { ShownRequest } from '../../support/video-requests.js';
import { accepts, CONTINUOUS, element, type Element, inHours, POST, VIDEOS } from '../../support/scripted-vision.js';
import { pollsEnded, useVision } from '../../support/vision-scene.js';

/** Answers that got lost, or that are not the partner's: what was reported, and what the service makes of it. */
const vision = useVision();

/** A listed clip that can be fetched. */
const clip = (fields: Element = {}): Element => element({ downloadUrl: vision.partner.link(sampleVideo()), ...fields });

const posts = (): number => vision.partner.askedOf(POST).length;

const ok = (body: unknown, status = 200): ScriptedReply => json(body, { status });

describe('an answer of 2xx that is no acknowledgement is a lost answer: the POST is sent again', () => {
  // Source: a maintenance page, a login page of a proxy, or the stub of an API gateway answered for the partner's service.
  test.each<[string, ScriptedReply]>([
    ['200 with an HTML page', html(200)],
    ['202 with an HTML page', html(202)],
    ['201 with an empty body', raw('', { status: 201 })],
    ['202 with an empty body, and a Location', raw('', { status: 202, headers: { Location: '/requests/7' } })],
    ['204', raw('', { status: 204 })],
    ['202 with a text', raw('ok', { status: 202 })],
    ['200 with {}', ok({})],
    ['200 with null', ok(null)],
    ['200 with a list', ok([])],
    ['200 with a JSON string', ok('accepted')],
    ['202 with success alone', ok({ success: true }, 202)],
    ['202 with a status alone', ok({ success: true, status: 'processing' }, 202)],
    ['202 with a blank id', ok({ success: true, requestId: ' ', status: 'processing' }, 202)],
    ['202 with null as id', ok({ success: true, requestId: null, status: 'processing' }, 202)],
    ['202 with an empty data', ok({ success: true, data: {} }, 202)],
    ['200 with the stub of a gateway', ok({ message: 'Service is in maintenance', status: 'ok' })],
    ['200 with half of its JSON', breaks('{"success":true,"requestId":"re', 20)],
    ['502 of a gateway', html(502)],
    ['504 of a gateway', html(504)],
    ['a connection that is closed', breaks('', 0)],
  ])('%s', async (_, reply) => {
    vision.partner.on(POST, reply, accepts({ requestId: 'second' }));
    vision.listVideos(() => [clip({ requestId: 'second' })]);
    await vision.becomes(await vision.order(await vision.connect()), { status: 'stored', partnerRequestId: 'second' });
    expect(posts()).toBe(2);
  });

  test('three times in all, then it ends with the reason', async () => {
    vision.partner.on(POST, html(200));
    const shown = await vision.becomes(await vision.order(await vision.connect()), { status: 'failed' });
    expect(shown.reason).toContain('HTML page');
    expect(posts()).toBe(3);
  });
});

describe('an acknowledgement is read as partners write it, and sent once', () => {
  // Source: partners whose framework wraps every answer, numbers its ids, or leaves out what is always the same.
  test.each<[string, ScriptedReply, string | null]>([
    ['200', ok({ success: true, requestId: 'r-1', status: 'processing' }), 'r-1'],
    ['201', ok({ success: true, requestId: 'r-1', status: 'processing' }, 201), 'r-1'],
    ['under data', ok({ success: true, data: { requestId: 'r-1', status: 'processing' } }, 202), 'r-1'],
    ['an id that is a number', ok({ success: true, requestId: 4711, status: 'processing' }, 202), '4711'],
    ['an id alone', ok({ requestId: 'r-1' }, 202), 'r-1'],
    ['an unknown status', ok({ success: true, requestId: 'r-1', status: 'QUEUED' }, 202), 'r-1'],
    ['an id of 1.5, which is read as absent', ok({ success: true, requestId: 1.5, status: 'processing' }, 202), null],
    [
      'as text/plain, behind a byte order mark',
      raw('\uFEFF{"success":true,"requestId":"r-1","status":"processing"}', { status: 202 }),
      'r-1',
    ],
  ])('%s', async (_, reply, requestId) => {
    vision.partner.on(POST, reply);
    vision.listVideos(() => [clip(requestId === null ? {} : { requestId })]);
    const shown = await vision.becomes(await vision.order(await vision.connect()), { status: 'stored' });
    expect((shown as ShownRequest & { partnerRequestId: unknown }).partnerRequestId ?? null).toBe(requestId);
    expect(posts()).toBe(1);
  });
});

const refusal = (status: number, error: object): ScriptedReply => json({ success: false, error }, { status });

describe('a refusal as a duplicate after a lost answer', () => {
  // Source: the answer to the first POST was lost behind a load balancer; the second was refused, and the clip given up.
  test.each<[string, ScriptedReply]>([
    ['409', refusal(409, { code: 'CONFLICT', message: 'conflict' })],
    ['409 with an HTML page', html(409)],
    [
      '400 that says so',
      refusal(400, { code: 'INVALID_PAYLOAD', message: 'A request for this range already exists.' }),
    ],
    ['400 with a code that says so', refusal(400, { code: 'DUPLICATE_REQUEST', message: 'no' })],
    ['422 that says so', refusal(422, { code: 'VALIDATION_ERROR', message: 'Duplicate video request' })],
    ['400 without the common error body', ok({ message: 'request already submitted' }, 400)],
    ['400 with a text', raw('The request already exists.', { status: 400 })],
    ['200 with success: false', refusal(200, { code: 'INVALID_PAYLOAD', message: 'This clip was already requested.' })],
  ])('%s: the first one was taken, and the clip is found by its range', async (_, reply) => {
    vision.partner.on(POST, breaks('', 0), reply);
    vision.listVideos(() => [clip({ requestId: 'first' })]);
    await vision.becomes(await vision.order(await vision.connect()), { status: 'stored' });
    expect(posts()).toBe(2);
  });

  test.each<[string, object]>([
    ['details', { details: { requestId: 'first' } }],
    ['the error', { requestId: 'first' }],
  ])('that names the id in %s is polled by it', async (_, more) => {
    vision.partner.on(POST, html(200), refusal(400, { code: 'INVALID_PAYLOAD', message: 'no', ...more }));
    vision.listVideos(() => [clip({ requestId: 'first' })]);
    const id = await vision.order(await vision.connect());
    await vision.becomes(id, { status: 'stored', partnerRequestId: 'first' });
    expect(posts()).toBe(2);
  });

  test('counts also when an admin tries the request again after three lost answers', async () => {
    vision.partner.on(POST, breaks('', 0));
    vision.listVideos(() => []);
    const id = await vision.order(await vision.connect());
    await vision.becomes(id, { status: 'failed' });
    vision.partner.on(POST, refusal(409, { code: 'CONFLICT', message: 'conflict' }));
    expect((await vision.app.admin('POST', `/video-requests/${id}/retry`)).status).toBe(202);
    await vision.becomes(id, { status: 'processing' });
    await vision.endDeadline();
    await vision.becomes(id, { status: 'expired' });
    // The partner has taken it: it is polled again, and not sent again.
    vision.listVideos(() => [clip()]);
    expect((await vision.app.admin('POST', `/video-requests/${id}/retry`)).status).toBe(202);
    await vision.becomes(id, { status: 'stored' });
    expect(posts()).toBe(4);
  });

  test.each<[string, ScriptedReply[]]>([
    ['a duplicate although no answer was lost', [refusal(409, { code: 'CONFLICT', message: 'conflict' })]],
    ['another 400', [breaks('', 0), refuses(400, 'INVALID_PAYLOAD', 'The truck does not exist.')]],
    [
      '400 with the page of a firewall',
      [breaks('', 0), raw('<html>You were blocked already.</html>', { status: 400 })],
    ],
    ['404', [breaks('', 0), refuses(404, 'NOT_FOUND', 'No such camera exists.')]],
    [
      '403 of a gateway, with the id of the call',
      [breaks('', 0), ok({ message: 'Forbidden', requestId: '7f3c9a52-6e0d' }, 403)],
    ],
    [
      '404 with the id of the call',
      [breaks('', 0), refusal(404, { code: 'NOT_FOUND', message: 'No truck.', details: { requestId: 'call-1' } })],
    ],
    ['a duplicate after a refusal of the key alone', [refuses(401, 'UNAUTHORIZED'), refusal(409, { code: 'C' })]],
  ])('is final where it is %s', async (_, replies) => {
    vision.partner.on(POST, ...replies);
    // Without a clip, a request that counts as accepted stays open.
    vision.listVideos(() => []);
    await vision.becomes(await vision.order(await vision.connect()), { status: 'failed' });
    expect(posts()).toBe(replies.length);
  });
});

/** Seconds until the failed row of a table is due. */
async function dueIn(table: string): Promise<number> {
  const rows = await vision.query<{ seconds: number }>(
    `SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM ${table}
     WHERE last_error IS NOT NULL AND started_at IS NULL`,
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.seconds ?? 0;
}

const later = (status: number, retryAfter?: string): ScriptedReply =>
  refuses(status, 'INTERNAL_ERROR', 'later', retryAfter === undefined ? {} : { 'Retry-After': retryAfter });

const PAST = 'Sat, 31 Jan 2026 08:30:00 GMT';

test.each<[string, ScriptedReply]>([
  ['429 with Retry-After: 1', later(429, '1')],
  ['429 with a Retry-After in the past', later(429, PAST)],
  ['429 without Retry-After', later(429)],
  ['503 with Retry-After: 0', later(503, '0')],
])('a partner that answers %s is called no earlier than by the interval of the subscription', async (_, reply) => {
  vision.partner.on(CONTINUOUS, reply);
  const body = {
    connectionId: await vision.connect(),
    truckId: 'TRUCK-7',
    startTime: inHours(-1),
    intervalSeconds: 300,
  };
  expect((await vision.app.admin('POST', '/video-subscriptions', body)).status).toBe(201);
  await eventually(async () => expect(await dueIn('video_subscriptions')).toBeGreaterThan(250), 15_000);
  // The attempts of one run (decision 36).
  expect(vision.partner.askedOf(CONTINUOUS)).toHaveLength(3);
});

test('a partner that answers 429 to the poll of an old request is called no earlier than by its schedule', async () => {
  vision.partner.on(POST, accepts());
  vision.listVideos(() => []);
  const id = await vision.order(await vision.connect());
  await vision.becomes(id, { status: 'processing' });
  await vision.query("UPDATE video_request_parts SET submitted_at = now() - interval '2 hours'");
  await pollsEnded(vision);
  const before = vision.partner.askedOf(VIDEOS).length;
  vision.partner.on(VIDEOS, later(429, '1'));
  await eventually(async () => {
    if (vision.partner.askedOf(VIDEOS).length === before) await vision.hurry();
    expect(await dueIn('video_polls')).toBeGreaterThan(250);
  }, 15_000);
});
