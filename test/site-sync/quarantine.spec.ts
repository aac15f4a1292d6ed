import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { idOf, kiosk, material, type Plain, type PlainSiteData, site } from '../support/site-data.js';
import { SiteScene } from '../support/site-scene.js';

/** An instant so many hours from now. */
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe('records that a run quarantines or flags (decisions 32 and 33)', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  afterAll(() => scene.stop());
  beforeEach(() => scene.renew());

  const paths = async (runId: string) => (await scene.quarantine(runId)).map(({ path }) => path);

  test.each<[string, 'sites' | 'kiosks' | 'materials', Plain, string, string]>([
    [
      'a wrong unit',
      'materials',
      material('m', { siteId: idOf('a'), measureUnit: 'Gallon' }),
      'materials[0].measureUnit',
      'must be one of',
    ],
    ['a number as the name', 'sites', site('b', { name: 7 }), 'sites[0].name', 'must be'],
    ['a name with U+0000', 'sites', site('b', { name: 'a\0' }), 'sites[0].name', 'U+0000'],
    [
      'an address without a city',
      'sites',
      site('b', { address: { line1: 'x' } }),
      'sites[0].address.city',
      'is required',
    ],
    [
      'a date that does not exist',
      'sites',
      site('b', { updatedAt: '2026-02-30T00:00:00Z' }),
      'sites[0].updatedAt',
      'must be an RFC 3339 date-time',
    ],
    [
      'a date more than a day ahead',
      'sites',
      site('b', { updatedAt: inHours(25) }),
      'sites[0].updatedAt',
      'lies in the future',
    ],
    ['no parent', 'materials', material('m'), 'materials[0]', 'neither a siteId nor a kioskId'],
    ['an unknown site', 'materials', material('m', { siteId: idOf('x') }), 'materials[0].siteId', 'known site'],
    [
      'an unknown kiosk',
      'materials',
      material('m', { siteId: idOf('a'), kioskId: idOf('x') }),
      'materials[0].kioskId',
      'known kiosk',
    ],
    ['an unknown site of a kiosk', 'kiosks', kiosk('k', 'x'), 'kiosks[0].siteId', 'known site'],
    ['its own id as its site', 'kiosks', kiosk('k', 'k'), 'kiosks[0].siteId', 'known site'],
    [
      'its own id as its kiosk',
      'materials',
      material('m', { kioskId: idOf('m') }),
      'materials[0].kioskId',
      'known kiosk',
    ],
  ])('a record with %s is quarantined with its raw form', async (_what, kind, record, path, reason) => {
    await scene.sync({ sites: [site('a')] });
    const data: PlainSiteData = kind === 'sites' ? { sites: [record, site('a')] } : { [kind]: [record] };
    const run = await scene.sync(data);
    expect(run.counts[kind].quarantined).toBe(1);
    expect(await scene.quarantine(run.id)).toEqual([
      {
        severity: 'quarantined',
        kind,
        path,
        reason: expect.stringContaining(reason),
        ruleId: expect.stringMatching(/^SITE-0\d\d$/),
        raw: record,
      },
    ]);
  });

  test('a date less than a day ahead is accepted, because of clocks in other time zones', async () => {
    const run = await scene.sync({ sites: [site('a', { updatedAt: inHours(23) })] });
    expect(run.counts.sites).toMatchObject({ created: 1, quarantined: 0 });
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['an array', []],
    ['an object without id', { name: 'x' }],
    ['an id that is a number', site('a', { id: 7 })],
  ])('after %s as a record nothing of its kind is removed, because its id is unknown', async (_what, element) => {
    await scene.sync({ sites: [site('b'), site('c')] });
    const run = await scene.sync({ sites: [element as Plain, site('b')] });
    expect(run.counts.sites).toMatchObject({ quarantined: 1, unchanged: 1, deactivated: 0 });
  });

  test('the first record with an id counts, whatever its case, and even if the first is malformed', async () => {
    const again = site('a', { id: idOf('a').toUpperCase(), name: 'again' });
    const run = await scene.sync({ sites: [site('a'), again, site('b', { name: 7 }), site('b')] });
    expect(run.counts.sites).toMatchObject({ received: 4, created: 1, quarantined: 3 });
    expect(await paths(run.id)).toEqual(['sites[1].id', 'sites[2].name', 'sites[3].id']);
  });

  test('a record of another kind is not a parent, and a child of a quarantined parent is quarantined', async () => {
    const run = await scene.sync({
      sites: [site('a')],
      kiosks: [kiosk('k', 'a'), kiosk('l', 'k')],
      materials: [
        material('m', { siteId: idOf('a') }),
        material('n', { siteId: idOf('k') }),
        material('o', { kioskId: idOf('a') }),
        material('p', { kioskId: idOf('l') }),
      ],
    });
    expect(await paths(run.id)).toEqual([
      'kiosks[1].siteId',
      'materials[1].siteId',
      'materials[2].kioskId',
      'materials[3].kioskId',
    ]);
  });

  test('parents may stand behind their children in the answer', async () => {
    const data = { materials: [material('m', { kioskId: idOf('k') })], kiosks: [kiosk('k', 'a')], sites: [site('a')] };
    const run = await scene.sync(data);
    expect([run.counts.materials.created, run.counts.kiosks.created, run.counts.sites.created]).toEqual([1, 1, 1]);
  });

  describe('a material with both parents, whose kiosk belongs to another site', () => {
    const sites = [site('a'), site('b')];
    const both = [material('m', { siteId: idOf('a'), kioskId: idOf('k') })];
    const older = { updatedAt: '2026-01-14T10:00:00Z' };

    test.each<[string, PlainSiteData, PlainSiteData, boolean]>([
      ['by the answer', {}, { sites, kiosks: [kiosk('k', 'b')], materials: both }, true],
      ['by the stored kiosk', { sites, kiosks: [kiosk('k', 'b')] }, { materials: both }, true],
      ['no longer', { sites, kiosks: [kiosk('k', 'b')] }, { kiosks: [kiosk('k', 'a')], materials: both }, false],
      [
        'only by a stale kiosk',
        { sites, kiosks: [kiosk('k', 'a')] },
        { kiosks: [kiosk('k', 'b', older)], materials: both },
        false,
      ],
      [
        'by the stored kiosk, while that of the answer is malformed',
        { sites, kiosks: [kiosk('k', 'b')] },
        { kiosks: [kiosk('k', 'a', { name: 7 })], materials: both },
        true,
      ],
    ])('%s', async (_what, stored, data, isFlagged) => {
      await scene.sync(stored);
      const run = await scene.sync(data);
      expect(run.counts.materials).toMatchObject({ created: 1, flagged: isFlagged ? 1 : 0 });
      const reason = `the kiosk ${idOf('k')} belongs to the site ${idOf('b')}`;
      const issues = await scene.quarantine(run.id);
      if (isFlagged) expect(issues).toContainEqual(expect.objectContaining({ severity: 'flagged', reason }));
      else expect(issues).toEqual([]);
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
    const [{ n }] = await scene.service.dataSource.query<[{ n: number }]>(
      'SELECT count(*)::int AS n FROM sync_issues WHERE run_id = $1',
      [run.id],
    );
    expect(n).toBe(10_000);
  });
});
