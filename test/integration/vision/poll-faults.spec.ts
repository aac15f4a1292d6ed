import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { accepts, element, lists, POST, VIDEOS, type Element } from '../../support/scripted-vision.js';
import { pollsEnded, useVision } from '../../support/vision-scene.js';

const vision = useVision();
const { becomes, order, read } = vision;

let clips: Element[];

const clip = (fields: Element): Element => element({ downloadUrl: vision.partner.link(sampleVideo()), ...fields });
const listed = lists('videos', () => clips);
const others = (count: number): Element[] =>
  Array.from({ length: count }, () => element({ requestId: 'another', downloadUrl: 'https://x.example/a' }));

/** Submits request R-rear for the rear camera and R-front for the front camera. The partner lists no clip yet. */
async function twoOpen(): Promise<{ rear: string; front: string }> {
  clips = [];
  vision.partner.on(POST, accepts({ requestId: 'R-rear' }), accepts({ requestId: 'R-front' }));
  vision.partner.on(VIDEOS, listed);
  const id = await vision.connect();
  const rear = await order(id, { cameraId: 'rear' });
  await becomes(rear, { status: 'processing' });
  const front = await order(id);
  await becomes(front, { status: 'processing' });
  await pollsEnded(vision);
  return { rear, front };
}

/** Repeated because PostgreSQL may end this statement if a poll locks the same rows. */
const makeIndividualPollsDue = () =>
  eventually(() =>
    vision.query("UPDATE video_request_parts SET polled_individually_at = now() - interval '14 minutes', polls = 5"),
  );

const partOf = async (requestId: string) => {
  const [part] = await vision.query<{ status: string }>(
    `SELECT status, reason, polls, polled_individually_at > now() - interval '1 minute' AS just_polled
     FROM video_request_parts WHERE partner_request_id = $1`,
    [requestId],
  );
  return part;
};

/** The poll by the id of the rear camera's request receives `reply`, other polls the list. */
const rearById =
  (reply: ScriptedReply): ScriptedReply =>
  (response, asked) =>
    (asked.query.get('requestId') === 'R-rear' ? reply : listed)(response, asked);

const pagesFrom =
  (first: number, reply: ScriptedReply): ScriptedReply =>
  (response, asked) =>
    (Number(asked.query.get('page') ?? 1) >= first ? reply : listed)(response, asked);

test.each<[string, ScriptedReply, string]>([
  ['500', refuses(500, 'INTERNAL_ERROR', 'oops'), 'status 500'],
  ['400', refuses(400, 'INVALID_PAYLOAD', 'invalid truck'), 'status 400'],
  ['a response that breaks the contract', json({ success: false }), 'does not conform to the contract'],
  ['an error and 200', json({ success: false, error: { code: 'X', message: 'oops' } }), 'it says X: oops'],
])(
  'a request whose own poll is answered with %s stays open, and does not delay another one',
  async (_, reply, reason) => {
    const { rear, front } = await twoOpen();
    vision.partner.on(VIDEOS, rearById(reply));
    clips = [clip({ requestId: 'R-front' })];
    await makeIndividualPollsDue();
    await becomes(front, { status: 'stored' });
    expect(await partOf('R-rear')).toMatchObject({ status: 'processing', just_polled: true });
    expect(await read(rear)).toMatchObject({ status: 'processing', reason: expect.stringContaining(reason) });
  },
);

test('a Retry-After is respected, also if another request is submitted meanwhile', async () => {
  clips = [];
  vision.partner.on(POST, accepts());
  vision.partner.on(VIDEOS, refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '600' }));
  const id = await vision.connect();
  await order(id);
  const minutesLeft = async () => {
    const [poll] = await vision.query<{ minutes: number }>(
      'SELECT extract(epoch FROM due_at - now())::float8 / 60 AS minutes FROM video_polls WHERE last_error IS NOT NULL',
    );
    return poll?.minutes ?? 0;
  };
  await eventually(async () => {
    if (vision.partner.askedOf(VIDEOS).length === 0) await vision.hurry();
    expect(await minutesLeft()).toBeGreaterThan(9);
  });
  const other = await order(id, { cameraId: 'rear' });
  await eventually(async () => expect(await read(other)).toMatchObject({ status: 'processing' }));
  expect(await minutesLeft()).toBeGreaterThan(9);
});

test('the error of a request is shown until its next response, and at its end', async () => {
  const { rear, front } = await twoOpen();
  vision.partner.on(VIDEOS, rearById(refuses(400, 'INVALID_PAYLOAD', 'invalid truck')));
  await makeIndividualPollsDue();
  await becomes(rear, { status: 'processing', reason: expect.stringContaining('invalid truck') });
  vision.partner.on(VIDEOS, listed);
  await makeIndividualPollsDue();
  await eventually(async () => {
    await vision.hurry();
    expect(await read(rear)).not.toHaveProperty('reason');
  });
  vision.partner.on(VIDEOS, rearById(refuses(400, 'INVALID_PAYLOAD', 'invalid camera')));
  await makeIndividualPollsDue();
  await becomes(rear, { reason: expect.stringContaining('invalid camera') });
  await vision.endDeadline();
  const { reason } = await becomes(rear, { status: 'expired' });
  expect(reason).toContain('deadline');
  expect(reason).toContain('invalid camera');
  expect((await becomes(front, { status: 'expired' })).reason).not.toContain('invalid');
});

