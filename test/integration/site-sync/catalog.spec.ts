import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import type { SyncChange } from '../../../src/contracts/admin/sync-change.dto.js';
import type { SyncRun } from '../../../src/contracts/admin/sync-run.dto.js';
import { findReferences } from '../../../src/site-sync/catalog/catalog.repository.js';
import { createHauler } from '../../support/api-keys.js';
import { CatalogFixture } from '../../support/catalog.js';
import { html } from '../../support/scripted-partner.js';
import { ADDRESS, idOf, kiosk, material, site, STAMP } from '../../support/site-data.js';
import { SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

describe('findReferences', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let catalog: CatalogFixture;
  let hauler: string;
  let site: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await database.connect();
    catalog = new CatalogFixture(dataSource);
    hauler = await catalog.hauler();
    site = await catalog.site(hauler);
  });
  afterAll(() => database.drop());

  const sitesOf = async (materialId: string) => {
    const findings = await findReferences(dataSource, [{ haulerId: hauler, siteId: site, materialIds: [materialId] }]);
    const sites = findings.sitesOf(hauler, materialId);
    return sites === undefined ? undefined : [...sites].sort();
  };

  test('finds a site, and not an unknown one', async () => {
    const unknown = randomUUID();
    const findings = await findReferences(dataSource, [
      { haulerId: hauler, siteId: site, materialIds: [] },
      { haulerId: hauler, siteId: unknown, materialIds: [] },
    ]);
    expect(findings.hasSite(hauler, site)).toBe(true);
    expect(findings.hasSite(hauler, unknown)).toBe(false);
  });

  test("does not find another hauler's sites and materials (decision 1)", async () => {
    const other = await catalog.hauler();
    const material = await catalog.material(hauler, { siteId: site });
    const findings = await findReferences(dataSource, [{ haulerId: other, siteId: site, materialIds: [material] }]);
    expect(findings.hasSite(other, site)).toBe(false);
    expect(findings.sitesOf(other, material)).toBeUndefined();
  });

  test('distinguishes equal ids of two haulers', async () => {
    const other = await catalog.hauler();
    const otherSite = await catalog.site(other);
    const id = await catalog.material(hauler, { siteId: site });
    await catalog.material(other, { siteId: otherSite }, { id });
    const findings = await findReferences(dataSource, [
      { haulerId: hauler, siteId: site, materialIds: [id] },
      { haulerId: other, siteId: otherSite, materialIds: [id] },
    ]);
    expect([...findings.sitesOf(hauler, id)!]).toEqual([site]);
    expect([...findings.sitesOf(other, id)!]).toEqual([otherSite]);
  });

  test('returns the site of a material with a site, with a kiosk, and with both (decision 32)', async () => {
    const second = await catalog.site(hauler);
    const kiosk = await catalog.kiosk(hauler, second);
    expect(await sitesOf(await catalog.material(hauler, { siteId: site }))).toEqual([site]);
    expect(await sitesOf(await catalog.material(hauler, { kioskId: kiosk }))).toEqual([second]);
    expect(await sitesOf(await catalog.material(hauler, { siteId: site, kioskId: kiosk }))).toEqual(
      [site, second].sort(),
    );
  });

  test('distinguishes an unknown material from one with an unknown kiosk', async () => {
    expect(await sitesOf(randomUUID())).toBeUndefined();
    expect(await sitesOf(await catalog.material(hauler, { kioskId: randomUUID() }))).toEqual([]);
  });

  test('accepts inactive sites and materials (decision 24)', async () => {
    const closed = await catalog.site(hauler, { active: false });
    const retired = await catalog.material(hauler, { siteId: closed }, { active: false });
    const findings = await findReferences(dataSource, [{ haulerId: hauler, siteId: closed, materialIds: [retired] }]);
    expect(findings.hasSite(hauler, closed)).toBe(true);
    expect(findings.sitesOf(hauler, retired)?.has(closed)).toBe(true);
  });

  test('finds a record at once after it was stored', async () => {
    const id = randomUUID();
    expect(await sitesOf(id)).toBeUndefined();
    await catalog.material(hauler, { siteId: site }, { id });
    expect(await sitesOf(id)).toEqual([site]);
  });
});

interface Page {
  readonly data: { readonly id: string; readonly externalId: string }[];
  readonly pagination: unknown;
}

