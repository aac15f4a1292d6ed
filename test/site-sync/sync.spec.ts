import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { QuarantinedRecord, SyncRun } from '../../src/contracts/admin/sync-run.dto.js';
import { eventually } from '../support/eventually.js';
import { html, json, raw, type ScriptedReply } from '../support/scripted-partner.js';
import { ADDRESS, idOf, kiosk, material, site, siteData } from '../support/site-data.js';
import { answer, PARTNER_KEY, SITES_ROUTE, SiteScene } from '../support/site-scene.js';

const OLDER = '2026-01-14T10:00:00Z';
const NEWER = '2026-01-16T10:00:00Z';

/** Counts that are not zero. */
function counts(run: SyncRun, kind: 'sites' | 'kiosks' | 'materials' = 'sites'): Record<string, number> {
  return Object.fromEntries(Object.entries(run.counts[kind]).filter(([, count]) => count > 0));
}

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

  describe('the first answer (section 4.3, decision 31)', () => {
    test('is asked for as the contract says, and stored with ids of our own', async () => {
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

    test('keeps what is inactive, and text of all kinds', async () => {
      const name = 'tab\t, line\n, "quote", \\N, \\., ü, 🚛 and \u0001';
      const run = await scene.sync({ sites: [site('a', { name, active: false, updatedAt: null })] });
      expect(counts(run)).toEqual({ received: 1, created: 1 });
      const [found] = await scene.sites();
      expect(found).toMatchObject({ name, active: false });
      expect(found).not.toHaveProperty('updatedAt');
    });

    test('microseconds of a stamp count for order, and answers show milliseconds (decision 7)', async () => {
      await scene.sync({ sites: [site('a', { updatedAt: '2026-01-15T10:00:00.123456+02:00' })] });
      expect(await scene.sites()).toMatchObject([{ updatedAt: '2026-01-15T08:00:00.123Z' }]);
      const older = await scene.sync({ sites: [site('a', { name: 'x', updatedAt: '2026-01-15T08:00:00.123455Z' })] });
      expect(counts(older)).toEqual({ received: 1, stale: 1 });
      const newer = await scene.sync({ sites: [site('a', { name: 'y', updatedAt: '2026-01-15T08:00:00.123457Z' })] });
      expect(counts(newer)).toEqual({ received: 1, updated: 1 });
    });
  });

  describe('what has changed (decision 34)', () => {
    const first = site('a', { address: ADDRESS });
    const cases: [string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>][] = [
      ['nothing', first, { unchanged: 1 }, { name: 'Site a' }],
      [
        'a new stamp alone is unchanged, and stored',
        { ...first, updatedAt: NEWER },
        { unchanged: 1 },
        { updatedAt: NEWER },
      ],
      ['a stamp that is gone', { ...first, updatedAt: null }, { unchanged: 1 }, { updatedAt: '2026-01-15T10:00:00Z' }],
      [
        'new content, new stamp',
        { ...first, name: 'A', updatedAt: NEWER },
        { updated: 1 },
        { name: 'A', updatedAt: NEWER },
      ],
      ['new content, the same stamp', { ...first, name: 'A' }, { updated: 1 }, { name: 'A' }],
      ['new content, no stamp', { ...first, name: 'A', updatedAt: null }, { updated: 1 }, { name: 'A' }],
      ['an address that is gone', site('a'), { updated: 1 }, { name: 'Site a' }],
      [
        'older: stale, not applied',
        { ...first, name: 'A', updatedAt: OLDER },
        { stale: 1 },
        { name: 'Site a', updatedAt: '2026-01-15T10:00:00Z' },
      ],
      [
        'older, the same content: stale',
        { ...first, updatedAt: OLDER },
        { stale: 1 },
        { updatedAt: '2026-01-15T10:00:00Z' },
      ],
      [
        'active: false is a statement',
        { ...first, active: false },
        { deactivated: 1 },
        { active: false, name: 'Site a' },
      ],
      [
        'active: false and new content',
        { ...first, active: false, name: 'A', updatedAt: NEWER },
        { deactivated: 1 },
        { active: false, name: 'A' },
      ],
      [
        'active: false, but older: stale',
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
      ['as it was', {}, { name: 'Site a', active: true }],
      ['with new content', { name: 'A', updatedAt: NEWER }, { name: 'A', active: true, updatedAt: NEWER }],
      ['older: restored, its content not applied', { name: 'A', updatedAt: OLDER }, { name: 'Site a', active: true }],
    ])('a record that comes back is always restored: %s', async (_what, change, stored) => {
      await scene.sync({ sites: [site('a'), site('b')] });
      expect(counts(await scene.sync({ sites: [site('b')] }))).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
      const run = await scene.sync({ sites: [site('a', change), site('b')] });
      expect(counts(run)).toEqual({ received: 2, unchanged: 1, restored: 1 });
      const found = await scene.sites(`&siteId=${idOf('a')}`);
      expect(found).toMatchObject([stored]);
      expect(found[0]).not.toHaveProperty('deactivatedAt');
    });

    test('since when a record is inactive is that of the first answer that says so', async () => {
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

    test('the first stamp of a record is stored, and counts from then on', async () => {
      await scene.sync({ sites: [site('a', { updatedAt: null })] });
      expect(counts(await scene.sync({ sites: [site('a')] }))).toEqual({ received: 1, unchanged: 1 });
      expect(await scene.sites()).toMatchObject([{ updatedAt: '2026-01-15T10:00:00Z' }]);
      expect(counts(await scene.sync({ sites: [site('a', { updatedAt: OLDER })] }))).toEqual({ received: 1, stale: 1 });
    });

    test('one that was stated inactive stays so while it is, and is restored by the word of the partner', async () => {
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

  describe('the same answer again', () => {
    test('writes nothing into the catalog', async () => {
      await scene.sync(three());
      const before = await scene.stored();
      const run = await scene.sync();
      expect(run.status).toBe('succeeded');
      expect(counts(run, 'materials')).toEqual({ received: 2, unchanged: 2 });
      expect(await scene.stored()).toEqual(before);
    });

    test('writes nothing into the catalog either if its fields are in another order', async () => {
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
      // Whatever it was, from now on the same answer is older than what is stored.
      expect(counts(await scene.sync())).toEqual({ received: 2, stale: 1, unchanged: 1 });
    });
  });

  describe('links and bad records (decisions 32 and 33)', () => {
    test('one malformed record never fails the run, and what is stored under its id stays', async () => {
      await scene.sync(three());
      const before = await scene.stored();
      const { sites, kiosks, materials } = three();
      const bad = material('m', { kioskId: idOf('k'), measureUnit: 'Gallon', note: 'kept' });
      const run = await scene.sync({ sites, kiosks, materials: [materials[1]!, bad] });
      expect(run.status).toBe('succeeded');
      expect(counts(run, 'materials')).toEqual({ received: 2, unchanged: 1, quarantined: 1 });
      expect(await scene.stored()).toEqual(before);
      expect(await scene.quarantine(run.id)).toEqual([
        {
          severity: 'quarantined',
          ruleId: 'SITE-034',
          kind: 'materials',
          path: 'materials[1].measureUnit',
          reason: expect.stringContaining('must be one of'),
          raw: bad,
        },
      ]);
    });

    test('nor does one that is nested too deep: what is known of it is read', async () => {
      const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1);
      const run = await scene.sync({ sites: [site('a', { name: deep }), site('b', { note: deep }), site('c')] });
      expect(run.status).toBe('succeeded');
      expect(counts(run, 'sites')).toEqual({ received: 3, created: 2, quarantined: 1 });
      expect(await scene.quarantine(run.id)).toMatchObject([{ path: 'sites[0].name', reason: expect.any(String) }]);
    });

    test('nor does one of more than 1 MiB, which is told as that; as its id is not read, nothing is removed', async () => {
      await scene.sync({ sites: [site('a'), site('b')] });
      const run = await scene.sync({ sites: [site('b', { note: 'x'.repeat(1_100_000) }), site('c')] });
      expect(counts(run, 'sites')).toEqual({ received: 2, created: 1, quarantined: 1 });
      const reason = 'sites[0] must not be larger than 1 MiB';
      expect(await scene.quarantine(run.id)).toMatchObject([{ path: 'sites[0]', reason, raw: null }]);
    });

    test('what is set aside has pages, in the order of the answer', async () => {
      const run = await scene.sync({ sites: Array.from({ length: 5 }, (_, i) => site(`q${i}`, { name: i })) });
      const path = `/sync-runs/${run.id}/quarantine?pageSize=2&page=2`;
      const { body } = await scene.service.admin<{ data: QuarantinedRecord[]; pagination: unknown }>('GET', path);
      expect(body.data.map((record) => record.path)).toEqual(['sites[2].name', 'sites[3].name']);
      expect(body.pagination).toEqual({ page: 2, pageSize: 2, totalItems: 5, totalPages: 3 });
    });

    test('orphans are set aside, parents that are stored are known although malformed now', async () => {
      await scene.sync({ sites: [site('a')], kiosks: [kiosk('k', 'a')] });
      const run = await scene.sync({
        sites: [site('a', { name: 7 })],
        kiosks: [kiosk('k', 'a', { siteId: 'x' }), kiosk('l', 'a'), kiosk('o', 'nowhere')],
        materials: [material('m', { kioskId: idOf('k') }), material('o', { kioskId: idOf('o') }), material('p')],
      });
      expect(counts(run)).toEqual({ received: 1, quarantined: 1 });
      expect(counts(run, 'kiosks')).toEqual({ received: 3, created: 1, quarantined: 2 });
      expect(counts(run, 'materials')).toEqual({ received: 3, created: 1, quarantined: 2 });
      expect((await scene.quarantine(run.id)).map(({ path }) => path).sort()).toEqual([
        'kiosks[0].siteId',
        'kiosks[2].siteId',
        'materials[1].kioskId',
        'materials[2]',
        'sites[0].name',
      ]);
    });

    test("an orphan is taken once its parent is known, and another hauler's parents are not", async () => {
      await scene.sync({ sites: [site('a')] });
      const [first, firstHauler] = [scene.connectionId, scene.haulerId];
      await scene.renew();
      const orphan = { kiosks: [kiosk('k', 'a')] };
      expect(counts(await scene.sync(orphan), 'kiosks')).toEqual({ received: 1, quarantined: 1 });
      expect(counts(await scene.sync({ sites: [site('a')], ...orphan }), 'kiosks')).toEqual({
        received: 1,
        created: 1,
      });
      scene.haulerId = firstHauler;
      expect(counts(await scene.sync(orphan, first), 'kiosks')).toEqual({ received: 1, created: 1 });
    });

    test('both links that contradict each other are kept and flagged, until they no longer do', async () => {
      const data = (siteName: string) => ({
        sites: [site('a'), site('b')],
        kiosks: [kiosk('k', 'a')],
        materials: [material('m', { siteId: idOf(siteName), kioskId: idOf('k') })],
      });
      const run = await scene.sync(data('b'));
      expect(counts(run, 'materials')).toEqual({ received: 1, created: 1, flagged: 1 });
      expect(await scene.quarantine(run.id)).toMatchObject([
        { severity: 'flagged', path: 'materials[0].kioskId', raw: data('b').materials[0] },
      ]);
      expect(await scene.materials()).toMatchObject([{ flaggedReason: expect.stringContaining(idOf('a')) }]);
      expect(counts(await scene.sync(), 'materials')).toEqual({ received: 1, unchanged: 1, flagged: 1 });
      expect(counts(await scene.sync(data('a')), 'materials')).toEqual({ received: 1, updated: 1 });
      expect((await scene.materials())[0]).not.toHaveProperty('flaggedReason');
    });

    test('of a repeated id the first counts', async () => {
      const run = await scene.sync({ sites: [site('a', { name: 'first' }), site('a', { name: 'second' })] });
      expect(counts(run)).toEqual({ received: 2, created: 1, quarantined: 1 });
      expect(await scene.sites()).toMatchObject([{ name: 'first' }]);
    });

    test.each<[string, unknown]>([
      ['is missing', site('c', { id: undefined })],
      ['is no UUID', site('c', { id: 'c' })],
      ['cannot be, the element being null', null],
    ])('no removal of a kind where an id %s; other kinds are not spared', async (_what, broken) => {
      await scene.sync(three());
      const run = await scene.sync({
        sites: [site('a', { address: ADDRESS }), broken as never],
        kiosks: [kiosk('k', 'a')],
        materials: [material('m', { kioskId: idOf('k') })],
      });
      expect(counts(run)).toEqual({ received: 2, unchanged: 1, quarantined: 1 });
      expect(counts(run, 'materials')).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
      expect(await scene.sites('&active=true')).toHaveLength(2);
    });

    test.each<[string, number]>([
      ['the same answer again', 7],
      ['another answer', 8],
    ])('what was set aside is kept of the newest 20 runs; %s lets go of the one before', async (_what, name) => {
      const faulty = (value: number) => ({ sites: [site('a', { name: value })] });
      const [first, second] = [await scene.sync(faulty(7)), await scene.sync()];
      await scene.service.dataSource.query(
        `INSERT INTO sync_runs (id, hauler_id, connection_id, status, counts)
         SELECT gen_random_uuid(), hauler_id, connection_id, 'failed', counts FROM sync_runs, generate_series(1, 17)
         WHERE id = $1`,
        [first.id],
      );
      const set = async (run: SyncRun) => (await scene.quarantine(run.id)).length;
      const third = await scene.sync(faulty(7));
      expect([await set(first), await set(second), await set(third)]).toEqual([1, 1, 1]);
      const last = await scene.sync(faulty(name));
      expect([await set(first), await set(second), await set(last)]).toEqual([0, 1, 1]);
      expect(await set(await scene.sync())).toBe(1);
    });

    test('our key does not stay in what is set aside, wherever the partner echoes it (decision 18)', async () => {
      const run = await scene.sync({ sites: [site('a', { name: [PARTNER_KEY], [PARTNER_KEY]: `x${PARTNER_KEY}` })] });
      expect(counts(run)).toEqual({ received: 1, quarantined: 1 });
      expect(JSON.stringify(await scene.quarantine(run.id))).not.toContain(PARTNER_KEY);
      const rows = await scene.service.dataSource.query<unknown[]>('SELECT * FROM sync_issues');
      expect(JSON.stringify(rows)).not.toContain(PARTNER_KEY);
    });
  });

  describe('what an answer does not contain (decision 35)', () => {
    test('becomes inactive, never deleted, up to five at once', async () => {
      await scene.sync(siteData(6, 0, 0));
      const run = await scene.sync({ ...siteData(1, 0, 0) });
      expect([run.status, counts(run)]).toEqual(['succeeded', { received: 1, unchanged: 1, deactivated: 5 }]);
      expect(await scene.sites()).toHaveLength(6);
      expect(await scene.sites('&active=false')).toHaveLength(5);
    });

    test('an omitted array states nothing, neither does null', async () => {
      await scene.sync(three());
      const before = await scene.stored();
      for (const data of [{}, { sites: null, kiosks: null, materials: null }]) {
        scene.partner.on(SITES_ROUTE, answer(data));
        const run = await scene.sync();
        expect([run.status, counts(run)]).toEqual(['succeeded', {}]);
      }
      expect(await scene.stored()).toEqual(before);
    });

    test('404 changes nothing: no_data, which is no failure', async () => {
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
      ['a page', html(404), 'answered with an HTML page instead of JSON.'],
      ['no body', raw('', { status: 404 }), 'answered with an empty body instead of JSON.'],
      ['the words of a gateway', json({ message: 'no route' }, { status: 404 }), 'with error.code NOT_FOUND.'],
    ])('404 with %s: no_data too, but it is told that the address may be wrong', async (_, reply, reason) => {
      await scene.sync(three());
      const before = await scene.stored();
      scene.partner.on(SITES_ROUTE, reply);
      const error = expect.stringMatching(/^The 404 is not the contract's, so the address may be wrong: /);
      const run = await scene.sync();
      expect(run).toMatchObject({ status: 'no_data', error });
      expect(run.error).toContain(reason);
      expect(await scene.stored()).toEqual(before);
      expect(await scene.connection('attempts, last_error')).toEqual({ attempts: 0, last_error: null });
    });

    test("is judged by what came through this connection: another connection's records stay", async () => {
      await scene.sync({ sites: [site('a')] });
      const other = await scene.connect();
      expect(counts(await scene.sync({ sites: [site('b')] }, other))).toEqual({ received: 1, created: 1 });
      expect(await scene.sites('&active=true')).toHaveLength(2);
    });

    test('once: neither the records of another connection nor what is inactive already go with it', async () => {
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

    test('what others tell of a record leaves it to its connection, unless they bring it back', async () => {
      const owners = async () => (await scene.sites()).map(({ connectionId }) => connectionId);
      await scene.sync({ sites: [site('a', { name: 'of one' }), site('z')] });
      const other = await scene.connect();
      await scene.sync({ sites: [site('a', { name: 'of the other' })] }, other);
      expect(await owners()).toEqual([scene.connectionId, scene.connectionId]);
      await scene.sync({ sites: [site('z')] });
      expect(counts(await scene.sync({ sites: [site('a')] }, other))).toEqual({ received: 1, restored: 1 });
      expect(await owners()).toEqual([scene.connectionId, other]);
    });

    test('what came through a deleted connection passes to the one that runs', async () => {
      await scene.sync(three());
      const third = await scene.connect();
      await scene.sync({ sites: [site('z')] }, third);
      await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
      const other = await scene.connect();
      const run = await scene.sync({ ...three(), sites: three().sites.slice(0, 1) }, other);
      expect(counts(run)).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
      expect((await scene.sites()).map(({ connectionId }) => connectionId)).toEqual([third, other, other]);
    });

    test("it passes to the one that runs although that one's answer is the same, and may be removed by it", async () => {
      const [its, all] = [{ sites: [site('b')] }, { sites: [site('a'), site('b')] }];
      const other = await scene.connect();
      await scene.sync(all);
      await scene.sync(all, other);
      await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
      expect(counts(await scene.sync(all, other))).toEqual({ received: 2, unchanged: 2 });
      expect((await scene.sites()).map(({ connectionId }) => connectionId)).toEqual([other, other]);
      expect(counts(await scene.sync(its, other))).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
    });

    test('a record that another connection removes while the same answer is on its way is restored', async () => {
      const [all, less] = [{ sites: [site('a'), site('b')] }, { sites: [site('b')] }];
      const other = await scene.connect();
      await scene.sync(all);
      await scene.sync(all, other);
      const underWay: (() => void)[] = [];
      scene.partner.on(SITES_ROUTE, (...asked) => void underWay.push(() => answer(all)(...asked)));
      const run = await scene.request(other);
      await eventually(() => expect(underWay).toHaveLength(1));
      expect(counts(await scene.sync(less))).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
      underWay[0]?.();
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
    ])('%s that another connection stores meanwhile is known', async (_what, link, first, second) => {
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
    });

    test("what another connection has changed is put right by the next run, although the partner's answer is the same", async () => {
      await scene.sync({ sites: [site('a', { name: 'of one' })] });
      const other = await scene.connect();
      await scene.sync({ sites: [site('a', { name: 'of the other' })] }, other);
      expect(counts(await scene.sync({ sites: [site('a', { name: 'of one' })] }))).toEqual({ received: 1, updated: 1 });
    });
  });

  test('a fault of ours fails the run, and is logged with its stack, without the links in it', async () => {
    const { dataSource } = scene.service;
    await dataSource.query(`
      CREATE FUNCTION break_sites() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'broken at https://films.example/a.mp4?sig=signed'; END $$;
      CREATE TRIGGER break_sites BEFORE INSERT ON sites EXECUTE FUNCTION break_sites()`);
    const logged = jest.spyOn(Logger.prototype, 'error');
    const told = 'An unexpected error happened: broken at https://films.example/a.mp4?[redacted]';
    try {
      expect(await scene.sync(three())).toMatchObject({ status: 'failed', error: told });
      expect(logged.mock.calls).toEqual([[`${scene.connectionId}: ${told}`, expect.stringContaining('\n    at ')]]);
      expect(JSON.stringify(logged.mock.calls)).not.toContain('signed');
    } finally {
      logged.mockRestore();
      await dataSource.query('DROP FUNCTION break_sites CASCADE');
    }
  });
});
