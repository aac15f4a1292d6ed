import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkService } from '../../../src/core/work/work.service.js';
import { SyncRetention } from '../../../src/site-sync/sync/site-sync.job.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';
import { siteData } from '../../support/site-data.js';
import { whileMaterialsAreLocked } from '../../support/rows.js';
import { hurry, SiteScene } from '../../support/site-scene.js';
import { ageSyncRuns, endLease } from '../../support/time.js';

const data = siteData(3, 6, 60);
const nothing = { sites: [], kiosks: [], materials: [] };

describe('an interrupted run', () => {
  let scene: SiteScene;
  let started: (() => Promise<unknown>)[];

  beforeAll(async () => {
    scene = await SiteScene.start();
    // This instance serves the admin API only. The tests start and kill the instances that synchronise.
    scene.service.app.get(WorkService).onModuleDestroy();
  });
  afterAll(() => scene.stop());
  beforeEach(async () => {
    started = [];
    await scene.renew();
  });
  afterEach(async () => {
    for (const stop of started) await stop();
    // Otherwise a later instance would resume its run.
    await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
  });

  async function killable(variables?: Record<string, string>): Promise<ServiceProcess> {
    const other = await startServiceProcess(scene.service.env, variables);
    started.push(async () => {
      other.child.kill('SIGKILL');
      await other.ended;
    });
    return other;
  }
  async function successor(): Promise<TestApp> {
    const next = await startTestApp({ on: scene.service });
    started.push(() => next.close());
    return next;
  }
  /** Asks the process that is to run it: it starts at once. */
  async function requestOf({ url }: ServiceProcess): Promise<string> {
    const headers = { Authorization: `Bearer ${scene.service.env.ADMIN_TOKEN}` };
    const reply = await fetch(`${url}/admin/v1/connections/${scene.connectionId}/sync`, { method: 'POST', headers });
    return ((await reply.json()) as { runId: string }).runId;
  }
  async function requestFor(by: TestApp): Promise<string> {
    const runId = await scene.request();
    hurry(by);
    return runId;
  }
  const sync = async (by: TestApp) => scene.ended(await requestFor(by));

  test('of an instance that was killed while it applied records has applied nothing, and is resumed', async () => {
    const other = await killable();
    scene.answers(data);
    let runId = '';
    await whileMaterialsAreLocked(scene.service, async (isWaited) => {
      runId = await requestOf(other);
      await eventually(async () => expect(await isWaited()).toBe(true));
      other.child.kill('SIGKILL');
      await other.ended;
    });
    expect(await scene.stored()).toEqual(nothing);
    expect((await scene.run(runId)).status).toBe('running');
    const next = await successor();
    await endLease(scene.service, scene.connectionId);
    hurry(next);
    expect(await scene.ended(runId)).toMatchObject({
      status: 'succeeded',
      counts: { sites: { created: 3 }, kiosks: { created: 6 }, materials: { created: 60 } },
    });
  });

  describe('the sweep of runs', () => {
    const sweep = () => scene.service.app.get(SyncRetention).sweep();
    const statuses = async () => (await scene.runs()).map(({ status }) => status);

    test('deletes runs after 30 days, but not a held run that can be confirmed', async () => {
      const owner = await successor();
      scene.answers({ sites: data.sites });
      for (let i = 0; i < 2; i++) await sync(owner);
      const age = (days: number) => ageSyncRuns(scene.service, scene.connectionId, days * 1_440);
      await age(29);
      await sweep();
      expect(await statuses()).toEqual(['succeeded', 'succeeded']);
      await age(2);
      await sweep();
      expect(await statuses()).toEqual([]);
      scene.answers({ sites: [] });
      for (let i = 0; i < 2; i++) await sync(owner);
      const newest = (await scene.runs())[0];
      await age(31);
      await sweep();
      expect(await statuses()).toEqual(['held']);
      expect((await scene.runs())[0]?.id).toBe(newest?.id);
    });
  });
});
