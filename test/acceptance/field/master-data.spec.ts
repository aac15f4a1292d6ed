import { beforeAll, describe, expect, test } from '@jest/globals';
import { idOf, kiosk, material, type Plain, type PlainSiteData, site } from '../../support/site-data.js';
import { flow, Hauler } from '../support/hauler.js';
import { catalog, type CatalogRecord, counts, issuesOf, type SiteRun } from '../support/site.js';
import { admin, listed } from '../support/target.js';

/** Master data as companies keep it: what was reported, and what the service makes of it. */
const under = (parent: Plain, change: Plain = {}) => material('m', { ...parent, ...change });
const [A, B, C] = [{ siteId: idOf('a') }, { siteId: idOf('b') }, { siteId: idOf('c') }];
const at = (name: string) => ({ kioskId: idOf(name) });
const SITES = [site('a'), site('b'), site('c')];
const KIOSKS = [kiosk('ka', 'a'), kiosk('kb', 'b')];
const withMaterials = (...materials: Plain[]): PlainSiteData => ({ sites: SITES, kiosks: KIOSKS, materials });

const LINES = [{ id: idOf('m'), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }];
let tickets = 0;

/** The statuses of a ticket of the material at each of the three sites. */
const statuses = (hauler: Hauler, sites = ['a', 'b', 'c']): Promise<number[]> =>
  Promise.all(
    sites.map(async (name) => {
      const ticket = { siteId: idOf(name), materials: LINES, inboundFlow: flow(`IN-${++tickets}`) };
      return (await hauler.push(ticket)).status;
    }),
  );

interface Row {
  readonly what: string;
  readonly listed: readonly Plain[];
  readonly taken: readonly (200 | 422)[];
}
const row = (what: string, all: readonly Plain[], taken: readonly (200 | 422)[]): Row => ({ what, listed: all, taken });

