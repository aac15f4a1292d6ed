import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { RANGE } from '../../support/video-requests.js';
import { accepts, element, type Element, lists, POST, VIDEOS } from '../../support/scripted-vision.js';
import { pollsEnded, useVision } from '../../support/vision-scene.js';

const vision = useVision();
const { becomes, order, read } = vision;

let clips: Element[];

const listed = lists('videos', () => clips);

/** Each request's id is its camera and its start. */
const names: ScriptedReply = (response, asked) => {
  const { cameraId, startTime } = JSON.parse(asked.body) as { cameraId: string; startTime: string };
  accepts({ requestId: `${cameraId} ${startTime}` })(response, asked);
};

const FRONT = `front ${RANGE.startTime}`;

const clip = (fields: Element = {}): Element =>
  element({ requestId: FRONT, downloadUrl: vision.partner.link(sampleVideo(200)), ...fields });

/** Polls by the id of a request receive `reply`, and polls of the customer's list follow the contract. */
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

/** Submits a request for the front camera and one for the rear camera. The partner lists no clip yet. */
async function twoOpen(accepted = names): Promise<string> {
  clips = [];
  vision.partner.on(POST, accepted);
  vision.partner.on(VIDEOS, listed);
  const id = await vision.connect();
  const front = await order(id);
  await becomes(front, { status: 'processing' });
  await becomes(await order(id, { cameraId: 'rear' }), { status: 'processing' });
  await pollsEnded(vision);
  return front;
}

const polls = () => vision.partner.askedOf(VIDEOS).map(({ query }) => query.get('requestId') ?? 'list');

const pagesAsked = () => vision.partner.askedOf(VIDEOS).map(({ query }) => Number(query.get('page')));

/** Waits for that many complete polls of the list: another one has started. */
async function rounds(count: number): Promise<void> {
  const before = polls().filter((poll) => poll === 'list').length;
  await eventually(async () => {
    await vision.hurry();
    expect(polls().filter((poll) => poll === 'list').length).toBeGreaterThan(before + count);
  });
}

const half = { endTime: '2026-01-31T08:32:00Z' };
const otherHalf = { startTime: half.endTime };

describe('with several open requests of a customer, clips in the list', () => {
  test('are fetched; the request stays open while they cover a part of its range and the partner prepares others', async () => {
    const front = await twoOpen();
    vision.partner.on(VIDEOS, withStatus('processing'));
    clips = [clip(half)];
    await rounds(2);
    expect(await read(front)).toMatchObject({ status: 'processing', recordingIds: [expect.any(String)] });
    vision.partner.on(VIDEOS, withStatus('ready'));
    clips.push(clip(otherHalf));
    await eventually(() =>
      vision.query("UPDATE video_request_parts SET polled_individually_at = now() - interval '15 minutes'"),
    );
    expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(2);
  });

  test.each<[string, () => ScriptedReply]>([
    ['sends the status ready', () => withStatus('ready')],
    ['sends no status', () => listed],
  ])('complete the request if the partner, polled by its id at once, %s', async (_, reply) => {
    const front = await twoOpen();
    vision.partner.on(VIDEOS, reply());
    clips = [clip({ startTime: '2026-01-31T08:32:00Z', endTime: '2026-01-31T08:33:00Z' })];
    const from = polls().length;
    expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(1);
    expect(
      polls()
        .slice(from)
        .filter((poll) => poll === FRONT),
    ).toEqual([FRONT]);
  });

  test.each<[string, ScriptedReply]>([
    ['by an empty list', json({ success: true, data: { videos: [] } })],
    ['with 404', refuses(404, 'NOT_FOUND', 'no such truck')],
    ['with 500', refuses(500, 'INTERNAL_ERROR', 'oops')],
  ])('are fetched although the poll by its id is answered %s', async (_, reply) => {
    const front = await twoOpen();
    vision.partner.on(VIDEOS, byId(reply));
    clips = [clip(half)];
    await rounds(4);
    await becomes(front, { status: 'processing', recordingIds: [expect.any(String)] });
  });

  test.each<[string, () => ScriptedReply]>([
    ['sends the status ready', () => withStatus('ready')],
    ['sends no status', () => listed],
    ['sends an empty list', () => byId(json({ success: true, data: { videos: [] } }))],
  ])('complete the request once they cover its range, if the partner %s', async (_, reply) => {
    const front = await twoOpen();
    vision.partner.on(VIDEOS, byId(json({ success: true, data: { videos: [] } })));
    clips = [clip(half)];
    await rounds(1);
    await becomes(front, { status: 'processing', recordingIds: [expect.any(String)] });
    vision.partner.on(VIDEOS, reply());
    clips.push(clip(otherHalf));
    const whole = await eventually(async () => {
      await vision.hurry();
      const shown = await read(front);
      expect(shown.status).toBe('stored');
      return shown;
    });
    expect(whole.recordingIds).toHaveLength(2);
  });

  test('are followed by a poll by id at once, also after a failed poll', async () => {
    const front = await twoOpen();
    vision.partner.on(VIDEOS, refuses(500, 'INTERNAL_ERROR', 'oops'));
    const from = polls().length;
    await eventually(async () => {
      await vision.hurry();
      expect(polls().length).toBeGreaterThan(from);
    });
    await pollsEnded(vision);
    vision.partner.on(VIDEOS, withStatus('ready'));
    clips = [clip(half)];
    await rounds(0);
    expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(1);
  });

  test('are fetched if the poll by id lists fewer', async () => {
    const front = await twoOpen();
    const request = { requestId: FRONT, status: 'ready' };
    vision.partner.on(VIDEOS, byId(lists('videos', () => clips.slice(0, 1), { request })));
    const later = clip({ startTime: '2026-01-31T08:33:00Z', endTime: '2026-01-31T08:34:00Z' });
    clips = [clip(half), later];
    await rounds(0);
    expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(2);
  });

  test('need no poll by id if they cover the range', async () => {
    const front = await twoOpen();
    clips = [
      clip({ startTime: '2026-01-31T08:30:06Z', ...half }),
      clip({ ...otherHalf, endTime: '2026-01-31T08:34:54Z' }),
    ];
    const from = polls().length;
    expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(2);
    expect(polls().slice(from)).not.toContain(FRONT);
  });
});

