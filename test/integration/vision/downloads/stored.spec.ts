import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Storage, STORAGE } from '../../../../src/storage/storage.js';
import { recordingFile } from '../../../../src/vision/recordings/recording.rules.js';
import type { TestApp } from '../../../support/app.js';
import {
  becomes,
  becomesAtDeadline,
  chunk,
  DownloadScene,
  filesOf,
  listed,
  recordings,
} from '../../../support/download-scene.js';
import { eventually } from '../../../support/eventually.js';
import { serveFile } from '../../../support/file-host.js';
import { videoConnection } from '../../../support/held-footage.js';
import { addRecordings, forgetFile, readLinks } from '../../../support/rows.js';
import { type S3Server, startS3Server } from '../../../support/s3-server.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { CONTINUOUS, inHours, lists, sha256, type VisionPartner } from '../../../support/scripted-vision.js';
import { expireLinks, hurryVideo } from '../../../support/time.js';
import { resetVision } from '../../../support/vision-partner.js';

let scene: DownloadScene;
let partner: VisionPartner;
let app: TestApp;
beforeAll(async () => {
  scene = await DownloadScene.start();
  partner = scene.partner;
  app = await scene.service({ ticks: false });
});
afterEach(() => resetVision(app, partner));
afterAll(() => scene.stop());

const page: RequestListener = (_, response) => {
  const body = '<html>Sign in</html>';
  response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': body.length, ETag: '"1"' }).end(body);
};
const refused: RequestListener = (_, response) => void response.writeHead(403).end();

describe('a recording that cannot be fetched until its deadline', () => {
  test.each<[string, string, string, RequestListener | undefined, string]>([
    ['whose link is refused', 'expired', 'linkRefused', refused, 'refused the link with 403'],
    ['whose file is a page', 'failed', 'invalidFile', page, 'not a valid MP4: it begins with "<html>Sign'],
    ['whose host is away', 'failed', 'unreachable', undefined, 'refuses connections'],
  ])(
    '%s ends as %s with its reason, and its link is deleted (decisions 47, 54)',
    async (_, status, reasonCode, listener, reason) => {
      const downloadUrl =
        listener === undefined ? 'http://127.0.0.1:1/away.mp4' : partner.link(sampleVideo(), listener);
      const id = await scene.follow(app, listed({ downloadUrl, expiresAt: inHours(100_000) }));
      const shown = await becomesAtDeadline(app, id, { status });
      expect(shown).toMatchObject({ reasonCode, reason: expect.stringContaining(reason) });
      expect(await readLinks(app, id)).toEqual([null]);
    },
  );

  test.each(['http://127.0.0.1:9/x', 'https://10.0.0.1/x', 'ftp://files.example.com/x', 'nonsense'])(
    'fails at once where outbound calls may not go to its link: %s (decision 50)',
    async (link) => {
      const strict = await scene.service({ on: app, env: { OUTBOUND_ALLOW_PRIVATE: false } });
      try {
        const owner = await videoConnection(strict);
        const times = { start: inHours(-2), end: inHours(-1.9) };
        const row = { ...owner, ...times, id: randomUUID(), truckId: 'T', cameraId: 'front' };
        await addRecordings(strict, [{ ...row, status: 'available', link }]);
        const { reason } = await becomes(strict, owner.connectionId, { status: 'failed' });
        expect(reason).toMatch(/^The link cannot be used/);
        expect(await readLinks(strict, owner.connectionId)).toEqual([null]);
      } finally {
        await strict.close();
      }
    },
  );
});

test('a refused link is replaced by that of the same recording, not of a similar one', async () => {
  const body = sampleVideo();
  const dead = partner.link(body, refused);
  const wrong = partner.link(sampleVideo(300));
  const id = await scene.follow(app, () => []);
  const others = [
    chunk(1, wrong, { truckId: 'TRUCK-8' }),
    chunk(2, wrong, { id: 'chunk-1' }),
    chunk(1, wrong, { id: 'of the rear', cameraId: 'rear' }),
    chunk(1, wrong, { id: 'longer', endTime: chunk(2, wrong)['endTime'] }),
  ];
  partner.on(CONTINUOUS, (response, request) => {
    // A new link is looked for in the time of the recording alone.
    const [from, to] = ['startTime', 'endTime'].map((name) => Date.parse(request.query.get(name) ?? ''));
    const isRelink = (to ?? 0) - (from ?? 0) < 120_000;
    const first = partner.fetched.length > 0 ? [] : [chunk(1, dead)];
    const all = isRelink ? [...others, chunk(1, partner.link(body), { id: 'a new id' })] : first;
    lists('recordings', () => all)(response, request);
  });
  expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
});