/** `GET /sites`, `/kiosks`, `/materials` and `/sync-runs` of the admin API. */
describe('the lists of the catalog in the admin API', () => {
  let scene: SiteScene;
  let otherHauler: string;
  let runs: SyncRun[];

  beforeAll(async () => {
    scene = await SiteScene.start();
    await scene.renew();
    const data = {
      sites: [site('a', { address: ADDRESS }), site('b', { active: false })],
      kiosks: [kiosk('ka', 'a'), kiosk('kb', 'b'), kiosk('kc', 'a', { active: false, updatedAt: undefined })],
      materials: [
        material('on site a', { siteId: idOf('a') }),
        material('on kiosk of a', { kioskId: idOf('ka') }),
        material('on both', { siteId: idOf('a'), kioskId: idOf('kc') }),
        material('on kiosk of b', { kioskId: idOf('kb'), active: false }),
        material('on a, kiosk of b', { siteId: idOf('a'), kioskId: idOf('kb') }),
      ],
    };
    const first = await scene.sync(data);
    scene.partner.on(SITES_ROUTE, html());
    runs = [await scene.sync(), first];
    // Another hauler whose partner uses the same ids.
    otherHauler = await createHauler(scene.service);
    const other = await scene.connect({ haulerId: otherHauler });
    runs.unshift(
      await scene.sync(
        {
          sites: [site('a'), site('z')],
          kiosks: [kiosk('ka', 'z')],
          materials: [material('on kiosk of a', { kioskId: idOf('ka') })],
        },
        other,
      ),
    );
  });
  afterAll(() => scene.stop());

  const list = async (path: string) => (await scene.service.admin<Page>('GET', path)).body;
  const ids = async (path: string) => (await list(path)).data.map(({ externalId }) => externalId).sort();
  const of = (...names: string[]) => names.map(idOf).sort();

  test.each<[string, string[]]>([
    ['/sites?haulerId=H', ['a', 'b']],
    ['/sites?haulerId=H&active=true', ['a']],
    ['/sites?haulerId=H&active=false', ['b']],
    ['/sites', ['a', 'a', 'b', 'z']],
    ['/sites?siteId=A', ['a', 'a']],
    ['/sites?haulerId=H&siteId=A', ['a']],
    ['/kiosks?haulerId=H', ['ka', 'kb', 'kc']],
    ['/kiosks?haulerId=H&siteId=A', ['ka', 'kc']],
    ['/kiosks?haulerId=H&siteId=A&active=true', ['ka']],
    ['/materials?haulerId=H&active=false', ['on kiosk of b']],
    ['/materials?haulerId=H&siteId=A', ['on site a', 'on kiosk of a', 'on both', 'on a, kiosk of b']],
    ['/materials?haulerId=H&siteId=B', ['on kiosk of b', 'on a, kiosk of b']],
    ['/materials?haulerId=H&siteId=B&active=true', ['on a, kiosk of b']],
    ['/materials?siteId=Z', ['on kiosk of a']],
    ['/materials?haulerId=H&siteId=Z', []],
  ])('%s', async (path, expected) => {
    const query = path
      .replace('=H', `=${scene.haulerId}`)
      .replace(/siteId=([ABZ])/, (_all, name: string) => `siteId=${idOf(name.toLowerCase())}`);
    expect(await ids(query)).toEqual(of(...expected));
    expect(await ids(query.replaceAll(/[0-9a-f-]{36}/g, (id) => id.toUpperCase()))).toEqual(of(...expected));
  });

  test('have pages, newest first, with each record once', async () => {
    const pages = [];
    for (const page of [1, 2, 3])
      pages.push(await list(`/materials?haulerId=${scene.haulerId}&pageSize=2&page=${page}`));
    expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 1]);
    const all = pages.flatMap(({ data }) => data.map(({ id }) => id));
    expect(all).toEqual([...new Set(all)].sort().reverse());
    expect(pages[1]?.pagination).toMatchObject({ page: 2, pageSize: 2, totalItems: 5, totalPages: 3 });
  });

  const INACTIVE = { active: false, deactivatedAt: expect.any(String) };
  test.each<[string, string, object]>([
    ['sites', 'a', { name: 'Site a', address: ADDRESS, active: true, updatedAt: STAMP }],
    ['sites', 'b', { name: 'Site b', ...INACTIVE, updatedAt: STAMP }],
    ['kiosks', 'kc', { name: 'Kiosk kc', siteId: idOf('a'), ...INACTIVE }],
    ['materials', 'on site a', { siteId: idOf('a'), active: true, updatedAt: STAMP }],
    [
      'materials',
      'on a, kiosk of b',
      {
        ...{ siteId: idOf('a'), kioskId: idOf('kb'), active: true, updatedAt: STAMP },
        flaggedReason: expect.stringContaining(idOf('kb')),
      },
    ],
    ['materials', 'on kiosk of b', { kioskId: idOf('kb'), ...INACTIVE, updatedAt: STAMP }],
  ])('of %s: %s has its own fields only', async (kind, name, expected) => {
    const { data } = await list(`/${kind}?haulerId=${scene.haulerId}`);
    expect(data.find(({ externalId }) => externalId === idOf(name))).toEqual({
      ...{ id: expect.any(String), externalId: idOf(name), haulerId: scene.haulerId },
      connectionId: scene.connectionId,
      ...(kind === 'materials' ? { materialType: `Type ${name}`, measureUnit: 'Ton' } : {}),
      ...expected,
    });
  });

  test.each([
    '/sites?active=maybe',
    '/kiosks?siteId=a',
    '/materials?haulerId=1',
    '/sites?pageSize=101',
    '/sync-runs?status=done',
    '/sync-runs?page=0',
  ])('%s: 400', async (path) => {
    expect((await scene.service.admin('GET', path)).status).toBe(400);
  });

  test('need the admin token', async () => {
    for (const path of ['/sites', '/kiosks', '/materials', '/sync-runs', `/sync-runs/${randomUUID()}`]) {
      expect((await scene.service.call('GET', `/admin/v1${path}`)).status).toBe(401);
    }
  });

  describe('runs', () => {
    const runsOf = async (query: string) => (await list(`/sync-runs${query}`)).data as unknown as SyncRun[];

    test('are listed newest first, each as it is read by its id', async () => {
      expect(await runsOf('')).toEqual(runs);
      expect(await scene.run(runs[0]!.id)).toEqual(runs[0]);
    });

    test('are filtered by connection, by status and by both', async () => {
      expect(await runsOf(`?connectionId=${scene.connectionId}`)).toEqual(runs.slice(1));
      expect(await runsOf('?status=failed')).toEqual([runs[1]]);
      expect(await runsOf(`?connectionId=${scene.connectionId}&status=succeeded`)).toEqual([runs[2]]);
      expect(await runsOf('?status=queued')).toEqual([]);
    });

    test('are filtered to the newest of each connection, which an older failure is not', async () => {
      expect(await runsOf('?latest=true')).toEqual([runs[0], runs[1]]);
      expect(await runsOf('?latest=true&status=failed')).toEqual([runs[1]]);
      expect(await runsOf(`?latest=true&status=succeeded&connectionId=${scene.connectionId}`)).toEqual([]);
      expect(await runsOf('?latest=false')).toEqual(runs);
    });

    test('have the fields of the contract, `error` and `refusals` only where there are any', () => {
      const fields = ['id', 'connectionId', 'status', 'startedAt', 'finishedAt', 'counts'];
      expect(runs.map((run) => Object.keys(run).sort())).toEqual(
        [fields, [...fields, 'error'], [...fields, 'refusals']].map((names) => names.sort()),
      );
      const kinds = [
        'received',
        'created',
        'updated',
        'unchanged',
        'deactivated',
        'restored',
        'stale',
        'flagged',
        'held',
        'quarantined',
      ];
      for (const counts of Object.values(runs[2]!.counts))
        expect(Object.keys(counts as object).sort()).toEqual(kinds.sort());
    });

    test('an unknown run is 404, and so is its quarantine; the list of an unknown connection is empty', async () => {
      expect((await scene.service.admin('GET', `/sync-runs/${randomUUID()}`)).status).toBe(404);
      expect((await scene.service.admin('GET', `/sync-runs/${randomUUID()}/quarantine`)).status).toBe(404);
      expect(await runsOf(`?connectionId=${randomUUID()}`)).toEqual([]);
    });
  });
});

