import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SyncRetention } from '../../../src/site-sync/sync/site-sync.job.js';
import { siteData } from '../../support/site-data.js';
import { SiteScene } from '../../support/site-scene.js';
import { ageSyncRuns } from '../../support/time.js';

let scene: SiteScene;
beforeAll(async () => {
  scene = await SiteScene.start();
  await scene.renew();
});
afterAll(() => scene.stop());

const sweep = () => scene.service.app.get(SyncRetention).sweep();
const age = (days: number) => ageSyncRuns(scene.service, scene.connectionId, days * 1_440);
const statuses = async () => (await scene.runs()).map(({ status }) => status);

test('runs are deleted after 30 days, but not a held run that can be confirmed', async () => {
  scene.answers({ sites: siteData(3, 6, 60).sites });
  for (let i = 0; i < 2; i++) await scene.sync();
  await age(29);
  await sweep();
  expect(await statuses()).toEqual(['succeeded', 'succeeded']);
  await age(2);
  await sweep();
  expect(await statuses()).toEqual([]);
  scene.answers({ sites: [] });
  for (let i = 0; i < 2; i++) await scene.sync();
  const newest = (await scene.runs())[0];
  await age(31);
  await sweep();
  expect(await statuses()).toEqual(['held']);
  expect((await scene.runs())[0]?.id).toBe(newest?.id);
});
