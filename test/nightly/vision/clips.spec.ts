import { describe, expect, jest, test } from '@jest/globals';
import { issueConnectionKey } from '../../support/api-keys.js';
import { eventually } from '../../support/eventually.js';
import { addOpenClips, readPart, readPoll, whileLocked } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, refuses, type ScriptedReply, when } from '../../support/scripted-partner.js';
import { accepts, element, type Element, lists, POST, VIDEOS } from '../../support/scripted-vision.js';
import { ageIndividualPolls, setDeadlines, spreadPolls } from '../../support/time.js';
import { pollsEnded, useVision } from '../../support/vision-scene.js';

/**
 * When the partner is asked for requested clips, and how many calls that takes. Times are moved, and nothing runs by the clock.
 * What is sent and read, and what becomes of a request, is in `acceptance/vision`.
 */
const vision = useVision({ PARTNER_ANSWER_TIMEOUT: 4_000 }, { ticks: false });
const { becomes, order, read } = vision;

let clips: Element[] = [];
const listed = lists('videos', () => clips);

const clip = (fields: Element = {}): Element =>
  element({ requestId: 'R-front', downloadUrl: vision.partner.link(sampleVideo(200)), ...fields });

/** The ids by which the partner was polled since a call, `list` for the list of the customer. */
const polls = (from = 0) =>
  vision.partner
    .askedOf(VIDEOS)
    .slice(from)
    .map(({ query }) => query.get('requestId') ?? 'list');

/** Polls by the id of a request receive `reply`, and polls of the customer's list `list`. */
const byId =
  (reply: ScriptedReply, list = listed): ScriptedReply =>
  (response, asked) =>
    (asked.query.has('requestId') ? reply : list)(response, asked);

/** Polls by the id of a request receive its clips and this status. */
const withStatus = (status: string): ScriptedReply =>
  byId((response, asked) => {
    const request = { requestId: asked.query.get('requestId'), status };
    lists('videos', () => clips, { request })(response, asked);
  });

const named: ScriptedReply = (response, asked) => {
  const { cameraId } = JSON.parse(asked.body) as { cameraId: string };
  accepts({ requestId: `R-${cameraId}` })(response, asked);
};

/** Two open requests, R-rear and R-front. The partner lists no clip yet. */
async function twoOpen(): Promise<{ rear: string; front: string }> {
  clips = [];
  vision.partner.on(POST, named);
  vision.partner.on(VIDEOS, listed);
  const id = await vision.connect();
  const rear = await order(id, { cameraId: 'rear' });
  await becomes(rear, { status: 'processing' });
  const front = await order(id);
  await becomes(front, { status: 'processing' });
  await pollsEnded(vision);
  return { rear, front };
}

const individualPollsDue = () => eventually(() => ageIndividualPolls(vision.app, { 'R-rear': 14, 'R-front': 14 }));

/** Starts one round, and waits for its end. */
async function round(): Promise<void> {
  // A poll that is running would set the time of the next one at its end.
  await eventually(async () => expect(await readPoll(vision.app)).toMatchObject({ isRunning: false }));
  const before = polls().length;
  await vision.hurry();
  await eventually(() => expect(polls().length).toBeGreaterThan(before));
  await pollsEnded(vision);
}

describe('the time of a poll (decision 41)', () => {
  test('is 5 s after the 202, give or take a fifth', async () => {
    vision.partner.on(POST, accepts());
    await order(await vision.connect());
    await eventually(async () => expect((await readPart(vision.app)).status).toBe('processing'));
    expect(Math.abs((await readPart(vision.app)).fromSubmitToPoll - 5)).toBeLessThanOrEqual(1.001);
  });

  test('is the deadline of the request where that is earlier', async () => {
    vision.partner.on(POST, accepts());
    vision.partner.on(VIDEOS, listed);
    clips = [];
    await becomes(await order(await vision.connect()), { status: 'processing' });
    await pollsEnded(vision);
    await setDeadlines(vision.app, 2);
    await round();
    const { toDeadline } = await readPart(vision.app);
    expect((await readPoll(vision.app)).inSeconds).toBeCloseTo(toDeadline, 0);
  });

  test('is by the clock of the database, also if the clock of the service is behind', async () => {
    await twoOpen();
    const now = Date.now;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
    await vision.hurry();
    await eventually(() => expect(polls()).not.toHaveLength(0)).finally(() => clock.mockRestore());
  });
});

test('a poke while a clip is being polled is followed by another poll (decision 41)', async () => {
  await twoOpen();
  const { key } = await issueConnectionKey(vision.app, vision.connectionId);
  let release = (): void => undefined;
  vision.partner.on(VIDEOS, when(new Promise<void>((resolve) => (release = resolve)), listed));
  const before = polls().length;
  await vision.hurry();
  await eventually(() => expect(polls()).toHaveLength(before + 1));
  const poke = { headers: { 'API-KEY': key }, body: { requestId: 'R-rear' } };
  expect(await vision.app.call('POST', '/partner/v1/pokes', poke)).toMatchObject({ status: 202, body: { polls: 1 } });
  release();
  // Nothing runs by the clock here: no other poll starts by itself.
  await eventually(async () => {
    expect(await readPoll(vision.app)).toMatchObject({ error: null });
    expect(polls().length).toBeGreaterThan(before + 1);
  });
});

