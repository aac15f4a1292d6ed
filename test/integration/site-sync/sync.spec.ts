import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { addSyncRun, insertTicket, whileSitesBreak } from '../../support/rows.js';
import { ADDRESS, idOf, kiosk, material, type Plain, type PlainSiteData, site } from '../../support/site-data.js';
import { answer, counts, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { parse } from 'csv-parse/sync';
import type { QuarantinedRecord, SyncRun } from '../../../src/contracts/admin/sync-runs.routes.js';

let scene: SiteScene;
beforeAll(async () => {
  scene = await SiteScene.start();
});
afterAll(() => scene.stop());
beforeEach(() => scene.renew());

describe('synchronising with a partner', () => {
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

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe('records that a run quarantines or flags (decisions 32 and 33)', () => {
  test('the run counts all of them by rule, and each group has a list of its own', async () => {
    const wrong = (name: string) => material(name, { siteId: idOf('a'), measureUnit: 'Gallon' });
    const run = await scene.sync({
      sites: [site('a'), site('b', { name: 7 }), site('c', { updatedAt: inHours(25) }), null as unknown as Plain],
      kiosks: [kiosk('k', 'x'), kiosk('l', 'a')],
      materials: [...['m', 'n', 'o'].map(wrong), material('p')],
    });
    expect(run.refusals?.map(({ sentence, kind, ruleId }) => [sentence, kind, ruleId])).toEqual([
      ['3 × wrong unit', 'materials', 'SITE-034'],
      ['1 × unknown site', 'kiosks', 'SITE-043'],

      ['1 × neither site nor kiosk', 'materials', 'SITE-037'],
      ['1 × wrong name of a site', 'sites', 'SITE-011'],
      ['1 × wrong record', 'sites', 'SITE-006'],
      ['1 × wrong time of the change', 'sites', 'SITE-019'],
    ]);
    const listed = await Promise.all(
      (run.refusals ?? []).map(async ({ severity, kind, field, rule }) => {
        const query = new URLSearchParams({ severity, kind, field, rule, pageSize: '100' }).toString();
        const { body } = await scene.service.admin<{ data: QuarantinedRecord[] }>(
          'GET',
          `/sync-runs/${run.id}/quarantine?${query}`,
        );
        return body.data.map(({ path }) => path).join();
      }),
    );
    expect(listed).toEqual([
      'materials[0].measureUnit,materials[1].measureUnit,materials[2].measureUnit',
      'kiosks[0].siteId',
      'materials[3]',
      'sites[1].name',
      'sites[3]',
      'sites[2].updatedAt',
    ]);
    const csv = await scene.service.call('GET', `/admin/v1/sync-runs/${run.id}/quarantine?kind=sites`, {
      headers: { Authorization: `Bearer ${scene.service.env.ADMIN_TOKEN}`, Accept: 'text/csv' },
    });
    expect(parse(csv.text, { columns: true })).toMatchObject([
      { kind: 'sites', path: 'sites[1].name', raw: expect.stringContaining('"name":7') },
      { kind: 'sites', path: 'sites[2].updatedAt' },
      { kind: 'sites', path: 'sites[3]', raw: '' },
    ]);
  });

  describe('a material with both parents, whose kiosk belongs to another site', () => {
    const sites = [site('a'), site('b')];
    const both = [material('m', { siteId: idOf('a'), kioskId: idOf('k') })];
    const older = { updatedAt: '2026-01-14T10:00:00Z' };

    test.each<[string, PlainSiteData, PlainSiteData, boolean]>([
      ['in the response is flagged', {}, { sites, kiosks: [kiosk('k', 'b')], materials: both }, true],
      ['in the stored kiosk is flagged', { sites, kiosks: [kiosk('k', 'b')] }, { materials: both }, true],
      [
        'no longer is not flagged',
        { sites, kiosks: [kiosk('k', 'b')] },
        { kiosks: [kiosk('k', 'a')], materials: both },
        false,
      ],
      [
        'in a stale kiosk only is not flagged',
        { sites, kiosks: [kiosk('k', 'a')] },
        { kiosks: [kiosk('k', 'b', older)], materials: both },
        false,
      ],
      [
        'in the stored kiosk is flagged, although the kiosk of the response is malformed',
        { sites, kiosks: [kiosk('k', 'b')] },
        { kiosks: [kiosk('k', 'a', { name: 7 })], materials: both },
        true,
      ],
    ])('%s', async (_what, stored, data, isFlagged) => {
      await scene.sync(stored);
      const run = await scene.sync(data);
      expect(run.counts.materials).toMatchObject({ created: 1, flagged: isFlagged ? 1 : 0 });
      const reason = `the kiosk ${idOf('k')} belongs to the site ${idOf('b')}`;
      const flagged = (await scene.quarantine(run.id)).filter(({ severity }) => severity === 'flagged');
      expect(flagged.map((issue) => issue.reason)).toEqual(isFlagged ? [reason] : []);
    });
  });

  test('all faults of a record are in one sentence, a long record is cut, and 10,000 issues are stored', async () => {
    const long = site('long', { name: 'x'.repeat(20_000), active: 'no' });
    const run = await scene.sync({ sites: [long, ...Array.from({ length: 10_005 }, () => 0 as unknown as Plain)] });
    expect(run.counts.sites).toMatchObject({ received: 10_006, quarantined: 10_006 });
    const [first] = await scene.quarantine(run.id);
    expect(first).toMatchObject({
      reason: expect.stringMatching(/sites\[0\]\.name .*; sites\[0\]\.active /),
      raw: expect.stringMatching(/^.{8000}$/),
    });
    const path = `/sync-runs/${run.id}/quarantine`;
    const { body } = await scene.service.admin<{ pagination: { totalItems: number } }>('GET', path);
    expect(body.pagination.totalItems).toBe(10_000);
  });

  test('a record that is nested too deep does not fail the run; a known field at such a depth is a fault of the record', async () => {
    const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1);
    const run = await scene.sync({ sites: [site('a', { name: deep }), site('b', { note: deep }), site('c')] });
    expect(run.status).toBe('succeeded');
    expect(counts(run, 'sites')).toEqual({ received: 3, created: 2, quarantined: 1 });
    expect(await scene.quarantine(run.id)).toMatchObject([{ path: 'sites[0].name', reason: expect.any(String) }]);
  });

  test('a record of more than 1 MiB is quarantined; its id is not read, so nothing of its kind is removed', async () => {
    await scene.sync({ sites: [site('a'), site('b')] });
    const run = await scene.sync({ sites: [site('b', { note: 'x'.repeat(1_100_000) }), site('c')] });
    expect(counts(run, 'sites')).toEqual({ received: 2, created: 1, quarantined: 1 });
    const reason = 'sites[0] must not be larger than 1 MiB';
    expect(await scene.quarantine(run.id)).toMatchObject([{ path: 'sites[0]', reason, raw: null }]);
  });

  test('the quarantine of the newest 20 runs is kept, of the same answers and of others', async () => {
    const faulty = (value: number) => ({ sites: [site('a', { name: value })] });
    const runs: SyncRun[] = [];
    for (let i = 0; i < 3; i++) runs.push(await scene.sync(faulty(7)));
    for (let i = 0; i < 17; i++) await addSyncRun(scene.service, scene.haulerId, scene.connectionId, 'succeeded');
    const sizes = () => Promise.all(runs.map(async ({ id }) => (await scene.quarantine(id)).length));
    expect(await sizes()).toEqual([1, 1, 1]);
    await scene.sync(faulty(7));
    expect(await sizes()).toEqual([0, 1, 1]);
    await scene.sync(faulty(8));
    expect(await sizes()).toEqual([0, 0, 1]);
  });
});
