import { beforeAll, describe, expect, test } from '@jest/globals';
import { html } from '../../support/scripted-partner.js';
import { ADDRESS, idOf, kiosk, material, type Plain, site, STAMP } from '../../support/site-data.js';
import { Hauler, type SyncRun } from '../support/hauler.js';
import { answers, type CatalogRecord } from '../support/site.js';
import { administer, listed } from '../support/target.js';

/** What the admin API shows of a hauler's master data, and of what a run changed. */
const of = (...names: string[]): string[] => names.map(idOf).sort();

describe('the catalog of a hauler', () => {
  let hauler: Hauler;
  let connectionId: string;
  let runs: SyncRun[];
  beforeAll(async () => {
    hauler = await Hauler.create();
    ({ connectionId } = await hauler.siteConnection());
    const first = await hauler.sync({
      sites: [site('a', { address: ADDRESS }), site('b', { active: false })],
      kiosks: [kiosk('ka', 'a'), kiosk('kb', 'b'), kiosk('kc', 'a', { active: false, updatedAt: undefined })],
      materials: [
        material('on site a', { siteId: idOf('a') }),
        material('on kiosk of a', { kioskId: idOf('ka') }),
        material('on both', { siteId: idOf('a'), kioskId: idOf('kc') }),
        material('on kiosk of b', { kioskId: idOf('kb'), active: false }),
        material('on a, kiosk of b', { siteId: idOf('a'), kioskId: idOf('kb') }),
      ],
    });
    await answers(hauler, html());
    runs = [await hauler.sync(), first];
    // Another hauler whose partner uses the same ids.
    await Hauler.create({ sites: { sites: [site('a'), site('z')], kiosks: [kiosk('ka', 'z')] } });
  });

  test.each<[string, string[]]>([
    ['/sites', ['a', 'b']],
    ['/sites?active=true', ['a']],
    ['/sites?active=false', ['b']],
    ['/sites?siteId=A', ['a']],
    ['/kiosks', ['ka', 'kb', 'kc']],
    ['/kiosks?siteId=A', ['ka', 'kc']],
    ['/kiosks?siteId=A&active=true', ['ka']],
    ['/materials?active=false', ['on kiosk of b']],
    ['/materials?siteId=A', ['on site a', 'on kiosk of a', 'on both', 'on a, kiosk of b']],
    ['/materials?siteId=B', ['on kiosk of b', 'on a, kiosk of b']],
    ['/materials?siteId=B&active=true', ['on a, kiosk of b']],
    ['/materials?siteId=Z', []],
  ])(
    'is listed by %s of this hauler alone, its kiosks included, in either case of an id (decisions 1, 6, 32)',
    async (path, names) => {
      const [route, query = ''] = path.split('?');
      const filters = query.replace(/siteId=([ABZ])/, (_, name: string) => `siteId=${idOf(name.toLowerCase())}`);
      for (const form of [filters, filters.replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase())]) {
        const found = await listed<CatalogRecord>(`${route}?haulerId=${hauler.id}&${form}`);
        expect(found.map(({ externalId }) => externalId).sort()).toEqual(of(...names));
      }
    },
  );

  const INACTIVE = { active: false, deactivatedAt: expect.any(String) };
  test.each<[string, string, Plain]>([
    ['sites', 'a', { name: 'Site a', address: ADDRESS, active: true, updatedAt: STAMP }],
    ['sites', 'b', { name: 'Site b', ...INACTIVE, updatedAt: STAMP }],
    ['kiosks', 'kc', { name: 'Kiosk kc', siteId: idOf('a'), ...INACTIVE }],
    ['materials', 'on site a', { siteId: idOf('a'), active: true, updatedAt: STAMP }],
    ['materials', 'on kiosk of b', { kioskId: idOf('kb'), ...INACTIVE, updatedAt: STAMP }],
  ])(
    'of %s: %s has the fields of 2.4a that the partner sent, and no others (decision 31)',
    async (kind, name, fields) => {
      const all = await listed<CatalogRecord>(`/${kind}?haulerId=${hauler.id}`);
      expect(all.find(({ externalId }) => externalId === idOf(name))).toEqual({
        ...{ id: expect.any(String), externalId: idOf(name), haulerId: hauler.id, connectionId },
        ...(kind === 'materials' ? { materialType: `Type ${name}`, measureUnit: 'Ton' } : {}),
        ...fields,
      });
    },
  );

  test('has its runs newest first, by status, and the newest of the connection (decision 36)', async () => {
    const found = (query: string) => listed<SyncRun>(`/sync-runs?connectionId=${connectionId}${query}`);
    expect(await found('')).toEqual(runs);
    expect(await found('&status=failed')).toEqual([runs[0]]);
    expect(await found('&status=succeeded')).toEqual([runs[1]]);
    expect(await found('&latest=true')).toEqual([runs[0]]);
    expect(await found('&latest=true&status=succeeded')).toEqual([]);
    expect(await administer('GET', `/sync-runs/${runs[1]?.id}`)).toEqual(runs[1]);
  });
});

