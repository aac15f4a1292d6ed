import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { QuarantinedRecord, SyncRun } from '../../src/contracts/admin/sync-run.dto.js';
import { ADDRESS, idOf, kiosk, material, type Plain, type PlainSiteData, site } from '../support/site-data.js';
import { counts, PARTNER_KEY, SiteScene } from '../support/site-scene.js';

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
  ])('%s as a record: nothing of its kind is removed, because the id is unknown', async (_what, element) => {
    await scene.sync({ sites: [site('b'), site('c')], kiosks: [kiosk('k', 'b'), kiosk('l', 'b')] });
    const run = await scene.sync({ sites: [element as Plain, site('b')], kiosks: [kiosk('k', 'b')] });
    expect(run.counts.sites).toMatchObject({ quarantined: 1, unchanged: 1, deactivated: 0 });
    expect(run.counts.kiosks).toMatchObject({ unchanged: 1, deactivated: 1 });
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

  test('parents may follow their children in the response', async () => {
    const data = { materials: [material('m', { kioskId: idOf('k') })], kiosks: [kiosk('k', 'a')], sites: [site('a')] };
    const run = await scene.sync(data);
    expect([run.counts.materials.created, run.counts.kiosks.created, run.counts.sites.created]).toEqual([1, 1, 1]);
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

  const three = () => ({
    sites: [site('a', { address: ADDRESS }), site('b')],
    kiosks: [kiosk('k', 'a')],
    materials: [material('m', { kioskId: idOf('k') }), material('n', { siteId: idOf('b') })],
  });

  test('a malformed record does not fail the run, and the stored record with its id stays', async () => {
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

  test('the quarantine has pages, in the order of the response', async () => {
    const run = await scene.sync({ sites: Array.from({ length: 5 }, (_, i) => site(`q${i}`, { name: i })) });
    const path = `/sync-runs/${run.id}/quarantine?pageSize=2&page=2`;
    const { body } = await scene.service.admin<{ data: QuarantinedRecord[]; pagination: unknown }>('GET', path);
    expect(body.data.map((record) => record.path)).toEqual(['sites[2].name', 'sites[3].name']);
    expect(body.pagination).toEqual({ page: 2, pageSize: 2, totalItems: 5, totalPages: 3 });
  });

  test('a child without a parent is quarantined; a stored parent counts although its new record is malformed', async () => {
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

  test('a quarantined child is stored once its parent is known; a parent of another hauler does not count', async () => {
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

  test('a material whose parents contradict each other is stored and flagged until they agree', async () => {
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

  test.each<[string, number]>([
    ['the same response again', 7],
    ['another response', 8],
  ])('the quarantine of the newest 20 runs is kept; %s deletes the oldest one', async (_what, name) => {
    const faulty = (value: number) => ({ sites: [site('a', { name: value })] });
    const [first, second] = [await scene.sync(faulty(7)), await scene.sync()];
    await scene.service.dataSource.query(
      `INSERT INTO sync_runs (id, hauler_id, connection_id, status, counts)
       SELECT gen_random_uuid(), hauler_id, connection_id, 'failed', counts FROM sync_runs, generate_series(1, 17)
       WHERE id = $1`,
      [first.id],
    );
    const size = async (run: SyncRun) => (await scene.quarantine(run.id)).length;
    const third = await scene.sync(faulty(7));
    expect([await size(first), await size(second), await size(third)]).toEqual([1, 1, 1]);
    const last = await scene.sync(faulty(name));
    expect([await size(first), await size(second), await size(last)]).toEqual([0, 1, 1]);
    expect(await size(await scene.sync())).toBe(1);
  });

  test('our key is not in the quarantine, wherever the partner echoes it (decision 18)', async () => {
    const run = await scene.sync({ sites: [site('a', { name: [PARTNER_KEY], [PARTNER_KEY]: `x${PARTNER_KEY}` })] });
    expect(counts(run)).toEqual({ received: 1, quarantined: 1 });
    expect(JSON.stringify(await scene.quarantine(run.id))).not.toContain(PARTNER_KEY);
    const rows = await scene.service.dataSource.query<unknown[]>('SELECT * FROM sync_issues');
    expect(JSON.stringify(rows)).not.toContain(PARTNER_KEY);
  });
});
