import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Storage, STORAGE } from '../../../src/core/storage/storage.js';
import { recordingFile } from '../../../src/vision/recordings/recording.rules.js';
import type { TestApp } from '../../support/app.js';
import {
  becomes,
  becomesAtDeadline,
  chunk,
  DownloadScene,
  filesOf,
  listed,
  recordings,
} from '../../support/download-scene.js';
import { eventually } from '../../support/eventually.js';
import { forgetFile, readLinks } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, inHours, lists, sha256, type VisionPartner } from '../../support/scripted-vision.js';
import { expireLinks, hurryVideo } from '../../support/time.js';
import { resetVision } from '../../support/vision-partner.js';

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

const refused: RequestListener = (_, response) => void response.writeHead(403).end();

test('a recording whose link is refused until its deadline ends as expired, and its link is deleted (decisions 47, 54)', async () => {
  const id = await scene.follow(
    app,
    listed({ downloadUrl: partner.link(sampleVideo(), refused), expiresAt: inHours(100_000) }),
  );
  const shown = await becomesAtDeadline(app, id, { status: 'expired', reasonCode: 'linkRefused' });
  expect(shown).toMatchObject({ reason: expect.stringContaining('refused the link with 403') });
  expect(await readLinks(app, id)).toEqual([null]);
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

test('files that wait, and whose links expire within 10 minutes or have expired, are at risk in the metrics', async () => {
  const unavailable = partner.link(sampleVideo(), (_, response) => void response.writeHead(503).end());
  const inMinutes = (minutes: number) => inHours(minutes / 60);
  const expiries = [inMinutes(-1), inMinutes(9), inMinutes(11), undefined];
  const items = expiries.map((expiresAt, n) => chunk(n, unavailable, { expiresAt }));
  const id = await scene.follow(app, () => items);
  await eventually(async () => {
    const shown = await recordings(app, id);
    if (shown.some(({ reason }) => reason === undefined)) await hurryVideo(app);
    expect(shown).toMatchObject(items.map(() => ({ status: 'available', reason: expect.any(String) })));
    const headers = { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` };
    const metrics = (await app.call('GET', '/metrics', { headers })).text.split('\n');
    expect(metrics.filter((line) => line.startsWith('vision_downloads'))).toEqual([
      'vision_downloads_at_risk 2',
      'vision_downloads{state="waiting"} 4',
      'vision_downloads{state="downloading"} 0',
    ]);
  });
});

describe('the storage', () => {
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
