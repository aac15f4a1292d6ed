import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkService } from '../../../src/core/work/work.service.js';
import { SyncRetention } from '../../../src/site-sync/sync/site-sync.job.js';
import { SITE_SYNC_WORK } from '../../../src/site-sync/sync/sync-runs.repository.js';
import { eventually } from '../../support/eventually.js';
import { refuses, when } from '../../support/scripted-partner.js';
import { issueKey } from '../../support/api-keys.js';
import { connectionRow, whileConnectionsAreLocked } from '../../support/rows.js';
import { idOf, site, siteData } from '../../support/site-data.js';
import { answer, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { ageSyncRuns } from '../../support/time.js';

const data = { sites: [site('a')] };

/** What decision 36 promises beyond `acceptance/site/schedule.spec.ts`: changes during a run, busy partners, several instances. */
describe('the schedule of synchronisation', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start({ ticks: false });
  });
  afterAll(() => scene.stop());
  beforeEach(async () => {
    await scene.renew();
    scene.answers(data);
  });

  const dueIn = async () => (await connectionRow(scene.service, scene.connectionId)).dueInSeconds ?? Number.NaN;
  const failures = async () => {
    const { attempts, lastError } = await connectionRow(scene.service, scene.connectionId);
    return { attempts, lastError };
  };
  const connectEnabled = async (intervalSeconds?: number) => {
    scene.connectionId = await scene.connect({ enabled: true, ...(intervalSeconds && { intervalSeconds }) });
    scene.hurry();
  };
  const running = () => scene.service.app.get(WorkService).running().get(SITE_SYNC_WORK) ?? 0;
  const patch = (change: object) => scene.service.admin('PATCH', `/connections/${scene.connectionId}`, change);
  const finished = async (count: number) => {
    const runs = await scene.runs();
    expect(runs.filter(({ finishedAt }) => finishedAt !== null)).toHaveLength(count);
    return runs;
  };

  test('starts a run at once after a change of the key, and ignores the end of the run with the former key', async () => {
    const refused = Promise.withResolvers<void>();
    let refuse = (): void => undefined;
    const right = answer(data);
    scene.partner.on(SITES_ROUTE, (response, request) => {
      if (request.headers['api-key'] === 'the-right-key') return right(response, request);
      response.once('close', refused.resolve);
      refuse = () => refuses(401, 'UNAUTHORIZED')(response, request);
    });
    // Runs of other tests, which end when they find their connection deleted.
    const others = running();
    await connectEnabled();
    await eventually(() => expect(scene.partner.asked).toHaveLength(1));
    await patch({ apiKey: 'the-right-key' });
    scene.hurry();
    await eventually(async () => expect((await finished(1))[0]?.status).toBe('succeeded'));
    expect(await failures()).toEqual({ attempts: 0, lastError: null });
    // The response to the former run changes nothing.
    refuse();
    await refused.promise;
    await eventually(() => expect(running()).toBeLessThanOrEqual(others));
    expect((await finished(1))[0]?.status).toBe('succeeded');
    expect(await failures()).toEqual({ attempts: 0, lastError: null });
  });

  describe('of an enabled connection', () => {
    test('applies a shorter interval at once, and a longer one from the next run on', async () => {
      await connectEnabled(86_400);
      await eventually(async () => void (await finished(1)));
      await patch({ intervalSeconds: 600 });
      const shortened = await dueIn();
      expect(shortened).toBeGreaterThan(300);
      expect(shortened).toBeLessThanOrEqual(660);
      await patch({ intervalSeconds: 86_400 });
      expect(await dueIn()).toBeLessThanOrEqual(shortened);
    });

    test('applies an interval that is changed during a run after that run', async () => {
      const patched = Promise.withResolvers<void>();
      scene.partner.on(SITES_ROUTE, when(patched.promise, answer(data)));
      await connectEnabled(86_400);
      await eventually(() => expect(scene.partner.asked).toHaveLength(1));
      await patch({ intervalSeconds: 600 });
      patched.resolve();
      await eventually(async () => void (await finished(1)));
      expect(await dueIn()).toBeLessThan(665);
    });
  });

  describe('several instances', () => {
    test('apply two connections of one hauler with the same records at the same time', async () => {
      const sites = Array.from({ length: 300 }, (_, i) => site(`same ${i}`));
      scene.answers({ sites });
      const ids = [scene.connectionId, await scene.connect()];
      const runs = await Promise.all(ids.map(async (id) => scene.ended(await scene.request(id))));
      expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
      expect(runs.map(({ counts }) => counts.sites.created).sort()).toEqual([0, 300]);
    });
  });

  // Source: a new material was weighed before the next synchronisation, and every retry was refused.
  describe('a ticket that comes before its master data (decision 24)', () => {
    let key: string;
    beforeEach(async () => {
      ({ key } = await issueKey(scene.service, ['scale'], { haulerId: scene.haulerId }));
    });
    const push = (name: string) =>
      scene.service.call<{ error?: { message: string } }>('POST', '/platform-api/v1/tickets', {
        headers: { 'PLATFORM-API-KEY': key },
        body: { siteId: idOf(name), materials: [{ id: idOf('m'), name: 'm', quantity: 1, unitOfMeasure: 'Ton' }] },
      });

    test('is not delayed by an admin who changes the connection', async () => {
      await whileConnectionsAreLocked(scene.service, async () => {
        expect((await push('new')).status).toBe(422);
      });
    });
  });

  test('runs are deleted after 30 days, but not a held run that can be confirmed', async () => {
    const sweep = () => scene.service.app.get(SyncRetention).sweep();
    const age = (days: number) => ageSyncRuns(scene.service, scene.connectionId, days * 1_440);
    const statuses = async () => (await scene.runs()).map(({ status }) => status);
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
});
