import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { json, raw, refuses, type ScriptedReply } from '../support/scripted-partner.js';
import { orderVideo, RANGE, readRequest, requestBecomes } from '../support/video-requests.js';
import {
  accepts,
  connectVision,
  element,
  type Element,
  hurry,
  lists,
  POST,
  startAnew,
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

const listed = lists('videos', () => clips);

/** Each request's id is its camera and its start. */
const names: ScriptedReply = (response, asked) => {
  const { cameraId, startTime } = JSON.parse(asked.body) as { cameraId: string; startTime: string };
  accepts({ requestId: `${cameraId} ${startTime}` })(response, asked);
};

const FRONT = `front ${RANGE.startTime}`;

const clip = (fields: Element = {}): Element =>
  element({ requestId: FRONT, downloadUrl: partner.link(sampleVideo(200)), ...fields });

/** What is asked by its own id is answered so; the customer's list as the contract says. */
const alone =
  (reply: ScriptedReply, list = listed): ScriptedReply =>
  (response, asked) =>
    (asked.query.has('requestId') ? reply : list)(response, asked);

/** With the state that the partner tells of each. */
const saying = (status: string): ScriptedReply =>
  alone((response, asked) => {
    const request = { requestId: asked.query.get('requestId'), status };
    lists('videos', () => clips, { request })(response, asked);
  });

/** The front camera's request and the rear one's, both with the partner, of whom nothing is listed yet. */
async function twoOpen(taken = names): Promise<string> {
  clips = [];
  partner.on(POST, taken);
  partner.on(VIDEOS, listed);
  const { id } = await connectVision(app, partner.url);
  const front = await orderVideo(app, id);
  await requestBecomes(app, front, { status: 'processing' });
  await requestBecomes(app, await orderVideo(app, id, { cameraId: 'rear' }), { status: 'processing' });
  await idle();
  return front;
}

const idle = () =>
  eventually(async () => {
    const polls = await app.dataSource.query<unknown[]>(
      'SELECT lease_token IS NULL AND due_at > now() AS idle FROM video_polls',
    );
    expect(polls).toEqual([{ idle: true }]);
  });

const questions = () => partner.askedOf(VIDEOS).map(({ query }) => query.get('requestId') ?? 'list');

/** By the list, and whole: the list is asked for once more. */
async function rounds(count: number): Promise<void> {
  const before = questions().filter((question) => question === 'list').length;
  await eventually(async () => {
    await hurry(app);
    expect(questions().filter((question) => question === 'list').length).toBeGreaterThan(before + count);
  });
}

const half = { endTime: '2026-01-31T08:32:00Z' };
const otherHalf = { startTime: half.endTime };

describe('clips in the list of a customer with several open requests', () => {
  test('are not all as long as they show a part of the range and the partner prepares others', async () => {
    const front = await twoOpen();
    partner.on(VIDEOS, saying('processing'));
    clips = [clip(half)];
    await rounds(2);
    expect(await readRequest(app, front)).toMatchObject({ status: 'processing', recordingIds: [expect.any(String)] });
    partner.on(VIDEOS, saying('ready'));
    clips.push(clip(otherHalf));
    await eventually(() =>
      app.dataSource.query("UPDATE video_request_parts SET polled_individually_at = now() - interval '15 minutes'"),
    );
    expect((await requestBecomes(app, front, { status: 'stored' })).recordingIds).toHaveLength(2);
  });

  test.each<[string, () => ScriptedReply]>([
    ['says that it is ready', () => saying('ready')],
    ['says nothing of it', () => listed],
  ])('are all of what was recorded where the partner, asked at once, %s', async (_, reply) => {
    const front = await twoOpen();
    partner.on(VIDEOS, reply());
    clips = [clip({ startTime: '2026-01-31T08:32:00Z', endTime: '2026-01-31T08:33:00Z' })];
    const from = questions().length;
    expect((await requestBecomes(app, front, { status: 'stored' })).recordingIds).toHaveLength(1);
    expect(
      questions()
        .slice(from)
        .filter((question) => question === FRONT),
    ).toEqual([FRONT]);
  });

  test.each<[string, ScriptedReply]>([
    ['by an empty list', json({ success: true, data: { videos: [] } })],
    ['with 404', refuses(404, 'NOT_FOUND', 'no such truck')],
    ['with 500', refuses(500, 'INTERNAL_ERROR', 'oops')],
  ])('are fetched though the question by its own id is answered %s', async (_, reply) => {
    const front = await twoOpen();
    partner.on(VIDEOS, alone(reply));
    clips = [clip(half)];
    await rounds(4);
    await requestBecomes(app, front, { status: 'processing', recordingIds: [expect.any(String)] });
  });

  test.each<[string, () => ScriptedReply]>([
    ['says that it is ready', () => saying('ready')],
    ['says nothing of it', () => listed],
    ['answers with an empty list', () => alone(json({ success: true, data: { videos: [] } }))],
  ])('are all once they show the range, though some had come before, where the partner %s', async (_, reply) => {
    const front = await twoOpen();
    partner.on(VIDEOS, alone(json({ success: true, data: { videos: [] } })));
    clips = [clip(half)];
    await rounds(1);
    await requestBecomes(app, front, { status: 'processing', recordingIds: [expect.any(String)] });
    partner.on(VIDEOS, reply());
    clips.push(clip(otherHalf));
    const whole = await eventually(async () => {
      await hurry(app);
      const shown = await readRequest(app, front);
      expect(shown.status).toBe('stored');
      return shown;
    });
    expect(whole.recordingIds).toHaveLength(2);
  });

  test('are asked about at once in the round after a failed one too', async () => {
    const front = await twoOpen();
    partner.on(VIDEOS, refuses(500, 'INTERNAL_ERROR', 'oops'));
    const from = questions().length;
    await eventually(async () => {
      await hurry(app);
      expect(questions().length).toBeGreaterThan(from);
    });
    await idle();
    partner.on(VIDEOS, saying('ready'));
    clips = [clip(half)];
    await rounds(0);
    expect((await requestBecomes(app, front, { status: 'stored' })).recordingIds).toHaveLength(1);
  });

  test('are fetched where the question by its own id shows fewer', async () => {
    const front = await twoOpen();
    const request = { requestId: FRONT, status: 'ready' };
    partner.on(VIDEOS, alone(lists('videos', () => clips.slice(0, 1), { request })));
    const later = clip({ startTime: '2026-01-31T08:33:00Z', endTime: '2026-01-31T08:34:00Z' });
    clips = [clip(half), later];
    await rounds(0);
    expect((await requestBecomes(app, front, { status: 'stored' })).recordingIds).toHaveLength(2);
  });

  test('are asked for by no own id where they show the range', async () => {
    const front = await twoOpen();
    clips = [
      clip({ startTime: '2026-01-31T08:30:06Z', ...half }),
      clip({ ...otherHalf, endTime: '2026-01-31T08:34:54Z' }),
    ];
    const from = questions().length;
    expect((await requestBecomes(app, front, { status: 'stored' })).recordingIds).toHaveLength(2);
    expect(questions().slice(from)).not.toContain(FRONT);
  });
});

test('of many parts of which some clips are listed no more are asked about than a round of 11 calls allows', async () => {
  clips = [];
  partner.on(POST, names);
  partner.on(VIDEOS, saying('processing'));
  const { id: connectionId } = await connectVision(app, partner.url);
  const id = await orderVideo(app, connectionId, {
    startTime: '2026-01-31T00:00:00Z',
    endTime: '2026-01-31T15:00:00Z',
  });
  await eventually(() => expect(partner.askedOf(POST)).toHaveLength(15));
  await requestBecomes(app, id, { status: 'processing' });
  await idle();
  clips = Array.from({ length: 15 }, (_, hour) => {
    const at = (minutes: number) => new Date(Date.UTC(2026, 0, 31, hour, minutes)).toISOString();
    const requestId = `front 2026-01-31T${String(hour).padStart(2, '0')}:00:00Z`;
    return clip({ requestId, startTime: at(0), endTime: at(10), durationSeconds: 600 });
  });
  const from = questions().length;
  await hurry(app);
  await eventually(() => expect(questions().slice(from)).toContain('list'));
  await idle();
  expect(questions().slice(from)).toHaveLength(11);
  // What is listed is fetched all the same.
  await eventually(async () => expect((await readRequest(app, id)).recordingIds).toHaveLength(15));
});

test('the clips of a part that stand on two pages of the list are all fetched', async () => {
  clips = [];
  partner.on(POST, names);
  partner.on(VIDEOS, listed);
  const twoHours = { startTime: '2026-01-31T08:00:00Z', endTime: '2026-01-31T10:00:00Z' };
  const id = await orderVideo(app, (await connectVision(app, partner.url)).id, twoHours);
  await requestBecomes(app, id, { status: 'processing' });
  await idle();
  const at = (minutes: number) => new Date(Date.parse(twoHours.startTime) + minutes * 60_000).toISOString();
  clips = Array.from({ length: 120 }, (_, n) =>
    clip({
      requestId: `front 2026-01-31T${n < 60 ? '08' : '09'}:00:00Z`,
      startTime: at(n),
      endTime: at(n + 1),
      durationSeconds: 60,
    }),
  );
  const shown = await requestBecomes(app, id, { status: 'stored' });
  expect(shown.recordingIds).toHaveLength(120);
});

describe('the list of a partner that has its own length of pages and tells no totals', () => {
  /** 20 a page, whatever is asked for. */
  const inTwenties: ScriptedReply = (response, asked) => {
    const page = Number(asked.query.get('page') ?? 1);
    json({ success: true, data: { videos: clips.slice((page - 1) * 20, page * 20) } })(response, asked);
  };
  const others = (count: number) =>
    Array.from({ length: count }, () => element({ requestId: 'another', downloadUrl: 'https://x.example/a' }));

  test.each<[string, ScriptedReply, string | undefined]>([
    ['of a request', names, FRONT],
    ['of one whose 202 told no id', raw('ok', { status: 202 }), undefined],
  ])('is read on for the clip %s', async (_, taken, requestId) => {
    const front = await twoOpen(taken);
    partner.on(VIDEOS, alone(refuses(500, 'INTERNAL_ERROR', 'oops'), inTwenties));
    clips = [...others(25), clip({ requestId })];
    await requestBecomes(app, front, { status: 'stored' });
  });

  test('is asked for one page more than it has, and not again', async () => {
    await twoOpen();
    partner.on(VIDEOS, inTwenties);
    clips = others(5);
    const from = partner.askedOf(VIDEOS).length;
    await hurry(app);
    await idle();
    const pages = partner
      .askedOf(VIDEOS)
      .slice(from)
      .map(({ query }) => query.get('page'));
    expect(pages).toEqual(['1', '2']);
  });

  test('is read once where each page is the same one', async () => {
    await twoOpen();
    partner.on(VIDEOS, (response, asked) => json({ success: true, data: { videos: clips } })(response, asked));
    clips = others(5);
    await app.dataSource.query('UPDATE video_polls SET next_page = 3');
    const from = partner.askedOf(VIDEOS).length;
    await hurry(app);
    await idle();
    const pages = partner
      .askedOf(VIDEOS)
      .slice(from)
      .map(({ query }) => query.get('page'));
    expect(pages).toEqual(['3', '4']);
  });
});
