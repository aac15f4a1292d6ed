import { expect } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { breaks, html, json, raw, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { accepts, element, type Element, lists, POST, VIDEOS } from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import { administer } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

/** Answers that got lost, or that are not the partner's: what was reported, and what the service makes of it. */
interface Case {
  readonly name: string;
  readonly replies: readonly ScriptedReply[];
}

const ok = (body: unknown, status = 200): ScriptedReply => json(body, { status });

const refusal = (status: number, error: object): ScriptedReply => json({ success: false, error }, { status });

/** The partner answers its POSTs so, and lists one clip with these fields; without them none. */
async function requested(replies: readonly ScriptedReply[], clip?: Element): Promise<[VisionScene, string]> {
  const vision = await VisionScene.create();
  vision.partner.on(POST, ...replies);
  const clips = clip === undefined ? [] : [element({ downloadUrl: vision.partner.link(sampleVideo(1_000)), ...clip })];
  vision.partner.on(
    VIDEOS,
    lists('videos', () => clips),
  );
  return [vision, await vision.order()];
}

const posts = ({ partner }: VisionScene): number => partner.askedOf(POST).length;

// Source: a maintenance page, a login page of a proxy, or the stub of an API gateway answered for the partner's service.
const LOST: readonly [string, ScriptedReply][] = [
  ['200 with an HTML page', html(200)],
  ['202 with an HTML page', html(202)],
  ['201 with an empty body', raw('', { status: 201 })],
  ['202 with an empty body, and a Location', raw('', { status: 202, headers: { Location: '/requests/7' } })],
  ['204', raw('', { status: 204 })],
  ['202 with a text', raw('ok', { status: 202 })],
  ['200 with {}', ok({})],
  ['200 with a list', ok([])],
  ['202 with success alone', ok({ success: true }, 202)],
  ['202 with a status alone', ok({ success: true, status: 'processing' }, 202)],
  ['202 with a blank id', ok({ success: true, requestId: ' ', status: 'processing' }, 202)],
  ['202 with null as id', ok({ success: true, requestId: null, status: 'processing' }, 202)],
  ['202 with an empty data', ok({ success: true, data: {} }, 202)],
  ['200 with the stub of a gateway', ok({ message: 'Service is in maintenance', status: 'ok' })],
  ['200 with half of its JSON', breaks('{"success":true,"requestId":"re', 20)],
  ['500 of the partner', refuses(500, 'INTERNAL_ERROR', 'oops')],
  ['502 of a gateway', html(502)],
  ['a connection that is closed', breaks('', 0)],
];

testAtOnce(
  'the POST is sent again after $name, which is no acknowledgement (section 2.5a answer success; section 4.4 500; decision 41)',
  LOST.map(([name, reply]) => ({ name, replies: [reply, accepts({ requestId: 'second' })] })),
  async ({ replies }) => {
    const [vision, id] = await requested(replies, { requestId: 'second' });
    await vision.becomes(id, { status: 'stored', partnerRequestId: 'second' });
    expect(posts(vision)).toBe(2);
    const keys = vision.partner.askedOf(POST).map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0]]);
  },
);

testAtOnce(
  'a POST is sent three times in all, then it ends with the reason: $name (decisions 41, 54)',
  [
    { name: '200 with an HTML page', replies: [html(200)], reason: 'HTML page' },
    { name: '503', replies: [refuses(503, 'INTERNAL_ERROR', 'busy')], reason: 'busy' },
    { name: 'a connection that is closed', replies: [breaks('', 0)], reason: '127.0.0.1' },
  ],
  async ({ replies, reason }) => {
    const [vision, id] = await requested(replies);
    expect((await vision.becomes(id, { status: 'failed' })).reason).toContain(reason);
    expect(posts(vision)).toBe(3);
  },
);

// Source: partners whose framework wraps every answer, numbers its ids, or leaves out what is always the same.
const ACKNOWLEDGED: readonly [string, ScriptedReply, string | undefined][] = [
  ['200', ok({ success: true, requestId: 'r-1', status: 'processing' }), 'r-1'],
  ['201', ok({ success: true, requestId: 'r-1', status: 'processing' }, 201), 'r-1'],
  ['under data', ok({ success: true, data: { requestId: 'r-1', status: 'processing' } }, 202), 'r-1'],
  ['an id that is a number', ok({ success: true, requestId: 4711, status: 'processing' }, 202), '4711'],
  ['an id alone', ok({ requestId: 'r-1' }, 202), 'r-1'],
  ['an unknown status', ok({ success: true, requestId: 'r-1', status: 'QUEUED' }, 202), 'r-1'],
  ['an id of 1.5, which counts as absent', ok({ success: true, requestId: 1.5, status: 'processing' }, 202), undefined],
  [
    'as text/plain, behind a byte order mark',
    raw('\uFEFF{"success":true,"requestId":"r-1","status":"processing"}', { status: 202 }),
    'r-1',
  ],
];

