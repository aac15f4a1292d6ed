import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkService } from '../../../src/work/work.service.js';
import { SITE_SYNC_WORK } from '../../../src/site-sync/sync/sync-runs.repository.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { hangs, html, refuses, type ScriptedReply, when } from '../../support/scripted-partner.js';
import { issueKey } from '../../support/api-keys.js';
import { connectionRow, whileConnectionsAreLocked } from '../../support/rows.js';
import { idOf, material, site } from '../../support/site-data.js';
import { answer, hurry, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { ageSyncRuns, makeConnectionDue } from '../../support/time.js';

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
  /** Makes the connection due, and another one after it: once that one has run, this one was skipped. */
  const isSkipped = async () => {
    await makeConnectionDue(scene.service, scene.connectionId);
    const row = () => scene.runs();
    const before = await row();
    const later = await scene.connect({ enabled: true });
    scene.hurry();
    await eventually(async () => expect((await scene.runs(later))[0]?.finishedAt).toEqual(expect.any(String)));
    expect(await row()).toEqual(before);
  };
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

    test('is not delayed by partners that answer with Retry-After', async () => {
      scene.partner.on(SITES_ROUTE, refuses(503, 'INTERNAL_ERROR', 'busy', { 'Retry-After': '60' }));
      const busy = [scene.connectionId, await scene.connect(), await scene.connect()];
      const waiting = await Promise.all(busy.map((id) => scene.request(id)));
      await eventually(() => expect(scene.partner.asked).toHaveLength(3));
      expect((await scene.sync(data, await scene.connect())).status).toBe('succeeded');
      for (const run of waiting) expect((await scene.run(run)).status).toBe('running');
      for (const id of busy) await scene.service.admin('DELETE', `/connections/${id}`);
    });

    test.each<[string, ScriptedReply]>([
      ['do not answer', hangs()],
      ['send the beginning of an answer', (response) => void response.writeHead(200).write('{"success":true,')],
    ])('is not delayed by partners that %s', async (_, reply) => {
      scene.partner.on(SITES_ROUTE, reply);
      const silent = [scene.connectionId, await scene.connect(), await scene.connect()];
      const waiting = await Promise.all(silent.map((id) => scene.request(id)));
      await eventually(() => expect(scene.partner.asked).toHaveLength(3));
      expect((await scene.sync(data, await scene.connect())).status).toBe('succeeded');
      for (const run of waiting) expect((await scene.run(run)).status).toBe('running');
      for (const id of silent) await scene.service.admin('DELETE', `/connections/${id}`);
    });
  });

  describe('POST /connections/{id}/sync', () => {
    test('runs a paused connection once if the run fails', async () => {
      scene.partner.on(SITES_ROUTE, html());
      expect((await scene.sync()).status).toBe('failed');
      await isSkipped();
      expect(await scene.runs()).toHaveLength(1);
    });

    test('calls a partner that is not called for a while', async () => {
      scene.partner.on(SITES_ROUTE, refuses(500, 'INTERNAL_ERROR'));
      for (let i = 0; i < 7; i++) await scene.sync();
      scene.answers(data);
      expect((await scene.sync()).status).toBe('succeeded');
    });
  });

  describe('several instances', () => {
    test('never run one connection at the same time, and share the work', async () => {
      const second = await startTestApp({ on: scene.service });
      let running = 0;
      const ofHauler = new Map<string, number>();
      scene.partner.on(SITES_ROUTE, (response, request) => {
        const hauler = request.query.get('haulerId') ?? '';
        ofHauler.set(hauler, (ofHauler.get(hauler) ?? 0) + 1);
        running++;
        setTimeout(() => {
          running--;
          ofHauler.set(hauler, (ofHauler.get(hauler) ?? 0) - 1);
          answer(data)(response, request);
        }, 150);
        overlaps.push([running, ofHauler.get(hauler) ?? 0]);
      });
      const overlaps: [number, number][] = [];
      const haulers: string[] = [];
      const connections: string[] = [];
      for (let i = 0; i < 8; i++) {
        const { body } = await scene.service.admin<{ id: string }>('POST', '/haulers', { name: `Many ${i}` });
        haulers.push(body.id);
      }
      for (const haulerId of haulers) connections.push(await scene.connect({ haulerId, enabled: true }));
      await eventually(async () => {
        for (const instance of [scene.service, second]) hurry(instance);
        for (const id of connections) expect((await scene.runs(id)).map(({ status }) => status)).toEqual(['succeeded']);
      });
      expect(scene.partner.asked).toHaveLength(8);
      expect(Math.max(...overlaps.map(([, one]) => one))).toBe(1);
      expect(Math.max(...overlaps.map(([all]) => all))).toBeGreaterThan(1);
      await second.close();
    });

    test('apply two connections of one hauler with the same records at the same time', async () => {
      const sites = Array.from({ length: 300 }, (_, i) => site(`same ${i}`));
      scene.answers({ sites });
      const ids = [scene.connectionId, await scene.connect()];
      const runs = await Promise.all(ids.map(async (id) => scene.ended(await scene.request(id))));
      expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
      expect(runs.map(({ counts }) => counts.sites.created).sort()).toEqual([0, 300]);
    });

    test('return the same run for concurrent requests', async () => {
      const second = await startTestApp({ on: scene.service });
      const named = Promise.withResolvers<void>();
      scene.partner.on(SITES_ROUTE, when(named.promise, answer(data)));
      const path = `/connections/${scene.connectionId}/sync`;
      const replies = await Promise.all(
        [scene.service, second, scene.service, second].map((app) => app.admin<{ runId: string }>('POST', path)),
      );
      expect(new Set(replies.map(({ body }) => body.runId)).size).toBe(1);
      named.resolve();
      await scene.ended(replies[0]!.body.runId);
      expect(scene.partner.asked).toHaveLength(1);
      await second.close();
    });
  });

  // Source: a new material was weighed before the next synchronisation, and every retry was refused.
  describe('a ticket that comes before its master data (decision 24)', () => {
    const LISTED = { sites: [site('new')], materials: [material('m', { siteId: idOf('new') })] };
    let key: string;
    beforeEach(async () => {
      ({ key } = await issueKey(scene.service, ['scale'], { haulerId: scene.haulerId }));
    });
    const push = (name: string) =>
      scene.service.call<{ error?: { message: string } }>('POST', '/platform-api/v1/tickets', {
        headers: { 'PLATFORM-API-KEY': key },
        body: { siteId: idOf(name), materials: [{ id: idOf('m'), name: 'm', quantity: 1, unitOfMeasure: 'Ton' }] },
      });

    test('makes the connection due at once, at most once a minute, and is then taken', async () => {
      await connectEnabled(3_600);
      await eventually(async () => void (await finished(1)));
      await ageSyncRuns(scene.service, scene.connectionId, 2);
      scene.answers(LISTED);
      const refused = await push('new');
      expect(refused.status).toBe(422);
      expect(refused.body.error?.message).toMatch(
        /were last synchronised at \d{4}-.*send the ticket again in a minute\.$/,
      );
      scene.hurry();
      await eventually(async () => void (await finished(2)));
      expect((await push('new')).status).toBe(200);
      expect((await push('unknown')).status).toBe(422);
      expect(await dueIn()).toBeGreaterThan(60);
    });

    test('is not delayed by an admin who changes the connection', async () => {
      await whileConnectionsAreLocked(scene.service, async () => {
        expect((await push('new')).status).toBe(422);
      });
    });
  });
});