describe('the storage', () => {
  test('whose mount is missing pauses downloads and playback until it is back', async () => {
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
    await eventually(async () => {
      await hurryVideo(app);
      expect(await recordings(app, id)).toMatchObject([{ status: 'stored', sizeBytes: 2_000 }, { status: 'stored' }]);
    });
    expect((await app.admin('GET', content)).status).toBe(200);
  });

  test('that has lost a file answers 404, and the file is fetched again', async () => {
    const id = await scene.follow(app, () => [chunk(1, partner.link(sampleVideo(1_000)))]);
    const { id: recordingId } = await becomes(app, id, { status: 'stored' });
    const path = `/recordings/${recordingId}/content`;
    await app.app.get<Storage>(STORAGE, { strict: false }).delete(recordingFile(recordingId));
    const lost = await app.admin<{ error: { message: string } }>('GET', path);
    expect([lost.status, lost.body.error.message]).toEqual([404, expect.stringContaining('is gone from the video')]);
    await becomes(app, id, { status: 'stored' });
    expect((await app.admin('GET', path)).status).toBe(200);
  });

  test('that failed keeps a received file, which is stored afterwards without another request', async () => {
    const inTheWay = fileURLToPath(`${app.env.STORAGE_URL}/recordings`);
    const body = sampleVideo(20_000);
    const listing = [chunk(1, partner.link(body))];
    await rm(inTheWay, { recursive: true, force: true });
    await mkdir(fileURLToPath(app.env.STORAGE_URL), { recursive: true });
    await writeFile(inTheWay, '');
    const id = await scene.follow(app, () => listing);
    const { reason } = await becomes(app, id, { status: 'available', reason: expect.stringContaining('storage') });
    expect(reason).toContain('The video storage failed');
    // The outage lasts longer than the link lives, and the partner lists the recording no more.
    listing.pop();
    await eventually(async () => expect(await expireLinks(app, id)).toBe(1));
    await rm(inTheWay);
    // Without its folder the storage would be taken for a missing mount.
    await mkdir(inTheWay);
    await becomes(app, id, { status: 'stored', sha256: sha256(body), sizeBytes: body.length });
    expect(partner.fetched).toHaveLength(1);
    expect(await filesOf(app, '.partial')).toEqual([]);
  });

  test('that has the file of a killed process needs no link that still works', async () => {
    const body = sampleVideo();
    const listing = [chunk(1, partner.link(body))];
    const id = await scene.follow(app, () => listing);
    await becomes(app, id, { status: 'stored' });
    listing.pop();
    const fetched = partner.fetched.length;
    await forgetFile(app, id, partner.link(sampleVideo()));
    await becomes(app, id, { status: 'stored', sizeBytes: body.length, sha256: sha256(body) });
    expect(partner.fetched).toHaveLength(fetched);
  });
});

test('two instances fetch each of 30 files once, four at once', async () => {
  const other = await scene.service({ on: app });
  const open = { now: 0, max: 0 };
  const bodies = Array.from({ length: 30 }, () => sampleVideo(20_000));
  // Slow enough that downloads overlap.
  const slowly =
    (body: Buffer): RequestListener =>
    (req, res) => {
      open.max = Math.max(open.max, ++open.now);
      res.once('close', () => open.now--);
      setTimeout(() => serveFile(body, { etag: `"${sha256(body)}"` })(req, res), 60);
    };
  const id = await scene.follow(app, () => bodies.map((body, i) => chunk(i, partner.link(body, slowly(body)))));
  await eventually(async () => {
    await hurryVideo(app);
    const stored = (await recordings(app, id)).filter(({ status }) => status === 'stored');
    expect(new Set(stored.map((each) => each.sha256))).toEqual(new Set(bodies.map(sha256)));
  });
  expect([partner.fetched.length, open.max]).toEqual([30, 4]);
  await other.close();
});

describe('in S3', () => {
  let s3: S3Server;
  let inS3: TestApp;
  beforeEach(async () => {
    s3 = await startS3Server();
    inS3 = await scene.service({ env: { STORAGE_URL: s3.storageUrl('vision') } });
  });
  afterEach(async () => {
    await inS3.close();
    await s3.stop();
  });

  test('a recording is stored and played', async () => {
    const body = sampleVideo(300_000);
    const id = await scene.follow(inS3, listed(partner.link(body)));
    const shown = await becomes(inS3, id, { status: 'stored' });
    const headers = { Authorization: `Bearer ${inS3.env.ADMIN_TOKEN}` };
    const played = await fetch(`${inS3.url}/admin/v1/recordings/${shown.id}/content`, { headers });
    expect(sha256(Buffer.from(await played.arrayBuffer()))).toBe(sha256(body));
  });
});