describe('what a synchronisation run changed', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  afterAll(() => scene.stop());
  beforeEach(() => scene.renew());

  const sites = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => site(`s${from + i}`));
  const changes = async (id: string, query = '') =>
    (await scene.service.admin<{ data: SyncChange[] }>('GET', `/sync-runs/${id}/changes?pageSize=100${query}`)).body
      .data;
  const reject = (id: string, body?: object) => scene.service.admin<SyncRun>('POST', `/sync-runs/${id}/reject`, body);
  const active = async () => (await scene.sites('&active=true')).length;

  test('names created, updated, deactivated and restored records with both states', async () => {
    const first = await scene.sync({ sites: sites(0, 4) });
    expect(await changes(first.id)).toHaveLength(4);
    expect((await changes(first.id))[0]).toMatchObject({ kind: 'sites', change: 'created', before: null });
    const second = await scene.sync({
      sites: [site('s0', { name: 'Renamed' }), site('s1'), site('s2', { active: false })],
    });
    const listed = await changes(second.id);
    expect(listed.map(({ change, externalId }) => [change, externalId])).toEqual([
      ['updated', idOf('s0')],
      ['deactivated', idOf('s2')],
      ['deactivated', idOf('s3')],
    ]);
    expect(listed[0]).toMatchObject({ name: 'Renamed', changes: ['name'], after: { name: 'Renamed' } });
    expect(listed[2]).toMatchObject({ before: { active: true }, after: { active: false }, changes: ['active'] });
    expect(await changes(second.id, '&change=updated&kind=sites')).toHaveLength(1);
    expect(await changes(second.id, '&kind=kiosks')).toEqual([]);
    const third = await scene.sync({ sites: sites(0, 4) });
    expect((await changes(third.id, '&change=restored')).map(({ externalId }) => externalId).sort()).toEqual(
      [idOf('s2'), idOf('s3')].sort(),
    );
    expect(await changes((await scene.sync()).id)).toEqual([]);
  });

  test('a held run names what a confirmation removes, and the rule that held it', async () => {
    await scene.sync({ sites: sites(0, 10) });
    const held = await scene.sync({ sites: sites(6, 10) });
    expect(held.guard).toEqual({ kind: 'sites', removed: 6, of: 10, share: 0.6 });
    const names = (await changes(held.id, '&change=held')).map(({ externalId }) => externalId).sort();
    expect(names).toEqual(
      sites(0, 6)
        .map(({ id }) => id)
        .sort(),
    );
    await scene.service.admin('POST', `/sync-runs/${held.id}/confirm`);
    expect((await changes(held.id, '&change=deactivated')).map(({ externalId }) => externalId).sort()).toEqual(names);
  });

  test('a run that holds two kinds lists a rule for each, also while one of them is not stated', async () => {
    await scene.sync({ sites: sites(0, 2), kiosks: [kiosk('k0', 's0')] });
    expect((await scene.sync({ sites: [], kiosks: [] })).guard).toEqual([
      { kind: 'sites', removed: 2, of: 2, share: 1 },
      { kind: 'kiosks', removed: 1, of: 1, share: 1 },
    ]);
    const next = await scene.sync({ sites: [] });
    expect(next.guard).toHaveLength(2);
    expect(await changes(next.id, '&change=held')).toHaveLength(3);
  });

  describe('POST /sync-runs/{id}/reject', () => {
    test('keeps the records; the next answer that would remove one of them is held, however small its share', async () => {
      await scene.sync({ sites: sites(0, 10) });
      const held = await scene.sync({ sites: sites(6, 60) });
      const { status, body } = await reject(held.id, { note: 'Export was cut' });
      expect([status, body.status, body.note]).toEqual([200, 'rejected', 'Export was cut']);
      expect(await active()).toBe(60);
      const again = await scene.sync({ sites: sites(5, 60) });
      expect([again.status, again.counts.sites.held]).toEqual(['held', 5]);
      expect((await reject(again.id)).status).toBe(200);
      expect((await scene.sync({ sites: sites(0, 60) })).status).toBe('succeeded');
      expect((await scene.sync({ sites: sites(1, 60) })).counts.sites).toMatchObject({ held: 0, deactivated: 1 });
    });

    test('a kind that the next answer does not state is not held', async () => {
      await scene.sync({ sites: sites(0, 3) });
      await reject((await scene.sync({ sites: [] })).id);
      expect((await scene.sync({ kiosks: [] })).status).toBe('succeeded');
      expect(await active()).toBe(3);
    });

    test('409 for a run that is not held, was decided, or is not the newest', async () => {
      const first = await scene.sync({ sites: sites(0, 3) });
      expect((await reject(first.id)).status).toBe(409);
      const held = await scene.sync({ sites: [] });
      const newest = await scene.sync();
      expect((await reject(held.id)).status).toBe(409);
      expect((await reject(newest.id)).status).toBe(200);
      expect((await reject(newest.id)).status).toBe(409);
      expect((await scene.service.admin('POST', `/sync-runs/${newest.id}/confirm`)).status).toBe(409);
    });
  });
});