test('a clip without an id that shows more than was requested is stored with the request', async () => {
  const front = await twoOpen();
  const range = { startTime: '2026-01-31T08:00:00Z', endTime: '2026-01-31T09:00:00Z' };
  clips = [
    clip({ requestId: undefined, ...range, truckId: 'TRUCK-9' }),
    clip({ requestId: undefined, ...range, startTime: RANGE.endTime }),
  ];
  await rounds(2);
  expect(await read(front)).toMatchObject({ status: 'processing', recordingIds: [] });
  clips.push(clip({ requestId: undefined, ...range }));
  expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(1);
});

test('a poll of many parts with some clips makes at most 11 calls', async () => {
  clips = [];
  vision.partner.on(POST, names);
  vision.partner.on(VIDEOS, withStatus('processing'));
  const connectionId = await vision.connect();
  const id = await order(connectionId, {
    startTime: '2026-01-31T00:00:00Z',
    endTime: '2026-01-31T15:00:00Z',
  });
  await eventually(() => expect(vision.partner.askedOf(POST)).toHaveLength(15));
  await becomes(id, { status: 'processing' });
  await pollsEnded(vision);
  clips = Array.from({ length: 15 }, (_, hour) => {
    const at = (minutes: number) => new Date(Date.UTC(2026, 0, 31, hour, minutes)).toISOString();
    const requestId = `front 2026-01-31T${String(hour).padStart(2, '0')}:00:00Z`;
    return clip({ requestId, startTime: at(0), endTime: at(10), durationSeconds: 600 });
  });
  const from = polls().length;
  await vision.hurry();
  await eventually(() => expect(polls().slice(from)).toContain('list'));
  await pollsEnded(vision);
  expect(polls().slice(from)).toHaveLength(11);
  // The listed clips are fetched.
  await eventually(async () => expect((await read(id)).recordingIds).toHaveLength(15));
});

test('the clips of a part on two pages of the list are all fetched', async () => {
  clips = [];
  vision.partner.on(POST, names);
  vision.partner.on(VIDEOS, listed);
  const twoHours = { startTime: '2026-01-31T08:00:00Z', endTime: '2026-01-31T10:00:00Z' };
  const id = await order(await vision.connect(), twoHours);
  await becomes(id, { status: 'processing' });
  await pollsEnded(vision);
  const at = (minutes: number) => new Date(Date.parse(twoHours.startTime) + minutes * 60_000).toISOString();
  clips = Array.from({ length: 120 }, (_, n) =>
    clip({
      requestId: `front 2026-01-31T${n < 60 ? '08' : '09'}:00:00Z`,
      startTime: at(n),
      endTime: at(n + 1),
      durationSeconds: 60,
    }),
  );
  const shown = await becomes(id, { status: 'stored' });
  expect(shown.recordingIds).toHaveLength(120);
});

