import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { RetryLaterError, StoragePause } from '../../../src/vision/downloads/storage-pause.js';
import type { TestApp } from '../../support/app.js';
import { chunk, DownloadScene, recordings } from '../../support/download-scene.js';
import { eventually } from '../../support/eventually.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { hurry, inHours, sha256, type VisionPartner } from '../../support/vision-partner.js';

let scene: DownloadScene;
let partner: VisionPartner;
beforeAll(async () => {
  scene = await DownloadScene.start();
  partner = scene.partner;
});
afterAll(() => scene.stop());

const bodies = Array.from({ length: 50 }, () => sampleVideo(200_000));

describe('many downloads', () => {
  /** Slow enough that downloads overlap. */
  const slowly =
    (body: Buffer, open: { now: number; max: number } = { now: 0, max: 0 }): RequestListener =>
    (req, res) => {
      open.max = Math.max(open.max, ++open.now);
      res.once('close', () => open.now--);
      setTimeout(() => serveFile(body, { etag: `"${sha256(body)}"` })(req, res), 60);
    };

  const whole = async (app: TestApp, id: string) => {
    const stored = (await recordings(app, id)).filter(({ status }) => status === 'stored');
    return new Map(stored.map((shown) => [shown.partnerRecordingId, shown.sha256]));
  };
  const expected = new Map(bodies.map((body, i) => [`chunk-${i}`, sha256(body)]));

  test('on two instances fetch each file once, four at once', async () => {
    partner.reset();
    const first = await scene.service();
    await scene.service({ on: first });
    const open = { now: 0, max: 0 };
    const chunks = bodies.map((body, i) => chunk(i, partner.link(body, slowly(body, open))));
    const id = await scene.follow(first, () => chunks);
    await eventually(async () => expect(await whole(first, id)).toEqual(expected), 20_000);
    expect(partner.fetched).toHaveLength(50);
    expect(new Set(partner.fetched).size).toBe(50);
    expect(open.max).toBe(4);
  });

  test('start with the link that expires first', async () => {
    partner.reset();
    const app = await scene.service({ env: { DOWNLOAD_CONCURRENCY_PER_CONNECTION: 1 } });
    const links = bodies.slice(0, 10).map((body) => partner.link(body));
    const chunks = links.map((link, i) => chunk(i, link, { expiresAt: inHours(20 - i) }));
    const id = await scene.follow(app, () => chunks);
    await eventually(async () => expect((await whole(app, id)).size).toBe(10));
    const order = links.map((link) => new URL(link).pathname + new URL(link).search).reverse();
    expect(partner.fetched).toEqual(order);
  });
});

describe('an unavailable storage', () => {
  test('is not tried with each due recording: none is claimed meanwhile', async () => {
    partner.reset();
    const app = await scene.service();
    const pause = app.app.get(StoragePause, { strict: false });
    const current = jest
      .spyOn(pause, 'current')
      .mockReturnValue(new RetryLaterError('The video storage is full.', 1_000));
    const chunks = bodies.slice(0, 3).map((body, i) => chunk(i, partner.link(body)));
    const id = await scene.follow(app, () => chunks);
    await eventually(async () => expect(await recordings(app, id)).toHaveLength(3));
    for (let i = 0; i < 5; i++) {
      await hurry(app);
      await delay(50);
    }
    const tried = 'SELECT 1 FROM recordings WHERE connection_id = $1 AND (attempts > 0 OR last_error IS NOT NULL)';
    expect(await app.dataSource.query(tried, [id])).toEqual([]);
    current.mockRestore();
    await eventually(async () => {
      await hurry(app);
      expect((await recordings(app, id)).map(({ status }) => status)).toEqual(Array(3).fill('stored'));
    });
    expect(partner.fetched).toHaveLength(3);
  });
});
