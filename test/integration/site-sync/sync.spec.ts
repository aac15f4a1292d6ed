import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { insertTicket, whileSitesBreak } from '../../support/rows.js';
import { ADDRESS, idOf, kiosk, material, site } from '../../support/site-data.js';
import { answer, counts, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

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
  });

  describe('a record that is absent (decision 35)', () => {
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