describe('one material id under several sites or kiosks', () => {
  // Source: a company with one material list for all its scales; every second ticket was refused with 422.
  const ROWS: Row[] = [
    row('two sites', [under(A), under(B)], [200, 200, 422]),
    row('three sites', [under(C), under(A), under(B)], [200, 200, 200]),
    row('two kiosks of two sites', [under(at('ka')), under(at('kb'))], [200, 200, 422]),
    row('a site and the kiosk of another', [under(A), under(at('kb'))], [200, 200, 422]),
    row('sites with their kiosks', [under({ ...A, ...at('ka') }), under({ ...B, ...at('kb') })], [200, 200, 422]),
    row('two sites, inactive at one', [under(A), under(B, { active: false })], [200, 200, 422]),
    row('two sites with their own times', [under(A), under(B, { updatedAt: '2026-01-16T10:00:00Z' })], [200, 200, 422]),
    row(
      'two sites, once with an id in capitals',
      [under(A), under(B, { id: idOf('m').toUpperCase() })],
      [200, 200, 422],
    ),
  ];
  interface Played {
    readonly run: SiteRun;
    readonly stored: CatalogRecord[];
    readonly taken: number[];
  }
  let played: ReadonlyMap<Row, Played[]>;
  beforeAll(async () => {
    const play = async ({ listed: materials }: Row): Promise<Played[]> => {
      const hauler = await Hauler.create();
      const all: Played[] = [];
      for (const order of [materials, [...materials].reverse()]) {
        const run = await hauler.sync(withMaterials(...order));
        all.push({ run, stored: await catalog(hauler, 'materials'), taken: await statuses(hauler) });
      }
      return all;
    };
    played = new Map(await Promise.all(ROWS.map(async (each) => [each, await play(each)] as const)));
  }, 120_000);

  test.each(ROWS)(
    '$what: one material, and tickets of all of them are taken, in any order of the list (decision 33)',
    (each) => {
      const [first, second] = played.get(each) ?? [];
      const received = each.listed.length;
      for (const { run, stored, taken } of [first as Played, second as Played]) {
        expect(run).toMatchObject({ status: 'succeeded', counts: { materials: { received, quarantined: 0 } } });
        expect(stored).toHaveLength(1);
        expect(taken).toEqual(each.taken);
      }
      expect(second?.stored[0]?.id).toBe(first?.stored[0]?.id);
    },
  );

  test('it is listed under each of its sites, with all of them (decisions 32, 33)', async () => {
    const hauler = await Hauler.create({ sites: withMaterials(under(A), under(at('kb')), under(C)) });
    for (const name of ['a', 'b', 'c']) {
      expect(await catalog(hauler, 'materials', `&siteId=${idOf(name)}`)).toMatchObject([
        { externalId: idOf('m'), siteIds: [idOf('a'), idOf('c')].sort(), kioskIds: [idOf('kb')] },
      ]);
    }
  });

  test('it counts once for the guard: two of two materials that go away are held (decision 35)', async () => {
    const second = (parent: Plain) => material('n', parent);
    const hauler = await Hauler.create({ sites: withMaterials(under(A), under(B), second(A), second(B)) });
    expect(await hauler.sync(withMaterials())).toMatchObject({
      status: 'held',
      guard: [{ kind: 'materials', removed: 2, of: 2 }],
    });
  });

  // Source: one connection for each yard's system, with the material list of the company in both.
  test('it belongs to the sites of both connections of a hauler, whichever is synchronised last (decision 33)', async () => {
    const hauler = await Hauler.create();
    const { partner, connectionId } = await hauler.siteConnection();
    const second = await hauler.connect({ interface: 'site', baseUrl: partner.url, enabled: false });
    const of = (name: string): PlainSiteData => ({
      sites: [site(name)],
      kiosks: [],
      materials: [under({ siteId: idOf(name) })],
    });
    for (const [connection, name] of [
      [connectionId, 'a'],
      [second, 'b'],
      [connectionId, 'a'],
    ] as const) {
      expect((await hauler.sync(of(name), connection)).status).toBe('succeeded');
    }
    expect(await statuses(hauler, ['a', 'b'])).toEqual([200, 200]);
    expect(counts(await hauler.sync(of('b'), second), 'materials')).toEqual({ received: 1, unchanged: 1 });
  });
});

describe('a repeated material that is not the same', () => {
  interface Refused {
    readonly what: string;
    readonly listed: readonly Plain[];
    readonly path: string;
  }
  const ROWS: Refused[] = [
    { what: 'has another unit', listed: [under(A), under(B, { measureUnit: 'Pound' })], path: 'materials[1].id' },
    { what: 'has another type', listed: [under(A), under(B, { materialType: 'Dirt' })], path: 'materials[1].id' },
    { what: 'names the same site again', listed: [under(A), under(A)], path: 'materials[1].id' },
    {
      what: 'names an unknown site',
      listed: [under(A), under({ siteId: idOf('unknown') })],
      path: 'materials[1].siteId',
    },
    {
      what: 'is malformed before it',
      listed: [under(B, { measureUnit: 'Barrel' }), under(A)],
      path: 'materials[0].measureUnit',
    },
  ];
  let played: ReadonlyMap<Refused, { run: SiteRun; paths: string[]; taken: number[] }>;
  beforeAll(async () => {
    const play = async ({ listed: materials }: Refused) => {
      const hauler = await Hauler.create();
      const run = await hauler.sync(withMaterials(...materials));
      const paths = (await issuesOf(hauler, run)).map(({ path }) => path);
      return { run, paths, taken: await statuses(hauler, ['a', 'b']) };
    };
    played = new Map(await Promise.all(ROWS.map(async (each) => [each, await play(each)] as const)));
  }, 120_000);

  test.each(ROWS)('$what: it is quarantined, and the other one counts (decision 33)', (each) => {
    const result = played.get(each);
    expect(result && counts(result.run, 'materials')).toEqual({ received: 2, created: 1, quarantined: 1 });
    expect([result?.paths, result?.taken]).toEqual([[each.path], [200, 422]]);
  });
});

