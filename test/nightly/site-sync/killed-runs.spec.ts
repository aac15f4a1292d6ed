import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkService } from '../../../src/work/work.service.js';
import { SyncRetention } from '../../../src/site-sync/sync/site-sync.job.js';
import { SITE_SYNC_WORK } from '../../../src/site-sync/sync/sync-runs.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { hangs, when } from '../../support/scripted-partner.js';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';
import { siteData } from '../../support/site-data.js';
import { connectionRow, endWaitingSessions, interruptRun, whileMaterialsAreLocked } from '../../support/rows.js';
import { answer, hurry, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { ageSyncRuns, endLease, leaseToAnother, startConnectionRow } from '../../support/time.js';

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
  const isIdle = ({ app }: TestApp) =>
    eventually(() => expect(app.get(WorkService).running().get(SITE_SYNC_WORK)).toBe(0));
  const partnerIsAsked = async (times: number) => {
    await eventually(() => expect(scene.partner.asked).toHaveLength(times));
  };

  test('of an instance that was killed while the partner answered is resumed under the same id', async () => {
    const other = await killable();
    scene.partner.on(SITES_ROUTE, hangs());
    const runId = await requestOf(other);
    await partnerIsAsked(1);
    other.child.kill('SIGKILL');
    await other.ended;
    expect(await scene.run(runId)).toMatchObject({ status: 'running', finishedAt: null });
    scene.answers(data);
    const next = await successor();
    await endLease(scene.service, scene.connectionId);
    hurry(next);
    expect(await scene.ended(runId)).toMatchObject({ status: 'succeeded', counts: { materials: { created: 60 } } });
    expect(await scene.runs()).toHaveLength(1);
  });

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

  test('of an instance that stops is released at once, and resumed under the same id', async () => {
    const other = await killable({ SHUTDOWN_GRACE: '1s' });
    scene.partner.on(SITES_ROUTE, hangs());
    const runId = await requestOf(other);
    await partnerIsAsked(1);
    other.child.kill('SIGTERM');
    expect(await other.ended).toBe(0);
    const idle = { isRunning: false, attempts: 0, lastError: null };
    expect(await connectionRow(scene.service, scene.connectionId)).toMatchObject(idle);
    scene.answers(data);
    await successor();
    expect((await scene.ended(runId)).status).toBe('succeeded');
  });

  test('of an owner that lost its row writes neither records nor an end', async () => {
    const owner = await successor();
    const lost = Promise.withResolvers<void>();
    scene.partner.on(SITES_ROUTE, when(lost.promise, answer(data)));
    const runId = await requestFor(owner);
    await partnerIsAsked(1);
    await startConnectionRow(scene.service, scene.connectionId, 'another');
    lost.resolve();
    await isIdle(owner);
    expect(await scene.stored()).toEqual(nothing);
    expect((await scene.run(runId)).status).toBe('running');
    await startConnectionRow(scene.service, scene.connectionId, 'nobody');
    hurry(owner);
    expect((await scene.ended(runId)).status).toBe('succeeded');
    expect(scene.partner.asked).toHaveLength(2);
  });

  test('does not delay admins while records are applied: a request returns the same run, a change is stored', async () => {
    const owner = await successor();
    scene.answers(data);
    let runId = '';
    await whileMaterialsAreLocked(scene.service, async (isWaited) => {
      runId = await requestFor(owner);
      await eventually(async () => expect(await isWaited()).toBe(true));
      expect(await scene.request()).toBe(runId);
      const path = `/connections/${scene.connectionId}`;
      expect((await scene.service.admin('PATCH', path, { intervalSeconds: 3600 })).status).toBe(200);
      expect((await scene.run(runId)).status).toBe('running');
    });
    expect((await scene.ended(runId)).status).toBe('succeeded');
    expect(await scene.runs()).toHaveLength(1);
  });

  test('of a connection that is deleted applies nothing, and ends', async () => {
    const owner = await successor();
    const deleted = Promise.withResolvers<void>();
    scene.partner.on(SITES_ROUTE, when(deleted.promise, answer(data)));
    const runId = await requestFor(owner);
    await partnerIsAsked(1);
    expect((await scene.service.admin('DELETE', `/connections/${scene.connectionId}`)).status).toBe(204);
    deleted.resolve();
    await isIdle(owner);
    expect(await scene.stored()).toEqual(nothing);
    await owner.app.get(SyncRetention).sweep();
    expect(await scene.run(runId)).toMatchObject({
      status: 'failed',
      finishedAt: expect.any(String),
      error: 'The connection was paused or deleted before the run ended.',
    });
  });

  test('of three owners that died fails, and the next run is scheduled', async () => {
    const runId = await scene.request();
    await interruptRun(scene.service, scene.connectionId, { attempts: 3, isRequested: true });
    scene.answers(data);
    const owner = await successor();
    expect(await scene.ended(runId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('interrupted 3 times'),
    });
    expect((await connectionRow(scene.service, scene.connectionId)).dueInSeconds).toBeGreaterThan(600);
    expect((await sync(owner)).status).toBe('succeeded');
  });

  test('of a lost database connection counts as interrupted, and its reason names the database', async () => {
    const owner = await successor();
    scene.answers(data);
    let runId = '';
    await scene.whileCatalogIsLocked(async (waiting) => {
      runId = await requestFor(owner);
      await eventually(async () => expect(await waiting()).toBe(1));
      await interruptRun(scene.service, scene.connectionId, { attempts: 3, isRequested: true });
      await endWaitingSessions(scene.service);
      await isIdle(owner);
    });
    expect(await requestFor(owner)).toBe(runId);
    expect(await scene.ended(runId)).toMatchObject({
      status: 'failed',
      error:
        'The run was interrupted 3 times: the service stopped during it, or the database was unavailable or too slow.',
    });
  });

  describe('the sweep of runs', () => {
    const sweep = () => scene.service.app.get(SyncRetention).sweep();
    const statuses = async () => (await scene.runs()).map(({ status }) => status);

    test('leaves runs that wait, that are in work and that will be resumed', async () => {
      await scene.request();
      await sweep();
      expect(await statuses()).toEqual(['queued']);
      await interruptRun(scene.service, scene.connectionId);
      await leaseToAnother(scene.service, SITE_SYNC_WORK, scene.connectionId);
      await sweep();
      expect(await statuses()).toEqual(['running']);
      await scene.service.admin('PATCH', `/connections/${scene.connectionId}`, { enabled: true });
      await endLease(scene.service, scene.connectionId);
      await sweep();
      expect(await statuses()).toEqual(['running']);
    });

    test('ends the run of a connection that was paused while its instance was killed; a request starts another', async () => {
      const runId = await scene.request();
      await interruptRun(scene.service, scene.connectionId);
      await sweep();
      expect(await statuses()).toEqual(['failed']);
      expect(await scene.request()).not.toBe(runId);
    });

    test('does not end a run of a paused connection that was requested again: it is resumed', async () => {
      const runId = await scene.request();
      await interruptRun(scene.service, scene.connectionId, { isDue: false });
      scene.answers(data);
      expect(await requestFor(await successor())).toBe(runId);
      expect((await scene.ended(runId)).status).toBe('succeeded');
    });

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