testAtOnce(
  'an acknowledgement is read as partners write it, and sent once: $name (section 2.5a answer requestId, answer status; decision 41)',
  ACKNOWLEDGED.map(([name, reply, requestId]) => ({ name, reply, requestId })),
  async ({ reply, requestId }) => {
    const [vision, id] = await requested([reply], requestId === undefined ? {} : { requestId });
    expect((await vision.becomes(id, { status: 'stored' })).partnerRequestId).toBe(requestId);
    expect(posts(vision)).toBe(1);
  },
);

// Source: the answer to the first POST was lost behind a load balancer; the second was refused, and the clip given up.
const DUPLICATES: readonly [string, ScriptedReply][] = [
  ['409', refusal(409, { code: 'CONFLICT', message: 'conflict' })],
  ['409 with an HTML page', html(409)],
  ['400 that says so', refusal(400, { code: 'INVALID_PAYLOAD', message: 'A request for this range already exists.' })],
  ['400 with a code that says so', refusal(400, { code: 'DUPLICATE_REQUEST', message: 'no' })],
  ['422 that says so', refusal(422, { code: 'VALIDATION_ERROR', message: 'Duplicate video request' })],
  ['400 without the common error body', ok({ message: 'request already submitted' }, 400)],
  ['400 with a text', raw('The request already exists.', { status: 400 })],
  ['200 with success: false', refusal(200, { code: 'INVALID_PAYLOAD', message: 'This clip was already requested.' })],
];

testAtOnce(
  'after a lost answer, $name means that the first POST was taken: the clip is found by its range (decision 41)',
  DUPLICATES.map(([name, reply]) => ({ name, replies: [breaks('', 0), reply] })),
  async ({ replies }) => {
    const [vision, id] = await requested(replies, { requestId: 'first' });
    await vision.becomes(id, { status: 'stored' });
    expect(posts(vision)).toBe(2);
  },
);

testAtOnce(
  'a refusal as a duplicate that names the id in $name is polled by it (decision 41)',
  [
    { name: 'details', more: { details: { requestId: 'first' } } },
    { name: 'the error', more: { requestId: 'first' } },
  ],
  async ({ more }) => {
    const replies = [html(200), refusal(400, { code: 'INVALID_PAYLOAD', message: 'no', ...more })];
    const [vision, id] = await requested(replies, { requestId: 'first' });
    await vision.becomes(id, { status: 'stored', partnerRequestId: 'first' });
    expect(posts(vision)).toBe(2);
  },
);

const FINAL: readonly Case[] = [
  { name: '400', replies: [refuses(400, 'INVALID_PAYLOAD', 'bad truck')] },
  { name: '404', replies: [refuses(404, 'NOT_FOUND', 'no such camera')] },
  { name: 'a redirect', replies: [raw('', { status: 302, headers: { Location: 'https://elsewhere.example' } })] },
  {
    name: 'a duplicate although no answer was lost',
    replies: [refusal(409, { code: 'CONFLICT', message: 'conflict' })],
  },
  { name: 'another 400', replies: [breaks('', 0), refuses(400, 'INVALID_PAYLOAD', 'The truck does not exist.')] },
  {
    name: '400 with the page of a firewall',
    replies: [breaks('', 0), raw('<html>You were blocked already.</html>', { status: 400 })],
  },
  {
    name: '404 after a lost answer',
    replies: [breaks('', 0), refuses(404, 'NOT_FOUND', 'No such camera exists.')],
  },
  {
    name: '403 of a gateway, with the id of the call',
    replies: [breaks('', 0), ok({ message: 'Forbidden', requestId: '7f3c9a52-6e0d' }, 403)],
  },
  {
    name: 'a duplicate after a refusal of the key alone',
    replies: [refuses(401, 'UNAUTHORIZED'), refusal(409, { code: 'C' })],
  },
];

testAtOnce(
  'a refusal is final where it is $name (section 4.4 400, 404; decisions 39, 41)',
  FINAL,
  async ({ replies }) => {
    // Without a clip, a request that counts as accepted stays open.
    const [vision, id] = await requested(replies);
    expect((await vision.becomes(id, { status: 'failed' })).reason).toContain('127.0.0.1');
    expect(posts(vision)).toBe(replies.length);
  },
);

testAtOnce(
  'a POST is repeated until it is accepted after $name (section 4.4 401; decision 41)',
  [
    { name: '401', reply: refuses(401, 'UNAUTHORIZED') },
    { name: '429', reply: refuses(429, 'INTERNAL_ERROR') },
  ],
  async ({ reply }) => {
    const [vision, id] = await requested([reply, reply, reply, reply, accepts()]);
    await vision.becomes(id, { status: 'processing' });
    expect(posts(vision)).toBe(5);
  },
);

testAtOnce(
  'a duplicate counts also when $name tries the request again after three lost answers (decisions 41, 54)',
  [{ name: 'an administrator' }],
  async () => {
    const [vision, id] = await requested([breaks('', 0)], {});
    await vision.becomes(id, { status: 'failed' });
    vision.partner.on(POST, refusal(409, { code: 'CONFLICT', message: 'conflict' }));
    await administer('POST', `/video-requests/${id}/retry`);
    await vision.becomes(id, { status: 'stored' });
    expect(posts(vision)).toBe(4);
  },
);
