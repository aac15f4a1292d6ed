import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { json, refuses, type ScriptedReply } from '../support/scripted-partner.js';
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
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
});
afterEach(() => startAnew(app, partner));
afterAll(async () => {
  await app.close();
  await partner.stop();
});

const REQUEST = { requestId: 'req-many', status: 'ready' };

/** Ends within the range, one behind the other. */
function clips(count: number, link = () => partner.link(sampleVideo(200))): Element[] {
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

async function order(): Promise<string> {
  partner.on(POST, accepts({ requestId: REQUEST.requestId }));
  return orderVideo(app, (await connectVision(app, partner.url)).id);
}

const pagesAsked = () => partner.askedOf(VIDEOS).map(({ query }) => Number(query.get('page')));

const reasonsFound = async () =>
  (await app.dataSource.query<{ reason: string }[]>('SELECT reason FROM vision_findings')).map(({ reason }) => reason);

/** 20 a page, whatever is asked for. */
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
  test('are all fetched, each page asked for once where the totals say so', async () => {
    partner.on(VIDEOS, inTwenties(clips(45), true));
    const shown = await requestBecomes(app, await order(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
    expect(pagesAsked()).toEqual([1, 2, 3]);
  });

  test.each<[string, ScriptedReply | undefined]>([
    ['is empty', undefined],
    ['is refused with 404', refuses(404, 'NOT_FOUND', 'no such page')],
  ])('are all fetched without totals, where a page past the end %s', async (_, pastEnd) => {
    partner.on(VIDEOS, inTwenties(clips(45), false, pastEnd));
    const shown = await requestBecomes(app, await order(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
    expect((await reasonsFound()).length).toBe(pastEnd === undefined ? 0 : 1);
  });

  test('are the same ones under new ids, of a partner that knows no pages', async () => {
    const [clip] = clips(1);
    let listings = 0;
    partner.on(VIDEOS, (response, asked) => {
      const videos = [{ ...clip, id: `listing ${++listings}` }];
      json({ success: true, data: { videos, request: REQUEST } })(response, asked);
    });
    const shown = await requestBecomes(app, await order(), { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(1);
  });

  test('are not all until each page has come; what has come is fetched at once', async () => {
    const all = clips(45);
    const broken: ScriptedReply = (response, asked) =>
      (asked.query.get('page') === '2' ? refuses(500, 'INTERNAL_ERROR', 'oops') : inTwenties(all, true))(
        response,
        asked,
      );
    partner.on(VIDEOS, broken);
    const id = await order();
    await requestBecomes(app, id, { status: 'processing', reason: expect.stringContaining('oops') });
    await eventually(async () => expect((await readRequest(app, id)).recordingIds).toHaveLength(20));
    partner.on(VIDEOS, inTwenties(all, true));
    const shown = await requestBecomes(app, id, { status: 'stored' });
    expect(shown.recordingIds).toHaveLength(45);
  });

  test('are read up to the bound and told; the rest is not asked for', async () => {
    partner.on(
      VIDEOS,
      lists('videos', () => all, { request: REQUEST }),
    );
    const all = clips(1_200, () => 'https://clips.invalid/1');
    const id = await order();
    await eventually(async () => {
      if (pagesAsked().length === 0) await hurry(app);
      expect((await readRequest(app, id)).recordingIds).toHaveLength(1_000);
    });
    expect(pagesAsked()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await reasonsFound()).toEqual([
      'Request req-many has more than 1000 clips; only the first ones are fetched.',
    ]);
  });
});

describe('clips that come while the partner still prepares the request', () => {
  const processing = { request: { ...REQUEST, status: 'processing' } };

  /** Listed so often; each time it is asked for alone. */
  async function listings(count: number): Promise<void> {
    await eventually(async () => {
      if (pagesAsked().length < count) await hurry(app);
      expect(pagesAsked().length).toBeGreaterThanOrEqual(count);
      const polls = await app.dataSource.query<unknown[]>('SELECT 1 FROM video_polls WHERE lease_token IS NULL');
      expect(polls).toHaveLength(1);
    }, 10_000);
  }

  test('are the same ones, though they have new ids at each listing', async () => {
    const both = clips(2);
    let listed = 0;
    partner.on(VIDEOS, (response, asked) => {
      const again = both.map((clip, n) => ({ ...clip, id: `listing ${++listed}`, cameraId: n === 0 ? 'front' : '1' }));
      lists('videos', () => again, processing)(response, asked);
    });
    const id = await order();
    await listings(4);
    expect(await readRequest(app, id)).toMatchObject({ status: 'processing' });
    expect((await readRequest(app, id)).recordingIds).toHaveLength(2);
  });

  test('are kept by their ranges, though they have one id', async () => {
    const both = clips(2).map((clip) => ({ ...clip, id: 'one' }));
    partner.on(
      VIDEOS,
      lists('videos', () => both.slice(0, Math.max(1, pagesAsked().length - 1)), processing),
    );
    const id = await order();
    await listings(4);
    expect((await readRequest(app, id)).recordingIds).toHaveLength(2);
  });

  test('are a thousand at most, however many other ones each listing has', async () => {
    const all = clips(1_800, () => 'https://clips.invalid/1');
    partner.on(
      VIDEOS,
      lists('videos', () => (pagesAsked().length <= 9 ? all.slice(0, 900) : all.slice(900)), processing),
    );
    const id = await order();
    await listings(18);
    expect((await readRequest(app, id)).recordingIds).toHaveLength(1_000);
    const told = (await reasonsFound()).filter((reason) => reason.includes('1000'));
    expect(told).toEqual(['Request req-many has more than 1000 clips; only the first ones are fetched.']);
  });
});