describe('the list of a partner with its own page size and without totals', () => {
  /** Sends 20 elements per page, whatever the requested page size. */
  const inTwenties: ScriptedReply = (response, asked) => {
    const page = Number(asked.query.get('page') ?? 1);
    json({ success: true, data: { videos: clips.slice((page - 1) * 20, page * 20) } })(response, asked);
  };
  const others = (count: number) =>
    Array.from({ length: count }, () => element({ requestId: 'another', downloadUrl: 'https://x.example/a' }));

  test.each<[string, ScriptedReply, string | undefined]>([
    ['of a request', names, FRONT],
    ['of a request whose 202 had no readable id', accepts({ requestId: 1.5 }), undefined],
  ])('is read to the clip %s', async (_, accepted, requestId) => {
    const front = await twoOpen(accepted);
    vision.partner.on(VIDEOS, byId(refuses(500, 'INTERNAL_ERROR', 'oops'), inTwenties));
    clips = [...others(25), clip({ requestId })];
    await becomes(front, { status: 'stored' });
  });

  test('is read to its first empty page, and not again', async () => {
    await twoOpen();
    vision.partner.on(VIDEOS, inTwenties);
    clips = others(5);
    const from = vision.partner.askedOf(VIDEOS).length;
    await vision.hurry();
    await pollsEnded(vision);
    expect(pagesAsked().slice(from)).toEqual([1, 2]);
  });

  test('is read once if each page is the same', async () => {
    await twoOpen();
    vision.partner.on(VIDEOS, (response, asked) => json({ success: true, data: { videos: clips } })(response, asked));
    clips = others(5);
    const from = vision.partner.askedOf(VIDEOS).length;
    await vision.hurry();
    await pollsEnded(vision);
    expect(pagesAsked().slice(from)).toEqual([1, 2]);
  });
});

const REQUEST = { requestId: 'req-many', status: 'ready' };

/** Adjacent clips within the range. */
function manyClips(count: number, link = () => vision.partner.link(sampleVideo(200))): Element[] {
  const at = (n: number) => new Date(Date.parse(RANGE.startTime) + n * 250).toISOString();
  return Array.from({ length: count }, (_, n) =>
    element({
      requestId: REQUEST.requestId,
      startTime: at(n),
      endTime: at(n + 1),
      durationSeconds: 0,
      downloadUrl: link(),
    }),
  );
}

async function orderClips(): Promise<string> {
  vision.partner.on(POST, accepts({ requestId: REQUEST.requestId }));
  return order(await vision.connect());
}

const reasonsFound = async () =>
  (await vision.query<{ reason: string }>('SELECT reason FROM vision_findings')).map(({ reason }) => reason);

/** Sends 20 elements per page, whatever the requested page size. */
const inTwenties = (all: readonly Element[], totals: boolean, pastEnd?: ScriptedReply): ScriptedReply => {
  const totalPages = Math.ceil(all.length / 20);
  return (response, asked) => {
    const page = Number(asked.query.get('page') ?? 1);
    if (page > totalPages && pastEnd !== undefined) return pastEnd(response, asked);
    const videos = all.slice((page - 1) * 20, page * 20);
    const pagination = { page, pageSize: 20, totalItems: all.length, totalPages };
    json({ success: true, data: { videos, request: REQUEST, ...(totals ? { pagination } : {}) } })(response, asked);
  };
};

