import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { json } from '../../support/scripted-partner.js';
import { insertTicket, whileSitesBreak } from '../../support/rows.js';
import { ADDRESS, idOf, kiosk, material, site } from '../../support/site-data.js';
import { answer, counts, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

const OLDER = '2026-01-14T10:00:00Z';
const NEWER = '2026-01-16T10:00:00Z';

describe('synchronising with a partner', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  afterAll(() => scene.stop());
  beforeEach(() => scene.renew());

  const three = () => ({
    sites: [site('a', { address: ADDRESS }), site('b')],
    kiosks: [kiosk('k', 'a')],
    materials: [material('m', { kioskId: idOf('k') }), material('n', { siteId: idOf('b') })],
  });

  describe('a record that is sent again (decision 34)', () => {
    test('has the deactivatedAt of the first response that deactivated it', async () => {
      await scene.sync({ sites: [site('a'), site('b'), site('c')] });
      const since = async () =>
        (await scene.sites('&active=false')).map(({ deactivatedAt }) => Date.parse(deactivatedAt!));
      const run = await scene.sync({ sites: [site('b', { active: false }), site('c')] });
      const first = await since();
      expect(first).toHaveLength(2);
      for (const moment of first) {
        expect(moment).toBeGreaterThanOrEqual(Date.parse(run.startedAt!));
        expect(moment).toBeLessThanOrEqual(Date.parse(run.finishedAt!));
      }
      await scene.sync({ sites: [site('a', { active: false }), site('c')] });
      expect(await since()).toEqual(first);
    });

    test('with its first updatedAt is unchanged; an older one is stale from then on', async () => {
      await scene.sync({ sites: [site('a', { updatedAt: null })] });
      expect(counts(await scene.sync({ sites: [site('a')] }))).toEqual({ received: 1, unchanged: 1 });
      expect(await scene.sites()).toMatchObject([{ updatedAt: '2026-01-15T10:00:00Z' }]);
      expect(counts(await scene.sync({ sites: [site('a', { updatedAt: OLDER })] }))).toEqual({ received: 1, stale: 1 });
    });

    test('stays inactive while the partner sends active: false, and is restored afterwards', async () => {
      await scene.sync({ sites: [site('a', { active: false }), site('b')] });
      expect(counts(await scene.sync({ sites: [site('a', { active: false, name: 'A' }), site('b')] }))).toEqual({
        received: 2,
        updated: 1,
        unchanged: 1,
      });
      expect(counts(await scene.sync({ sites: [site('a'), site('b')] }))).toEqual({
        received: 2,
        restored: 1,
        unchanged: 1,
      });
    });
  });

  describe('the same response again', () => {
    test('writes nothing into the catalog', async () => {
      await scene.sync(three());
      const before = await scene.stored();
      const run = await scene.sync();
      expect(run.status).toBe('succeeded');
      expect(counts(run, 'materials')).toEqual({ received: 2, unchanged: 2 });
      expect(await scene.stored()).toEqual(before);
    });

    test('writes nothing into the catalog if its fields are in another order', async () => {
      await scene.sync(three());
      const before = await scene.stored();
      scene.partner.on(SITES_ROUTE, json({ data: { ...three(), depots: [] }, extra: 1, success: true }));
      expect(counts(await scene.sync())).toEqual({ received: 2, unchanged: 2 });
      expect(await scene.stored()).toEqual(before);
    });

    test.each<[string, () => Promise<unknown>, Record<string, number>]>([
      [
        'stale',
        () => scene.sync({ sites: [site('a', { updatedAt: NEWER }), site('b')] }),
        { received: 2, stale: 1, unchanged: 1 },
      ],
      ['restored', () => scene.sync({ sites: [site('b')] }), { received: 2, restored: 1, unchanged: 1 }],
    ])('is compared again after a record was %s', async (_what, prepare, expected) => {
      await scene.sync({ sites: [site('a'), site('b')] });
      await prepare();
      scene.answers({ sites: [site('a', { updatedAt: OLDER }), site('b')] });
      expect(counts(await scene.sync())).toEqual(expected);
      // From now on the same response is older than the stored record.
      expect(counts(await scene.sync())).toEqual({ received: 2, stale: 1, unchanged: 1 });
    });
  });

  describe('a record that is absent (decision 35)', () => {
    test('is deactivated once, without records of another connection', async () => {
      await scene.sync({ sites: [site('a')] });
      const other = await scene.connect();
      await scene.sync({ sites: [site('b'), site('c'), site('d')] }, other);
      for (const sites of [[site('b'), site('c')], [site('b')]]) {
        const run = await scene.sync({ sites }, other);
        expect([run.status, counts(run)]).toEqual([
          'succeeded',
          { received: sites.length, unchanged: sites.length, deactivated: 1 },
        ]);
      }
      expect((await scene.sites('&active=true')).map(({ externalId }) => externalId)).toEqual([idOf('b'), idOf('a')]);
    });

    test('belongs to the connection that sent it first, or to the one that restored it', async () => {
      const owners = async () => (await scene.sites()).map(({ connectionId }) => connectionId);
      await scene.sync({ sites: [site('a', { name: 'of one' }), site('z')] });
      const other = await scene.connect();
      await scene.sync({ sites: [site('a', { name: 'of the other' })] }, other);
      expect(await owners()).toEqual([scene.connectionId, scene.connectionId]);
      await scene.sync({ sites: [site('z')] });
      expect(counts(await scene.sync({ sites: [site('a')] }, other))).toEqual({ received: 1, restored: 1 });
      expect(await owners()).toEqual([scene.connectionId, other]);
    });

    test('passes from a deleted connection to the one that synchronises, and can be deactivated by it', async () => {
      await scene.sync(three());
      const third = await scene.connect();
      await scene.sync({ sites: [site('z')] }, third);
      await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
      const other = await scene.connect();
      const run = await scene.sync({ ...three(), sites: three().sites.slice(0, 1) }, other);
      expect(counts(run)).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
      expect((await scene.sites()).map(({ connectionId }) => connectionId)).toEqual([third, other, other]);
    });

    test('passes from a deleted connection also if the response of the other one is unchanged', async () => {
      const [its, all] = [{ sites: [site('b')] }, { sites: [site('a'), site('b')] }];
      const other = await scene.connect();
      await scene.sync(all);
      await scene.sync(all, other);
      await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
      expect(counts(await scene.sync(all, other))).toEqual({ received: 2, unchanged: 2 });
      expect((await scene.sites()).map(({ connectionId }) => connectionId)).toEqual([other, other]);
      expect(counts(await scene.sync(its, other))).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
    });

    test('because another connection removed it meanwhile is restored by the same response', async () => {
      const [all, less] = [{ sites: [site('a'), site('b')] }, { sites: [site('b')] }];
      const other = await scene.connect();
      await scene.sync(all);
      await scene.sync(all, other);
      const responses: (() => void)[] = [];
      scene.partner.on(SITES_ROUTE, (...asked) => void responses.push(() => answer(all)(...asked)));
      const run = await scene.request(other);
      await eventually(() => expect(responses).toHaveLength(1));
      expect(counts(await scene.sync(less))).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
      responses[0]?.();
      expect(counts(await scene.ended(run))).toEqual({ received: 2, unchanged: 1, restored: 1 });
    });

    test.each<[string, Record<string, unknown>, Record<string, number>, Record<string, number>]>([
      ['a new parent', { siteId: idOf('x') }, { received: 1, created: 1 }, { received: 1, unchanged: 1 }],
      [
        'a corrected parent',
        { siteId: idOf('y'), kioskId: idOf('k') },
        { received: 1, created: 1 },
        { received: 1, unchanged: 1 },
      ],
    ])(
      'is not quarantined for %s that another connection stores at the same time',
      async (_what, link, first, second) => {
        await scene.sync({ sites: [site('y'), site('z')], kiosks: [kiosk('k', 'z')] });
        const other = await scene.connect();
        await scene.service.admin('PATCH', `/connections/${other}`, { baseUrl: `${scene.partner.url}/other` });
        scene.partner.on(SITES_ROUTE.replace('GET ', 'GET /other'), answer({ materials: [material('m', link)] }));
        scene.answers({ sites: [site('x'), site('y'), site('z')], kiosks: [kiosk('k', 'y')] });
        const runs: string[] = [];
        await scene.whileCatalogIsLocked(async (waiting) => {
          for (const connectionId of [scene.connectionId, other]) {
            runs.push(await scene.request(connectionId));
            await eventually(async () => expect(await waiting()).toBe(runs.length));
          }
        });
        const [, run] = await Promise.all(runs.map((id) => scene.ended(id)));
        expect(counts(run!, 'materials')).toEqual(first);
        expect(counts(await scene.sync(undefined, other), 'materials')).toEqual(second);
        expect(counts(await scene.sync(undefined, other), 'materials')).toEqual({ received: 1, unchanged: 1 });
      },
    );

    test('differs from the response after a change by another connection: the next run updates it', async () => {
      await scene.sync({ sites: [site('a', { name: 'of one' })] });
      const other = await scene.connect();
      await scene.sync({ sites: [site('a', { name: 'of the other' })] }, other);
      expect(counts(await scene.sync({ sites: [site('a', { name: 'of one' })] }))).toEqual({ received: 1, updated: 1 });
    });
  });

  test('the tree of a held run counts neither old tickets nor those of another hauler with the same site', async () => {
    await scene.sync({ sites: [site('a')] });
    const held = await scene.sync({ sites: [] });
    const siteId = idOf('a');
    const newId = randomUUID();
    await insertTicket(scene.service, { id: '01900000-0000-7000-8000-000000000001', haulerId: scene.haulerId, siteId });
    await insertTicket(scene.service, { id: newId, haulerId: randomUUID(), siteId });
    const tree = async () => {
      const path = `/sync-runs/${held.id}/tree`;
      return (await scene.service.admin<{ data: { tickets: { count: number } }[] }>('GET', path)).body.data;
    };
    expect((await tree()).map(({ tickets }) => tickets.count)).toEqual([0]);
  });

  test('an unexpected error fails the run, and is logged with its stack and without links', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error');
    const sentence = 'An unexpected error happened: broken at https://video.example/a.mp4?[redacted]';
    await whileSitesBreak(scene.service, 'broken at https://video.example/a.mp4?sig=signed', async () => {
      expect(await scene.sync(three())).toMatchObject({ status: 'failed', error: sentence });
    });
    expect(logged.mock.calls).toEqual([[`${scene.connectionId}: ${sentence}`, expect.stringContaining('\n    at ')]]);
    expect(JSON.stringify(logged.mock.calls)).not.toContain('signed');
    logged.mockRestore();
  });
});