// Source: a material that was moved from one yard to another, and one that a yard no longer takes.
describe('a material that is listed elsewhere in a later run', () => {
  interface Moved extends Row {
    readonly before: readonly Plain[];
  }
  const moved = (
    what: string,
    before: readonly Plain[],
    after: readonly Plain[],
    taken: readonly (200 | 422)[],
  ): Moved => ({
    ...row(what, after, taken),
    before,
  });
  const newer = { updatedAt: '2026-01-16T10:00:00Z' };
  const older = { updatedAt: '2026-01-01T00:00:00Z' };
  const ROWS: Moved[] = [
    moved('one parent goes away', [under(A), under(B)], [under(A)], [200, 422, 422]),
    moved('the first parent goes away', [under(A), under(B)], [under(B)], [422, 200, 422]),
    moved('the newest parent goes away', [under(A, newer), under(B)], [under(B)], [422, 200, 422]),
    moved('it is moved', [under(A)], [under(B)], [422, 200, 422]),
    moved('one of two is moved', [under(A), under(B)], [under(C), under(B)], [422, 200, 200]),
    moved('it gets a second parent', [under(A)], [under(A), under(B)], [200, 200, 422]),
    moved('it gets a parent with an older time', [under(A)], [under(A), under(B, older)], [200, 200, 422]),
    moved(
      'one parent becomes malformed, which states nothing',
      [under(A), under(B)],
      [under(A), under(B, { materialType: 7 })],
      [200, 200, 422],
    ),
    moved(
      'it gets another type everywhere',
      [under(A), under(B)],
      [under(B, { materialType: 'Dirt' }), under(A, { materialType: 'Dirt' })],
      [200, 200, 422],
    ),
  ];
  let played: ReadonlyMap<Moved, { run: SiteRun; taken: number[]; again: SiteRun }>;
  beforeAll(async () => {
    const play = async ({ before, listed: after }: Moved) => {
      const hauler = await Hauler.create({ sites: withMaterials(...before) });
      const run = await hauler.sync(withMaterials(...after));
      return { run, taken: await statuses(hauler), again: await hauler.sync() };
    };
    played = new Map(await Promise.all(ROWS.map(async (each) => [each, await play(each)] as const)));
  }, 120_000);

  test.each(ROWS)('$what: tickets of its present sites are taken (decisions 33, 34)', (each) => {
    const result = played.get(each);
    expect(result?.run.counts.materials).toMatchObject({ created: 0, deactivated: 0 });
    expect(result?.taken).toEqual(each.taken);
    expect(result?.again.counts.materials).toMatchObject({ updated: 0 });
  });
});

// Source: 135 of 700 materials were refused for weeks below a green "succeeded".
describe('a run that quarantined records', () => {
  test.each<[string, PlainSiteData, string]>([
    ['a material', withMaterials(under(A, { measureUnit: 'Barrel' })), '1 of 6 records are in quarantine'],
    [
      'a site and a material',
      { sites: [site('a'), site('b', { name: 7 })], materials: [material('n')] },
      'sites 1, materials 1.',
    ],
  ])('says so beside its status: %s (decision 33)', async (_, data, sentence) => {
    const hauler = await Hauler.create();
    const run: SiteRun = await hauler.sync(data);
    expect(run).toMatchObject({ status: 'succeeded', attention: expect.stringContaining(sentence) });
    const { connectionId } = await hauler.siteConnection();
    const found = async (value: boolean) =>
      (await listed<SiteRun>(`/sync-runs?connectionId=${connectionId}&latest=true&quarantined=${value}`)).map(
        ({ id }) => id,
      );
    expect([await found(true), await found(false)]).toEqual([[run.id], []]);
    expect((await admin('GET', `/sync-runs/${run.id}/history`)).text).toContain('are in quarantine');
  });

  test('does not say so when there are none (decision 33)', async () => {
    const hauler = await Hauler.create();
    expect(await hauler.sync(withMaterials(under(A)))).not.toHaveProperty('attention');
  });
});
