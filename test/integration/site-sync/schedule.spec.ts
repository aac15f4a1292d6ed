import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { WorkService } from '../../../src/work/work.service.js';
import { nextRunAfterFailureMs, nextRunMs } from '../../../src/site-sync/sync/schedule.rules.js';
import { SITE_SYNC_WORK } from '../../../src/site-sync/sync/sync-runs.repository.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { hangs, html, refuses, type ScriptedReply, when } from '../../support/scripted-partner.js';
import { site } from '../../support/site-data.js';
import { answer, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

const data = { sites: [site('a')] };

/** Decision 36 from end to end, then its arithmetic. */
describe('the schedule of synchronisation', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  afterAll(() => scene.stop());
  beforeEach(async () => {
    await scene.renew();
    scene.answers(data);
  });

  const dueIn = async (id = scene.connectionId) =>
    (await scene.connection<{ seconds: number }>('extract(epoch FROM due_at - now())::float8 AS seconds', id)).seconds;
  const makeDue = () =>
    scene.service.dataSource.query('UPDATE connections SET due_at = now() WHERE id = $1', [scene.connectionId]);
  const connectEnabled = async (intervalSeconds?: number) => {
    scene.connectionId = await scene.connect({ enabled: true, ...(intervalSeconds && { intervalSeconds }) });
    scene.hurry();
  };
  const running = () => scene.service.app.get(WorkService).running().get(SITE_SYNC_WORK) ?? 0;
  /** Makes the connection due, and another one after it: once that one has run, this one was skipped. */
  const isSkipped = async () => {
    await makeDue();
    const row = () => scene.connection('due_at, attempts, started_at');
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
    expect(await scene.connection('attempts, last_error')).toEqual({ attempts: 0, last_error: null });
    // The response to the former run changes nothing.
    refuse();
    await refused.promise;
    await eventually(() => expect(running()).toBeLessThanOrEqual(others), 10_000);
    expect((await finished(1))[0]?.status).toBe('succeeded');
    expect(await scene.connection('attempts, last_error')).toEqual({ attempts: 0, last_error: null });
  });

  describe('of an enabled connection', () => {
    test('starts the first run at its creation, and the next one after about its interval', async () => {
      scene.connectionId = await scene.connect({ enabled: true, intervalSeconds: 600 });
      await eventually(async () => expect((await finished(1))[0]?.status).toBe('succeeded'));
      const seconds = await dueIn();
      expect(seconds).toBeGreaterThan(530);
      expect(seconds).toBeLessThan(665);
    });

    test('applies a shorter interval at once, and a longer one from the next run on', async () => {
      await connectEnabled(86_400);
      await eventually(async () => void (await finished(1)));
      await patch({ intervalSeconds: 600 });
      const shortened = await dueIn();
      expect([shortened > 560, shortened <= 660]).toEqual([true, true]);
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

    test('starts a due run', async () => {
      await connectEnabled();
      await eventually(async () => void (await finished(1)));
      await makeDue();
      await eventually(async () => void (await finished(2)));
    });

    test('starts no run while it is paused', async () => {
      await isSkipped();
      expect(await scene.runs()).toEqual([]);
      await patch({ enabled: true });
      scene.hurry();
      await eventually(async () => void (await finished(1)));
    });

    test('waits longer after each failure, and as usual after a success', async () => {
      scene.partner.on(SITES_ROUTE, html());
      await connectEnabled(100);
      for (const [failures, min, max] of [
        [1, 88, 111],
        [2, 178, 221],
        [3, 358, 441],
      ] as const) {
        await eventually(async () => void (await finished(failures)));
        const seconds = await dueIn();
        expect([seconds > min, seconds < max]).toEqual([true, true]);
        if (failures === 3) scene.answers(data);
        await makeDue();
        scene.hurry();
      }
      await eventually(async () => expect((await scene.runs())[0]?.status).toBe('succeeded'));
      expect(await dueIn()).toBeLessThan(111);
      expect(await scene.connection('attempts, last_error')).toEqual({ attempts: 0, last_error: null });
    });
  });

  describe('POST /connections/{id}/sync', () => {
    test('runs a paused connection, which stays paused', async () => {
      const run = await scene.sync();
      expect(run).toMatchObject({ status: 'succeeded', startedAt: expect.any(String) });
      await isSkipped();
      expect(await scene.runs()).toHaveLength(1);
    });

    test('runs a paused connection once if the run fails', async () => {
      scene.partner.on(SITES_ROUTE, html());
      expect((await scene.sync()).status).toBe('failed');
      await isSkipped();
      expect(await scene.runs()).toHaveLength(1);
    });

    test('returns the active run, and starts one run for any number of concurrent requests', async () => {
      const answered = Promise.withResolvers<void>();
      scene.partner.on(SITES_ROUTE, when(answered.promise, answer(data)));
      const ids = await Promise.all(Array.from({ length: 12 }, () => scene.request()));
      expect(new Set(ids).size).toBe(1);
      await eventually(async () => expect((await scene.run(ids[0]!)).status).toBe('running'));
      expect(await scene.request()).toBe(ids[0]);
      answered.resolve();
      await scene.ended(ids[0]!);
      expect(scene.partner.asked).toHaveLength(1);
      expect(await scene.request()).not.toBe(ids[0]);
    });

    test('calls a partner that is not called for a while', async () => {
      scene.partner.on(SITES_ROUTE, refuses(500, 'INTERNAL_ERROR'));
      for (let i = 0; i < 7; i++) await scene.sync();
      scene.answers(data);
      expect((await scene.sync()).status).toBe('succeeded');
    });

    test('of a Vision connection: 400; of an unknown or deleted one: 404; of an invalid id: 400', async () => {
      const sync = async (id: string) => (await scene.service.admin('POST', `/connections/${id}/sync`)).status;
      const vision = await scene.service.admin<{ id: string }>('POST', '/connections', {
        haulerId: scene.haulerId,
        interface: 'vision',
        baseUrl: scene.partner.url,
        apiKey: 'key',
      });
      expect(await sync(vision.body.id)).toBe(400);
      expect(await sync(randomUUID())).toBe(404);
      expect(await sync('x')).toBe(400);
      await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
      expect(await sync(scene.connectionId)).toBe(404);
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
        for (const id of connections) expect((await scene.runs(id)).map(({ status }) => status)).toEqual(['succeeded']);
      }, 15_000);
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
});

const NOW = new Date('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('when the next run is due (decision 36)', () => {
  test('after the interval, a tenth more or less', () => {
    expect([0, 0.5, 1].map((random) => nextRunMs(900, random))).toEqual([13.5 * MINUTE, 15 * MINUTE, 16.5 * MINUTE]);
  });

  test.each<[string, number, number, number | undefined, number]>([
    ['the first failure: as always', 900, 1, undefined, 15 * MINUTE],
    ['the second', 900, 2, undefined, 30 * MINUTE],
    ['the third: an hour', 900, 3, undefined, HOUR],
    ['the fourth: an hour', 900, 4, undefined, HOUR],
    ['the thousandth: an hour, never stopped for good', 900, 1000, undefined, HOUR],
    ['a minute doubles too', 60, 3, undefined, 4 * MINUTE],
    ['a minute doubles up to an hour', 60, 7, undefined, HOUR],
    ['two hours stay two hours', 7_200, 2, undefined, 2 * HOUR],
    ['a day stays a day', 86_400, 9, undefined, DAY],
    ['Retry-After within five minutes was honoured within the run', 900, 1, 5 * MINUTE, 15 * MINUTE],
    ['Retry-After of the last try, longer than the interval: not before', 60, 1, 4 * MINUTE, 4 * MINUTE],
    ['Retry-After beyond it, shorter than the interval', 900, 1, 10 * MINUTE, 15 * MINUTE],
    ['Retry-After beyond it, longer than the interval: due then', 900, 1, 20 * MINUTE, 20 * MINUTE],
    ['Retry-After beyond it, shorter than the backoff', 900, 9, 20 * MINUTE, HOUR],
    ['Retry-After of a year: a day', 900, 1, 365 * DAY, DAY],
    ['Retry-After in the past', 900, 1, -DAY, 15 * MINUTE],
  ])('%s', (_what, intervalSeconds, failures, asked, expected) => {
    const retryAt = asked === undefined ? undefined : new Date(NOW.getTime() + asked);
    expect(nextRunAfterFailureMs({ intervalSeconds, failures, retryAt, now: NOW }, 0.5)).toBe(expected);
  });

  test('failures are spread too', () => {
    const failed = { intervalSeconds: 600, failures: 1, retryAt: undefined, now: NOW };
    expect([0, 1].map((random) => nextRunAfterFailureMs(failed, random))).toEqual([9 * MINUTE, 11 * MINUTE]);
  });
});