test('a Retry-After ends the poll; the responses before it count', async () => {
  const { rear, front } = await twoOpen();
  clips = [clip({ requestId: 'R-front' }), clip({ requestId: 'R-rear', cameraId: 'rear' })];
  const later = refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '3600' });
  const first = vision.partner.askedOf(VIDEOS).length + 1;
  vision.partner.on(VIDEOS, (response, asked) =>
    (vision.partner.askedOf(VIDEOS).length > first ? later : listed)(response, asked),
  );
  await makeIndividualPollsDue();
  await vision.hurry();
  await eventually(async () => {
    const states = [await read(rear), await read(front)].map(({ status }) => status);
    expect(states.sort()).toEqual(['processing', 'stored']);
  });
  await eventually(async () => {
    const polls = await vision.query<unknown>(
      `SELECT due_at - now() BETWEEN interval '59 minutes' AND interval '1 hour' AS waits,
         last_error LIKE '%429%' AS failed FROM video_polls`,
    );
    expect(polls).toEqual([{ waits: true, failed: true }]);
  });
  // Its own poll was not answered, and is repeated after the Retry-After.
  const open = [await partOf('R-rear'), await partOf('R-front')].filter((part) => part?.status === 'processing');
  expect(open).toMatchObject([{ just_polled: false, polls: 5 }]);
});

test.each([
  ['a refused key', refuses(401, 'UNAUTHORIZED')],
  ['a Retry-After with an error', refuses(500, 'INTERNAL_ERROR', 'oops', { 'Retry-After': '600' })],
])('%s ends the individual polls', async (_, reply) => {
  await twoOpen();
  const before = vision.partner.askedOf(VIDEOS).length;
  vision.partner.on(VIDEOS, (response, asked) => (asked.query.has('requestId') ? reply : listed)(response, asked));
  await makeIndividualPollsDue();
  await vision.hurry();
  await eventually(async () => {
    const polls = await vision.query<unknown>('SELECT last_error IS NOT NULL AS failed FROM video_polls');
    expect(polls).toEqual([{ failed: true }]);
  });
  const asked = vision.partner.askedOf(VIDEOS).slice(before);
  expect(asked.map(({ query }) => query.has('requestId'))).toEqual([true]);
});

test.each<[string, ScriptedReply]>([
  ['404', refuses(404, 'NOT_FOUND', 'no such page')],
  ['500', refuses(500, 'INTERNAL_ERROR', 'oops')],
])('the first pages count although a later one is answered with %s', async (_, reply) => {
  const { rear, front } = await twoOpen();
  clips = [clip({ requestId: 'R-front' }), ...others(150)];
  vision.partner.on(VIDEOS, pagesFrom(2, reply));
  await becomes(front, { status: 'stored' });
  expect(await read(rear)).toMatchObject({ status: 'processing' });
});

test('due individual polls are made although the list fails', async () => {
  const { front } = await twoOpen();
  clips = [clip({ requestId: 'R-front' })];
  const broken = json({ success: false });
  vision.partner.on(VIDEOS, (response, asked) => (asked.query.has('requestId') ? listed : broken)(response, asked));
  await makeIndividualPollsDue();
  await becomes(front, { status: 'stored' });
});

test('a clip of another truck under the id of a request is shown with the request, and as a finding', async () => {
  const { rear } = await twoOpen();
  clips = [clip({ requestId: 'R-rear', cameraId: 'rear', truckId: 'TRUCK-9' })];
  await makeIndividualPollsDue();
  await becomes(rear, {
    reason: expect.stringMatching(/under request R-rear shows truck TRUCK-9,.* TRUCK-7/),
  });
  // Work of the test before may still store findings.
  const findings = await vision.query<{ reason: string }>(
    'SELECT path, reason FROM vision_findings WHERE connection_id = (SELECT connection_id FROM video_requests WHERE id = $1)',
    [rear],
  );
  expect(findings).toEqual([
    { path: 'data.videos[].requestId', reason: expect.stringContaining('R-rear shows truck TRUCK-9') },
  ]);
  await vision.endDeadline();
  const { reason } = await becomes(rear, { status: 'expired' });
  expect(reason).toContain('TRUCK-9');
});

test('another spelling of the requested truck is accepted', async () => {
  const { rear } = await twoOpen();
  clips = [clip({ requestId: 'R-rear', cameraId: 'rear', truckId: 'T-0007' })];
  await becomes(rear, { status: 'stored' });
});
