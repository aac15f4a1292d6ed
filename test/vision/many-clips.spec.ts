import { describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { json, refuses, type ScriptedReply } from '../support/scripted-partner.js';
import { RANGE } from '../support/video-requests.js';
import { accepts, element, lists, POST, VIDEOS, type Element } from '../support/vision-partner.js';
import { useVision } from '../support/vision-scene.js';

const vision = useVision();
const { becomes, order, read } = vision;

const REQUEST = { requestId: 'req-many', status: 'ready' };

/** Adjacent clips within the range. */
function clips(count: number, link = () => vision.partner.link(sampleVideo(200))): Element[] {
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

const pagesAsked = () => vision.partner.askedOf(VIDEOS).map(({ query }) => Number(query.get('page')));

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
    vision.partner.on(VIDEOS, inTwenties(clips(45), true));
    const shown = await becomes(await orderClips(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
    expect(pagesAsked()).toEqual([1, 2, 3]);
  });

  test.each<[string, ScriptedReply | undefined]>([
    ['is empty', undefined],
    ['is refused with 404', refuses(404, 'NOT_FOUND', 'no such page')],
  ])('are all fetched without totals if a page past the end %s', async (_, pastEnd) => {
    vision.partner.on(VIDEOS, inTwenties(clips(45), false, pastEnd));
    const shown = await becomes(await orderClips(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
    expect((await reasonsFound()).length).toBe(pastEnd === undefined ? 0 : 1);
  });

  test('are recognised under new ids, of a partner without pages', async () => {
    const [clip] = clips(1);
    let listings = 0;
    vision.partner.on(VIDEOS, (response, asked) => {
      const videos = [{ ...clip, id: `listing ${++listings}` }];
      json({ success: true, data: { videos, request: REQUEST } })(response, asked);
    });
    const shown = await becomes(await orderClips(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(1);
  });

  test('are fetched at once; the request stays open until each page was read', async () => {
    const all = clips(45);
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
    const all = clips(1_200, () => 'https://clips.invalid/1');
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
      const polls = await vision.query<unknown>('SELECT 1 FROM video_polls WHERE lease_token IS NULL');
      expect(polls).toHaveLength(1);
    }, 10_000);
  }

  test('are recognised, although each list has new ids', async () => {
    const both = clips(2);
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
    const both = clips(2).map((clip) => ({ ...clip, id: 'one' }));
    vision.partner.on(
      VIDEOS,
      lists('videos', () => both.slice(0, Math.max(1, pagesAsked().length - 1)), processing),
    );
    const id = await orderClips();
    await listings(4);
    expect((await read(id)).recordingIds).toHaveLength(2);
  });

  test('are limited to a thousand, however many other ones each list has', async () => {
    const all = clips(1_800, () => 'https://clips.invalid/1');
    vision.partner.on(
      VIDEOS,
      lists('videos', () => (pagesAsked().length <= 9 ? all.slice(0, 900) : all.slice(900)), processing),
    );
    const id = await orderClips();
    await listings(18);
    expect((await read(id)).recordingIds).toHaveLength(1_000);
    const reported = (await reasonsFound()).filter((reason) => reason.includes('1000'));
    expect(reported).toEqual(['Request req-many has more than 1000 clips; only the first ones are fetched.']);
  });
});
