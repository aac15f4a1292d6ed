import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../support/eventually.js';
import { html, json, raw, type ScriptedReply } from '../../support/scripted-partner.js';
import { ADDRESS, idOf, kiosk, material, site, siteData } from '../../support/site-data.js';
import { answer, counts, PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

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

  describe('the first synchronisation (section 4.3, decision 31)', () => {
    test('sends the request of the contract, and stores the records with ids of our own', async () => {
      const run = await scene.sync(three());
      expect(run).toMatchObject({ status: 'succeeded', connectionId: scene.connectionId });
      expect([counts(run), counts(run, 'kiosks'), counts(run, 'materials')]).toEqual([
        { received: 2, created: 2 },
        { received: 1, created: 1 },
        { received: 2, created: 2 },
      ]);
      const [asked] = scene.partner.askedOf(SITES_ROUTE);
      expect(asked?.headers['api-key']).toBe(PARTNER_KEY);
      expect([...(asked?.query ?? [])]).toEqual([['haulerId', scene.haulerId]]);

      const [found] = await scene.sites(`&siteId=${idOf('a')}`);
      expect(found).toEqual({
        id: expect.not.stringContaining(idOf('a')),
        externalId: idOf('a'),
        haulerId: scene.haulerId,
        connectionId: scene.connectionId,
        name: 'Site a',
        address: ADDRESS,
        active: true,
        updatedAt: '2026-01-15T10:00:00Z',
      });
      expect((await scene.kiosks())[0]).toMatchObject({ externalId: idOf('k'), siteId: idOf('a'), name: 'Kiosk k' });
      expect(await scene.materials()).toMatchObject([
        { externalId: idOf('n'), siteId: idOf('b'), materialType: 'Type n', measureUnit: 'Ton' },
        { externalId: idOf('m'), kioskId: idOf('k') },
      ]);
    });

    test('stores inactive records, and any text', async () => {
      const name = 'tab\t, line\n, "quote", \\N, \\., ü, 🚛 and \u0001';
      const run = await scene.sync({ sites: [site('a', { name, active: false, updatedAt: null })] });
      expect(counts(run)).toEqual({ received: 1, created: 1 });
      const [found] = await scene.sites();
      expect(found).toMatchObject({ name, active: false });
      expect(found).not.toHaveProperty('updatedAt');
    });

    test('compares updatedAt by microseconds, and shows milliseconds (decision 7)', async () => {
      await scene.sync({ sites: [site('a', { updatedAt: '2026-01-15T10:00:00.123456+02:00' })] });
      expect(await scene.sites()).toMatchObject([{ updatedAt: '2026-01-15T08:00:00.123Z' }]);
      const older = await scene.sync({ sites: [site('a', { name: 'x', updatedAt: '2026-01-15T08:00:00.123455Z' })] });
      expect(counts(older)).toEqual({ received: 1, stale: 1 });
      const newer = await scene.sync({ sites: [site('a', { name: 'y', updatedAt: '2026-01-15T08:00:00.123457Z' })] });
      expect(counts(newer)).toEqual({ received: 1, updated: 1 });
    });
  });

  describe('a record that is sent again (decision 34)', () => {
    const first = site('a', { address: ADDRESS });
    const cases: [string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>][] = [
      ['without a change is unchanged', first, { unchanged: 1 }, { name: 'Site a' }],
      [
        'with a new updatedAt only is unchanged, and its updatedAt is stored',
        { ...first, updatedAt: NEWER },
        { unchanged: 1 },
        { updatedAt: NEWER },
      ],
      [
        'without its updatedAt is unchanged',
        { ...first, updatedAt: null },
        { unchanged: 1 },
        { updatedAt: '2026-01-15T10:00:00Z' },
      ],
      [
        'with new content and a new updatedAt is updated',
        { ...first, name: 'A', updatedAt: NEWER },
        { updated: 1 },
        { name: 'A', updatedAt: NEWER },
      ],
      ['with new content and the same updatedAt is updated', { ...first, name: 'A' }, { updated: 1 }, { name: 'A' }],
      [
        'with new content and no updatedAt is updated',
        { ...first, name: 'A', updatedAt: null },
        { updated: 1 },
        { name: 'A' },
      ],
      ['without its address is updated', site('a'), { updated: 1 }, { name: 'Site a' }],
      [
        'with an older updatedAt is stale, and not applied',
        { ...first, name: 'A', updatedAt: OLDER },
        { stale: 1 },
        { name: 'Site a', updatedAt: '2026-01-15T10:00:00Z' },
      ],
      [
        'with the same content and an older updatedAt is stale',
        { ...first, updatedAt: OLDER },
        { stale: 1 },
        { updatedAt: '2026-01-15T10:00:00Z' },
      ],
      [
        'with active: false is deactivated',
        { ...first, active: false },
        { deactivated: 1 },
        { active: false, name: 'Site a' },
      ],
      [
        'with active: false and new content is deactivated and updated',
        { ...first, active: false, name: 'A', updatedAt: NEWER },
        { deactivated: 1 },
        { active: false, name: 'A' },
      ],
      [
        'with active: false and an older updatedAt is stale',
        { ...first, active: false, updatedAt: OLDER },
        { stale: 1 },
        { active: true },
      ],
    ];
    test.each(cases)('%s', async (_what, second, expected, stored) => {
      await scene.sync({ sites: [first] });
      const run = await scene.sync({ sites: [second] });
      expect([run.status, counts(run)]).toEqual(['succeeded', { received: 1, ...expected }]);
      const [found] = await scene.sites();
      expect(found).toMatchObject(stored);
      expect('deactivatedAt' in found!).toBe(!found!.active);
      if (_what.includes('address')) expect(found).not.toHaveProperty('address');
    });

    test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
      ['with the same content', {}, { name: 'Site a', active: true }],
      ['with new content', { name: 'A', updatedAt: NEWER }, { name: 'A', active: true, updatedAt: NEWER }],
      ['with older content, which is not applied', { name: 'A', updatedAt: OLDER }, { name: 'Site a', active: true }],
    ])('is always restored after its removal: %s', async (_what, change, stored) => {
      await scene.sync({ sites: [site('a'), site('b')] });
      expect(counts(await scene.sync({ sites: [site('b')] }))).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
      const run = await scene.sync({ sites: [site('a', change), site('b')] });
      expect(counts(run)).toEqual({ received: 2, unchanged: 1, restored: 1 });
      const found = await scene.sites(`&siteId=${idOf('a')}`);
      expect(found).toMatchObject([stored]);
      expect(found[0]).not.toHaveProperty('deactivatedAt');
    });

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
    test('becomes inactive and is not deleted, up to five at once', async () => {
      await scene.sync(siteData(6, 0, 0));
      const run = await scene.sync({ ...siteData(1, 0, 0) });
      expect([run.status, counts(run)]).toEqual(['succeeded', { received: 1, unchanged: 1, deactivated: 5 }]);
      expect(await scene.sites()).toHaveLength(6);
      expect(await scene.sites('&active=false')).toHaveLength(5);
    });

    test('stays active if its array is omitted or null', async () => {
      await scene.sync(three());
      const before = await scene.stored();
      for (const data of [{}, { sites: null, kiosks: null, materials: null }]) {
        scene.partner.on(SITES_ROUTE, answer(data));
        const run = await scene.sync();
        expect([run.status, counts(run)]).toEqual(['succeeded', {}]);
      }
      expect(await scene.stored()).toEqual(before);
    });

    test('stays active after a 404: the run has no_data, which is no failure', async () => {
      await scene.sync(three());
      const before = await scene.stored();
      scene.partner.reset();
      const run = await scene.sync();
      expect(run).toMatchObject({ status: 'no_data', finishedAt: expect.any(String) });
      expect(run).not.toHaveProperty('error');
      expect(await scene.stored()).toEqual(before);
      const connection = await scene.connection('attempts, last_error');
      expect(connection).toEqual({ attempts: 0, last_error: null });
    });

    test.each<[string, ScriptedReply, string]>([
      ['an HTML page', html(404), 'answered with an HTML page instead of JSON.'],
      ['no body', raw('', { status: 404 }), 'answered with an empty body instead of JSON.'],
      ['the body of a gateway', json({ message: 'no route' }, { status: 404 }), 'with error.code NOT_FOUND.'],
    ])(
      'stays active after a 404 with %s: the run has no_data, and reports that the address may be wrong',
      async (_, reply, reason) => {
        await scene.sync(three());
        const before = await scene.stored();
        scene.partner.on(SITES_ROUTE, reply);
        const error = expect.stringMatching(/^The 404 is not the contract's, so the address may be wrong: /);
        const run = await scene.sync();
        expect(run).toMatchObject({ status: 'no_data', error });
        expect(run.error).toContain(reason);
        expect(await scene.stored()).toEqual(before);
        expect(await scene.connection('attempts, last_error')).toEqual({ attempts: 0, last_error: null });
      },
    );

    test('stays active if it came through another connection', async () => {
      await scene.sync({ sites: [site('a')] });
      const other = await scene.connect();
      expect(counts(await scene.sync({ sites: [site('b')] }, other))).toEqual({ received: 1, created: 1 });
      expect(await scene.sites('&active=true')).toHaveLength(2);
    });

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

  test('an unexpected error fails the run, and is logged with its stack and without links', async () => {
    const { dataSource } = scene.service;
    await dataSource.query(`
      CREATE FUNCTION break_sites() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'broken at https://video.example/a.mp4?sig=signed'; END $$;
      CREATE TRIGGER break_sites BEFORE INSERT ON sites EXECUTE FUNCTION break_sites()`);
    const logged = jest.spyOn(Logger.prototype, 'error');
    const sentence = 'An unexpected error happened: broken at https://video.example/a.mp4?[redacted]';
    try {
      expect(await scene.sync(three())).toMatchObject({ status: 'failed', error: sentence });
      expect(logged.mock.calls).toEqual([[`${scene.connectionId}: ${sentence}`, expect.stringContaining('\n    at ')]]);
      expect(JSON.stringify(logged.mock.calls)).not.toContain('signed');
    } finally {
      logged.mockRestore();
      await dataSource.query('DROP FUNCTION break_sites CASCADE');
    }
  });
});