test('a run names the records that it created, updated, deactivated and restored, before and after (decisions 34, 35)', async () => {
  interface Change {
    readonly kind: string;
    readonly change: string;
    readonly externalId: string;
    readonly changes: string[];
  }
  const sites = ['s0', 's1', 's2', 's3'].map((name) => site(name));
  const hauler = await Hauler.create();
  const changes = ({ id }: SyncRun, query = '') => listed<Change>(`/sync-runs/${id}/changes?${query}`);
  const first = await changes(await hauler.sync({ sites }));
  expect(first).toHaveLength(4);
  expect(first[0]).toMatchObject({ kind: 'sites', change: 'created', before: null });
  const second = await hauler.sync({
    sites: [site('s0', { name: 'Renamed' }), site('s1'), site('s2', { active: false })],
  });
  const all = await changes(second);
  expect(all.map(({ change, externalId }) => `${change} ${externalId}`).sort()).toEqual(
    [`updated ${idOf('s0')}`, `deactivated ${idOf('s2')}`, `deactivated ${idOf('s3')}`].sort(),
  );
  const [updated] = await changes(second, 'change=updated&kind=sites');
  expect(updated).toMatchObject({
    name: 'Renamed',
    changes: ['name'],
    before: { name: 'Site s0' },
    after: { name: 'Renamed' },
  });
  expect(await changes(second, 'kind=kiosks')).toEqual([]);
  const restored = await changes(await hauler.sync({ sites }), 'change=restored');
  expect(restored.map(({ externalId }) => externalId).sort()).toEqual(of('s2', 's3'));
  expect(await changes(await hauler.sync())).toEqual([]);
});

test('a held run is a tree of sites: what would be removed, added and changed, with the tickets that use it (decision 52)', async () => {
  interface Node {
    readonly name: string;
    readonly change: string;
    readonly changes: string[];
    readonly tickets: { readonly count: number };
    readonly records: readonly {
      readonly name: string;
      readonly kind: string;
      readonly change: string;
      readonly tickets?: { readonly count: number };
    }[];
  }
  const hauler = await Hauler.create({
    sites: {
      sites: [site('a', { name: 'North' }), site('b', { name: 'South' })],
      kiosks: [kiosk('k', 'a', { name: 'Scale 1' })],
      materials: [
        material('m', { siteId: idOf('a'), materialType: 'Concrete' }),
        material('n', { kioskId: idOf('k'), materialType: 'Asphalt' }),
        material('o', { siteId: idOf('b'), materialType: 'Soil' }),
      ],
    },
  });
  for (const names of [['m'], ['m', 'n'], ['n']]) {
    const materials = names.map((name) => ({
      id: idOf(name).toUpperCase(),
      name: 'Debris',
      quantity: 1,
      unitOfMeasure: 'Ton',
    }));
    expect((await hauler.push({ siteId: idOf('a'), materials })).status).toBe(200);
  }
  const run = await hauler.sync({
    sites: [site('a', { name: 'North yard' }), site('c', { name: 'West' })],
    kiosks: [],
    materials: [],
  });
  expect(run.status).toBe('held');
  const tree = await listed<Node>(`/sync-runs/${run.id}/tree`);
  const shown = tree.map(({ name, change, tickets, records }) => {
    const lines = records.map((each) => [each.name, each.kind, each.change, each.tickets?.count]);
    return { name, change, tickets: tickets.count, lines };
  });
  expect(shown[0]).toEqual({
    name: 'North yard',
    change: 'updated',
    tickets: 3,
    lines: [
      ['Scale 1', 'kiosks', 'held', undefined],
      ['Asphalt', 'materials', 'held', 2],
      ['Concrete', 'materials', 'held', 2],
    ],
  });
  expect(shown.slice(1)).toEqual(
    expect.arrayContaining([
      { name: 'South', change: 'deactivated', tickets: 0, lines: [['Soil', 'materials', 'held', 0]] },
      { name: 'West', change: 'created', tickets: 0, lines: [] },
    ]),
  );
  expect(await administer(`GET`, `/sync-runs/${run.id}/tree?pageSize=1&page=2`)).toMatchObject({
    data: [{ name: 'South' }],
    pagination: { totalItems: 3 },
  });
});
