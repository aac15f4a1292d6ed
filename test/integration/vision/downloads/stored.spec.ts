import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mkdir, rename, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StorageUnavailableError } from '../../../../src/storage/storage-errors.js';
import { type Storage, STORAGE } from '../../../../src/storage/storage.js';
import { TargetBackoff } from '../../../../src/outbound/target-backoff.js';
import { recordingFile } from '../../../../src/vision/recordings/recording.rules.js';
import { Retention } from '../../../../src/vision/recordings/retention.job.js';
import type { TestApp } from '../../../support/app.js';
import { addRecording, becomes, chunk, DownloadScene, filesOf, recordings } from '../../../support/download-scene.js';
import { eventually } from '../../../support/eventually.js';
import { serveFile } from '../../../support/file-host.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { CONTINUOUS, inHours, sha256, type VisionPartner } from '../../../support/scripted-vision.js';
import { hurryVideo } from '../../../support/time.js';
import { connectVision, resetVision } from '../../../support/vision-partner.js';

let scene: DownloadScene;
let partner: VisionPartner;
async function start(): Promise<void> {
  scene = await DownloadScene.start();
  partner = scene.partner;
}

const bodies = Array.from({ length: 50 }, () => sampleVideo(200_000));

describe('in one service', () => {
  let app: TestApp;
  beforeAll(async () => {
    await start();
    app = await scene.service();
  });
  afterEach(() => resetVision(app, partner));
  afterAll(() => scene.stop());

  describe('metrics', () => {
    test('count the recordings whose links expire before their download can start', async () => {
      const { haulerId, id } = await connectVision(app, partner.url);
      await addRecording(app, haulerId, id, 'https://files.example.com/a');
      // The service may have started the download: its row is no longer its own then, and it writes nothing more.
      await app.dataSource.query(
        `UPDATE recordings SET expires_at = now() - interval '1 minute', due_at = now() + interval '1 hour',
           started_at = NULL, status = 'available' WHERE connection_id = $1`,
        [id],
      );
      // A recording that is being downloaded, and a stored one, are not counted.
      await addRecording(app, haulerId, id, 'https://files.example.com/b');
      await addRecording(app, haulerId, id, 'https://files.example.com/c');
      await app.dataSource.query(
        `UPDATE recordings SET expires_at = now() - interval '1 minute', started_at = now() + interval '1 hour'
         WHERE connection_id = $1 AND link LIKE '%/b'`,
        [id],
      );
      await app.dataSource.query(
        `UPDATE recordings SET due_at = NULL, started_at = NULL, status = 'stored', fetch_ms = 1,
           stored_at = now() WHERE connection_id = $1 AND link LIKE '%/c'`,
        [id],
      );
      const headers = { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` };
      const metrics = await app.call('GET', '/metrics', { headers });
      expect(metrics.text).toContain('vision_downloads_at_risk 1');
      expect(metrics.text).toContain('vision_downloads{state="waiting"} 1');
      expect(metrics.text).toContain('vision_downloads{state="downloading"} 1');
    });
  });

  test('a recording is shown, listed and counted as downloading while its file is fetched, and not as available', async () => {
    const body = sampleVideo(2_000);
    const rest = Promise.withResolvers<void>();
    const link = partner.link(body, (_request, response) => {
      response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, 1_000));
      void rest.promise.then(() => response.end(body.subarray(1_000)));
    });
    const id = await scene.follow(app, () => [chunk(1, link)]);
    await becomes(app, id, { status: 'downloading' });
    const listed = async () => {
      const ofState = async (status: string) =>
        (await app.admin<{ data: { id: string }[] }>('GET', `/recordings?connectionId=${id}&status=${status}`)).body
          .data;
      return [(await ofState('downloading')).length, (await ofState('available')).length];
    };
    expect(await listed()).toEqual([1, 0]);
    rest.resolve();
    await becomes(app, id, { status: 'stored' });
    expect(await listed()).toEqual([0, 0]);
  });

  describe('a missing mount', () => {
    test('pauses downloads and playback until it is back', async () => {
      const chunks = [chunk(1, partner.link(sampleVideo(1_000)))];
      const id = await scene.follow(app, () => chunks);
      const first = await becomes(app, id, { status: 'stored' });
      const folder = fileURLToPath(app.env.STORAGE_URL);
      await rename(folder, `${folder}.aside`);
      chunks.push(chunk(2, partner.link(sampleVideo(2_000))));
      await eventually(async () => {
        await hurryVideo(app);
        const [second] = await recordings(app, id);
        expect(second).toMatchObject({ status: 'available', reason: expect.stringContaining('Mount') });
      });
      await expect(filesOf(app, '')).resolves.toEqual([]);
      const content = `/recordings/${first.id}/content`;
      expect((await app.admin('GET', content)).status).toBe(503);
      await rm(folder, { recursive: true, force: true });
      await rename(`${folder}.aside`, folder);
      // The first pause of the downloads takes five seconds.
      await eventually(async () => {
        await hurryVideo(app);
        expect(await recordings(app, id)).toMatchObject([{ status: 'stored', sizeBytes: 2_000 }, { status: 'stored' }]);
      }, 15_000);
      expect((await app.admin('GET', content)).status).toBe(200);
    }, 30_000);
  });

  describe('the content of a recording', () => {
    test('that the storage has lost is 404, and the file is fetched again', async () => {
      const body = sampleVideo(1_000);
      const id = await scene.follow(app, () => [chunk(1, partner.link(body))]);
      const { id: recordingId } = await becomes(app, id, { status: 'stored' });
      const path = `/recordings/${recordingId}/content`;
      await app.app.get<Storage>(STORAGE, { strict: false }).delete(recordingFile(recordingId));
      const lost = await app.admin<{ error: { message: string } }>('GET', path);
      expect([lost.status, lost.body.error.message]).toEqual([
        404,
        expect.stringContaining('is gone from the video storage'),
      ]);
      await becomes(app, id, { status: 'stored' });
      expect((await app.admin('GET', path)).status).toBe(200);
    });

    test('can be read with ranges, conditions and HEAD', async () => {
      const body = sampleVideo(1_000);
      const id = await scene.follow(app, () => [chunk(1, partner.link(body))]);
      const shown = await becomes(app, id, { status: 'stored' });
      const get = (headers: Record<string, string>, method = 'GET') =>
        fetch(`${app.url}/admin/v1/recordings/${shown.id}/content`, {
          method,
          headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}`, ...headers },
        });
      const etag = `"${sha256(body)}"`;
      const all = await get({});
      expect([all.status, all.headers.get('etag'), all.headers.get('content-length')]).toEqual([200, etag, '1000']);
      const tail = await get({ Range: 'bytes=-10', 'If-Range': etag });
      expect([tail.status, tail.headers.get('content-range')]).toEqual([206, 'bytes 990-999/1000']);
      expect((await get({ Range: 'bytes=0-1', 'If-Range': '"other"' })).status).toBe(200);
      expect((await get({ Range: 'bytes=1000-' })).status).toBe(416);
      expect((await get({ 'If-None-Match': etag })).status).toBe(304);
      const head = await get({}, 'HEAD');
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000']);
      expect((await fetch(`${app.url}/admin/v1/recordings/${shown.id}/content`)).status).toBe(401);
    });
  });

  describe('an unavailable storage', () => {
    test('is not tried with each due recording: none is claimed meanwhile', async () => {
      const paused = jest
        .spyOn(TargetBackoff.prototype, 'pausedUntil')
        .mockImplementation((name) => (name === 'storage' ? new Date(Date.now() + 1_000) : undefined));
      const chunks = bodies.slice(0, 3).map((body, i) => chunk(i, partner.link(body)));
      const id = await scene.follow(app, () => chunks);
      await eventually(async () => expect(await recordings(app, id)).toHaveLength(3));
      for (let i = 0; i < 5; i++) {
        await hurryVideo(app);
        await delay(50);
      }
      const tried = 'SELECT 1 FROM recordings WHERE connection_id = $1 AND (attempts > 0 OR last_error IS NOT NULL)';
      expect(await app.dataSource.query(tried, [id])).toEqual([]);
      paused.mockRestore();
      await eventually(async () => {
        await hurryVideo(app);
        expect((await recordings(app, id)).map(({ status }) => status)).toEqual(Array(3).fill('stored'));
      });
      expect(partner.fetched).toHaveLength(3);
    });
  });
});