describe('many open requests of one customer (decision 41)', () => {
  test('are polled by one list: a thousand with 16 calls for a list of 1,510 clips', async () => {
    const connectionId = await vision.connect();
    await addOpenClips(vision.app, connectionId, 1_000);
    await spreadPolls(vision.app, 'r1');
    // More clips than requests; only the last ones belong to them.
    const others = Array.from({ length: 1_500 }, (_, n) =>
      element({ requestId: `another ${n}`, downloadUrl: 'https://x.example/a' }),
    );
    const ours = Array.from({ length: 10 }, (_, n) => clip({ requestId: `r${n + 1}` }));
    vision.listVideos(() => [...others, ...ours]);
    await round();
    expect(polls()).toEqual(Array.from({ length: 16 }, () => 'list'));
    await eventually(async () => {
      await vision.hurry();
      const path = `/video-requests?connectionId=${connectionId}&status=stored`;
      expect((await vision.app.admin<{ data: object[] }>('GET', path)).body.data).toHaveLength(10);
    });
  });

  test('are also polled by their own ids every 15 minutes, so that a failure is seen', async () => {
    const { rear, front } = await twoOpen();
    const request = { requestId: 'R-rear', status: 'failed', message: 'seen' };
    vision.partner.on(VIDEOS, (response, asked) =>
      lists('videos', () => [], asked.query.get('requestId') === 'R-rear' ? { request } : {})(response, asked),
    );
    await round();
    expect(await read(rear)).toMatchObject({ status: 'processing' });
    await individualPollsDue();
    expect((await becomes(rear, { status: 'failed' })).reason).toContain('seen');
    expect(await read(front)).toMatchObject({ status: 'processing' });
  });

  test.each([['a refused key', refuses(401, 'UNAUTHORIZED')]])(
    'get no further call of a round after %s; what was answered before counts',
    async (_, reply) => {
      const { rear, front } = await twoOpen();
      clips = [clip(), clip({ requestId: 'R-rear', cameraId: 'rear' })];
      const from = polls().length;
      vision.partner.on(VIDEOS, (response, asked) => (polls(from).length > 1 ? reply : listed)(response, asked));
      await individualPollsDue();
      await round();
      expect(polls(from)).toHaveLength(2);
      const states = await Promise.all([rear, front].map(async (id) => (await read(id)).status === 'processing'));
      expect(states.sort()).toEqual([false, true]);
    },
  );
});

const half = { endTime: '2026-01-31T08:32:00Z' };
const otherHalf = { startTime: half.endTime };
const nothing = json({ success: true, data: { videos: [] } });

describe('a list that has a part of the requested range', () => {
  test.each<[string, () => ScriptedReply]>([
    ['an empty list', () => byId(nothing)],
    ['the status processing', () => withStatus('processing')],
  ])('is fetched, and the rest is waited for, where the poll by the id is answered with %s', async (_, reply) => {
    const { front } = await twoOpen();
    vision.partner.on(VIDEOS, reply());
    clips = [clip(half)];
    await round();
    await becomes(front, { status: 'processing', recordingIds: [expect.any(String)] });
    clips.push(clip(otherHalf));
    expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(2);
  });

  test('is followed by at most ten polls by ids', async () => {
    clips = [];
    vision.partner.on(POST, (response, asked) => {
      const { startTime } = JSON.parse(asked.body) as { startTime: string };
      accepts({ requestId: startTime })(response, asked);
    });
    vision.partner.on(VIDEOS, withStatus('processing'));
    const hour = (n: number, minute = 0) =>
      new Date(Date.UTC(2026, 0, 31, n, minute)).toISOString().replace('.000Z', 'Z');
    const id = await order(await vision.connect(), { startTime: hour(0), endTime: hour(15) });
    await becomes(id, { status: 'processing' });
    await eventually(() => expect(vision.partner.askedOf(POST)).toHaveLength(15));
    await eventually(async () =>
      expect((await read(id)).parts.map(({ status }) => status)).not.toContain('submitting'),
    );
    await pollsEnded(vision);
    clips = Array.from({ length: 15 }, (_, n) =>
      clip({ requestId: hour(n), startTime: hour(n), endTime: hour(n, 10) }),
    );
    const from = polls().length;
    await round();
    expect(polls(from)).toHaveLength(11);
    await eventually(async () => expect((await read(id)).recordingIds).toHaveLength(15));
  });
});

describe('clips of one request', () => {
  test('of cameras by number are assigned once the partner has answered a request for the placement with the number', async () => {
    const { front } = await twoOpen();
    clips = [clip({ cameraId: '1' })];
    await becomes(front, { status: 'stored' });
    const later = { startTime: '2026-01-31T09:30:00Z', endTime: '2026-01-31T09:35:00Z' };
    const again = await order(vision.connectionId, later);
    await becomes(again, { status: 'processing' });
    clips = [clip({ ...later, requestId: undefined, cameraId: '1' }), clip({ requestId: undefined, cameraId: '2' })];
    expect((await becomes(again, { status: 'stored' })).recordingIds).toHaveLength(1);
  });
});

describe('an acknowledgement', () => {
  test('does not deadlock with the poll of another request', async () => {
    vision.partner.on(POST, accepts());
    vision.partner.on(VIDEOS, nothing);
    const connectionId = await vision.connect();
    await becomes(await order(connectionId), { status: 'processing' });
    const second = await whileLocked(vision.app, 'polls', async (lockParts) => {
      const id = await order(connectionId);
      await eventually(() => expect(vision.partner.askedOf(POST)).toHaveLength(2));
      await lockParts();
      return id;
    });
    await becomes(second, { status: 'processing' });
  });

  test('counts although its findings cannot be stored at that moment', async () => {
    vision.partner.on(POST, accepts({ status: 'QUEUED' }));
    const connectionId = await vision.connect();
    await whileLocked(vision.app, 'findings', async () => {
      const id = await order(connectionId);
      await eventually(async () => expect(await read(id)).toMatchObject({ status: 'processing' }));
    });
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
  });
});
