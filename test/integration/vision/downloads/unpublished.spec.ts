import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestApp } from '../../../support/app.js';
import { becomes, chunk, DownloadScene, filesOf } from '../../../support/download-scene.js';
import { eventually } from '../../../support/eventually.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { sha256 } from '../../../support/scripted-vision.js';
import { hurryVideo } from '../../../support/time.js';

let scene: DownloadScene;
let app: TestApp;
beforeAll(async () => {
  scene = await DownloadScene.start();
  app = await scene.service();
});
afterAll(() => scene.stop());

test('a file that was received during an outage of the storage is stored afterwards without another request', async () => {
  const root = new URL(app.env.STORAGE_URL).pathname;
  const inTheWay = join(root, 'recordings');
  const body = sampleVideo(20_000);
  const listing = [chunk(1, scene.partner.link(body))];
  await mkdir(root, { recursive: true });
  await writeFile(inTheWay, '');
  const id = await scene.follow(app, () => listing);
  const { reason } = await becomes(app, id, { status: 'available', reason: expect.stringContaining('storage') });
  expect(reason).toContain('The video storage failed');
  // The outage lasts longer than the link lives, and the partner lists the recording no more.
  listing.pop();
  await eventually(async () => {
    const rows = await app.dataSource.query<unknown[]>(
      `UPDATE recordings SET expires_at = now() - interval '1 minute' WHERE connection_id = $1 AND started_at IS NULL
       RETURNING 1`,
      [id],
    );
    expect(rows[1]).toBe(1);
  });
  await hurryVideo(app);
  await rm(inTheWay);
  // Without its folder the storage would be taken for a missing mount.
  await mkdir(inTheWay);
  await eventually(async () => {
    await hurryVideo(app);
    await becomes(app, id, { status: 'stored', sha256: sha256(body), sizeBytes: body.length });
  }, 60_000);
  expect(scene.partner.fetched).toHaveLength(1);
  expect(await filesOf(app, '.partial')).toEqual([]);
}, 90_000);