describe('clips on several pages of one request', () => {
  test('are all fetched; each page is read once if there are totals', async () => {
    vision.partner.on(VIDEOS, inTwenties(manyClips(45), true));
    const shown = await becomes(await orderClips(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
    expect(pagesAsked()).toEqual([1, 2, 3]);
  });

  test.each<[string, ScriptedReply | undefined]>([
    ['is empty', undefined],
    ['is refused with 404', refuses(404, 'NOT_FOUND', 'no such page')],
  ])('are all fetched without totals if a page past the end %s', async (_, pastEnd) => {
    vision.partner.on(VIDEOS, inTwenties(manyClips(45), false, pastEnd));
    const shown = await becomes(await orderClips(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
    expect((await reasonsFound()).length).toBe(pastEnd === undefined ? 0 : 1);
  });

  test('are recognised under new ids, of a partner without pages', async () => {
    const [clip] = manyClips(1);
    let listings = 0;
    vision.partner.on(VIDEOS, (response, asked) => {
      const videos = [{ ...clip, id: `listing ${++listings}` }];
      json({ success: true, data: { videos, request: REQUEST } })(response, asked);
    });
    const shown = await becomes(await orderClips(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(1);
  });

  test('are fetched at once; the request stays open until each page was read', async () => {
    const all = manyClips(45);
    const broken: ScriptedReply = (response, asked) =>
      (asked.query.get('page') === '2' ? refuses(500, 'INTERNAL_ERROR', 'oops') : inTwenties(all, true))(
        response,
        asked,
      );
    vision.partner.on(VIDEOS, broken);
    const id = await orderClips();
    await becomes(id, { status: 'processing', reason: expect.stringContaining('oops') });
    await eventually(async () => expect((await read(id)).recordingIds).toHaveLength(20));
    vision.partner.on(VIDEOS, inTwenties(all, true));
    const shown = await becomes(id, { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
  });

  test('are read up to the limit, which is reported; the other pages are not read', async () => {
    vision.listVideos(() => all, { request: REQUEST });
    const all = manyClips(1_200, () => 'https://clips.invalid/1');
    const id = await orderClips();
    await eventually(async () => {
      if (pagesAsked().length === 0) await vision.hurry();
      expect((await read(id)).recordingIds).toHaveLength(1_000);
    });
    expect(pagesAsked()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await reasonsFound()).toEqual([
      'Request req-many has more than 1000 clips; only the first ones are fetched.',
    ]);
  });
});

describe('clips that arrive while the partner prepares the request', () => {
  const processing = { request: { ...REQUEST, status: 'processing' } };

  /** Waits for that many polls. Each one is by the id of the request. */
  async function listings(count: number): Promise<void> {
    await eventually(async () => {
      if (pagesAsked().length < count) await vision.hurry();
      expect(pagesAsked().length).toBeGreaterThanOrEqual(count);
      const polls = await vision.query<unknown>('SELECT 1 FROM video_polls WHERE started_at IS NULL');
      expect(polls).toHaveLength(1);
    });
  }

  test('are recognised, although each list has new ids', async () => {
    const both = manyClips(2);
    let listed = 0;
    vision.partner.on(VIDEOS, (response, asked) => {
      const again = both.map((clip, n) => ({ ...clip, id: `listing ${++listed}`, cameraId: n === 0 ? 'front' : '1' }));
      lists('videos', () => again, processing)(response, asked);
    });
    const id = await orderClips();
    await listings(4);
    expect(await read(id)).toMatchObject({ status: 'processing' });
    expect((await read(id)).recordingIds).toHaveLength(2);
  });

  test('are distinguished by their ranges, although they have one id', async () => {
    const both = manyClips(2).map((clip) => ({ ...clip, id: 'one' }));
    vision.listVideos(() => both.slice(0, Math.max(1, pagesAsked().length - 1)), processing);
    const id = await orderClips();
    await listings(4);
    expect((await read(id)).recordingIds).toHaveLength(2);
  });

  test('are limited to a thousand, however many other ones each list has', async () => {
    const all = manyClips(1_800, () => 'https://clips.invalid/1');
    vision.listVideos(() => (pagesAsked().length <= 9 ? all.slice(0, 900) : all.slice(900)), processing);
    const id = await orderClips();
    await listings(18);
    expect((await read(id)).recordingIds).toHaveLength(1_000);
    const reported = (await reasonsFound()).filter((reason) => reason.includes('1000'));
    expect(reported).toEqual(['Request req-many has more than 1000 clips; only the first ones are fetched.']);
  });
});

describe('clips of cameras by number, for requests by placement', () => {
  const numbered = (fields: Element) => clip({ requestId: undefined, ...fields });

  test('are not assigned by a guess where they carry no id; the finding names both', async () => {
    const front = await twoOpen();
    clips = [numbered({ cameraId: '1' }), numbered({ cameraId: '2' })];
    await rounds(2);
    expect(await read(front)).toMatchObject({ status: 'processing', recordingIds: [] });
    expect(await vision.query('SELECT FROM recordings')).toEqual([]);
    const findings = await vision.query<{ reason: string }>('SELECT reason FROM vision_findings ORDER BY reason');
    expect(findings.map(({ reason }) => reason)).toContainEqual(
      expect.stringMatching(/nothing says that camera 1 is camera (front|rear)/),
    );
  });

  test('are assigned once the partner has answered a request for the placement with the number', async () => {
    const front = await twoOpen();
    clips = [clip({ cameraId: '1' })];
    expect((await becomes(front, { status: 'stored' })).recordingIds).toHaveLength(1);
    const later = { startTime: '2026-01-31T09:30:00Z', endTime: '2026-01-31T09:35:00Z' };
    const again = await order(vision.connectionId, later);
    await becomes(again, { status: 'processing' });
    clips = [numbered({ ...later, cameraId: '1' }), numbered({ cameraId: '2' })];
    expect((await becomes(again, { status: 'stored' })).recordingIds).toHaveLength(1);
    expect(await vision.query("SELECT FROM recordings WHERE camera_id = '2'")).toEqual([]);
  });
});