describe('in services of their own', () => {
  beforeEach(start);
  // A service of an earlier case would fetch the recordings of a later one as well.
  afterEach(() => scene.stop());

  describe('retention', () => {
    test('is off by default; a dry run counts; then older recordings are deleted and reported', async () => {
      const app = await scene.service({ env: { VIDEO_RETENTION_DAYS: 30 } });
      const links = [1, 2].map((n) => chunk(n, partner.link(sampleVideo(1_000))));
      const id = await scene.follow(app, () => links);
      await eventually(async () => {
        expect((await recordings(app, id)).map(({ status }) => status)).toEqual(['stored', 'stored']);
      });
      await app.dataSource.query(
        `UPDATE recordings SET stored_at = now() - interval '31 days' WHERE partner_recording_id = 'chunk-1'`,
      );
      const retention = app.app.get(Retention, { strict: false });
      expect(await retention.run({ dryRun: true })).toMatchObject({ recordings: 1, bytes: 1_000 });
      expect(await filesOf(app, 'recordings')).toHaveLength(2);
      expect(await retention.run()).toMatchObject({ recordings: 1, bytes: 1_000 });
      expect(await retention.run()).toMatchObject({ recordings: 0 });
      expect(await retention.run({ dryRun: true })).toMatchObject({ recordings: 0 });
      expect(await filesOf(app, 'recordings')).toHaveLength(1);
      const gone = (await recordings(app, id)).find(({ partnerRecordingId }) => partnerRecordingId === 'chunk-1');
      expect(gone).toMatchObject({ status: 'expired', reason: expect.stringContaining('30 days') });
      expect((await app.admin('GET', `/recordings/${gone?.id}/content`)).status).toBe(404);
      // A deleted recording is not fetched again when it is listed.
      await hurryVideo(app);
      await becomesStill(app, id);
      const off = await scene.service();
      expect(await off.app.get(Retention, { strict: false }).run()).toEqual({ recordings: 0, bytes: 0 });
    });

    test('keeps the row of a recording that cannot be deleted because its mount is missing', async () => {
      const app = await scene.service({ env: { VIDEO_RETENTION_DAYS: 30 } });
      const id = await scene.follow(app, () => [chunk(1, partner.link(sampleVideo(1_000)))]);
      await eventually(async () => expect(await recordings(app, id)).toMatchObject([{ status: 'stored' }]));
      await app.dataSource.query(`UPDATE recordings SET stored_at = now() - interval '31 days'`);
      const retention = app.app.get(Retention, { strict: false });
      const folder = fileURLToPath(`${app.env.STORAGE_URL}/recordings`);
      await rename(folder, `${folder}.aside`);
      await expect(retention.run()).rejects.toThrow(StorageUnavailableError);
      expect(await recordings(app, id)).toMatchObject([{ status: 'stored' }]);
      await rename(`${folder}.aside`, folder);
      expect(await retention.run()).toMatchObject({ recordings: 1 });
      expect(await filesOf(app, 'recordings')).toEqual([]);
    });

    test('deletes the younger files after one that cannot be deleted', async () => {
      const app = await scene.service({ env: { VIDEO_RETENTION_DAYS: 30 } });
      const id = await scene.follow(app, () => [1, 2].map((n) => chunk(n, partner.link(sampleVideo(1_000)))));
      const shown = () => recordings(app, id);
      await eventually(async () => expect((await shown()).map(({ status }) => status)).toEqual(['stored', 'stored']));
      const stuck = (await shown()).find(({ partnerRecordingId }) => partnerRecordingId === 'chunk-1')?.id ?? '';
      await app.dataSource.query(
        `UPDATE recordings SET stored_at = now() - interval '31 days' - CASE WHEN id = $1 THEN interval '1 day' ELSE '0' END`,
        [stuck],
      );
      const path = fileURLToPath(`${app.env.STORAGE_URL}/${recordingFile(stuck)}`);
      await rename(path, `${path}.aside`);
      await mkdir(path);
      const retention = app.app.get(Retention, { strict: false });
      await expect(retention.run()).rejects.toThrow();
      expect(new Map((await shown()).map(({ id, status }) => [id === stuck, status]))).toEqual(
        new Map([
          [true, 'stored'],
          [false, 'expired'],
        ]),
      );
    });

    const becomesStill = async (app: TestApp, id: string): Promise<void> => {
      const before = partner.askedOf(CONTINUOUS).length;
      await eventually(async () => {
        await hurryVideo(app);
        expect(partner.askedOf(CONTINUOUS).length).toBeGreaterThan(before + 1);
      });
      expect((await recordings(app, id)).map(({ status }) => status).sort()).toEqual(['expired', 'stored']);
    };
  });

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
      const app = await scene.service({ env: { DOWNLOAD_CONCURRENCY_PER_CONNECTION: 1 } });
      const links = bodies.slice(0, 10).map((body) => partner.link(body));
      const chunks = links.map((link, i) => chunk(i, link, { expiresAt: inHours(20 - i) }));
      const id = await scene.follow(app, () => chunks);
      await eventually(async () => expect((await whole(app, id)).size).toBe(10));
      const order = links.map((link) => new URL(link).pathname + new URL(link).search).reverse();
      expect(partner.fetched).toEqual(order);
    });
  });
});
