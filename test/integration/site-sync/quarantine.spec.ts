import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { QuarantinedRecord } from '../../../src/contracts/admin/sync-refusal.dto.js';
import type { SyncRun } from '../../../src/contracts/admin/sync-run.dto.js';
import {
  breaks,
  endless,
  gzipped,
  hangs,
  html,
  json,
  raw,
  redirects,
  refuses,
  type ScriptedReply,
  trickles,
} from '../../support/scripted-partner.js';
import {
  ADDRESS,
  idOf,
  kiosk,
  material,
  type Plain,
  type PlainSiteData,
  site,
  siteData,
} from '../../support/site-data.js';
import { answer, counts, PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe('records that a run quarantines or flags (decisions 32 and 33)', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  afterAll(() => scene.stop());
  beforeEach(() => scene.renew());

  const paths = async (runId: string) => (await scene.quarantine(runId)).map(({ path }) => path);

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
      ['1 × name of a site that is blank, too short or too long', 'sites', 'SITE-011'],
      ['1 × record that is no object', 'sites', 'SITE-006'],
      ['1 × time of the change in the future', 'sites', 'SITE-019'],
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
        rule: expect.any(String),
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
        rule: 'isEnum',
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
    expect(body.pagination).toMatchObject({ page: 2, pageSize: 2, totalItems: 5, totalPages: 3 });
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

const LIMIT = 256 * 1024;
const good = { sites: [site('a'), site('b')], kiosks: [kiosk('k', 'a')] };
const body = JSON.stringify({ success: true, data: good });

const CASES: readonly [what: string, reply: ScriptedReply, sentence: RegExp][] = [
  ['HTML', html(), /HTML|web page/i],
  ['nothing', raw('', { headers: { 'Content-Type': 'application/json' } }), /empty|nothing/i],
  ['truncated JSON', raw(body.slice(0, -20)), /not valid JSON/],
  ['JSON with more bytes after its end', raw(`${body} {}`), /JSON/],
  ['a record that is not JSON', raw(body.replace('"Site b"', '"Site b')), /JSON/],
  ['bytes that are not UTF-8', raw(Buffer.from(body.replace('Site b', 'Site \u00ff'), 'latin1')), /JSON|UTF-8/],
  ['a number', raw('7'), /must be an object|object/],
  ['an array', raw('[]'), /object/],
  [
    '200 with success: false',
    json({ success: false, error: { code: 'INTERNAL_ERROR', message: `no ${PARTNER_KEY}` } }),
    /success must be true.*it says INTERNAL_ERROR: no \[redacted\]\.$/,
  ],
  ['success: false beside data', json({ success: false, data: good }), /success must be true/],
  ['no success', json({ data: good }), /success is required/],
  ['success as text', json({ success: 'true', data: good }), /success must be true or false/],
  ['no data', json({ success: true }), /data is required/],
  ['data as an array', json({ success: true, data: [] }), /data must be an object/],
  ['sites as an object', json({ success: true, data: { sites: {} } }), /data\.sites must be an array/],
  [
    'materials as text',
    json({ success: true, data: { ...good, materials: 'none' } }),
    /data\.materials must be an array/,
  ],
  ['an array twice', raw(body.replace('"kiosks"', '"sites"')), /data\.sites occurs twice/],
  ['more than PARTNER_BODY_LIMIT', answer({ sites: siteData(3000, 0, 0).sites }), /larger than 256 KB/],
  ['a body that never ends', endless(), /larger than 256 KB/],
  ['a compressed body beyond the limit', gzipped(Buffer.alloc(LIMIT * 4, 0x20)), /larger than 256 KB/],
  ['unlimited nesting', raw(`{"success":true,"data":{"sites":[${'['.repeat(100_000)}`), /nested|JSON/],
  ['a redirect to elsewhere', redirects('https://elsewhere.example/'), /redirect/i],
  ['401 with the only key', refuses(401, 'UNAUTHORIZED', `bad key ${PARTNER_KEY}`), /key/],
  ['400', refuses(400, 'INVALID_PAYLOAD', 'haulerId is wrong'), /400.*haulerId is wrong/],
  ['500', refuses(500, 'INTERNAL_ERROR'), /500/],
  ['204', raw('', { status: 204 }), /204/],
  ['304 for a request without conditions', raw('', { status: 304 }), /304/],
  ['gzip that is not gzip', raw('not gzip', { headers: { 'Content-Encoding': 'gzip' } }), /JSON/],
  [
    'an unknown Content-Encoding',
    raw('{}', { headers: { 'Content-Encoding': 'compress' } }),
    /unsupported Content-Enc/,
  ],
];

function expectSentence(error: string | undefined): void {
  expect(error).toMatch(/^[^\s].{15,}[.]$/s);
  expect(error).not.toMatch(/unexpected error|undefined|\[object/);
}

describe('a bad response fails the run with a reason, and changes no stored data', () => {
  let scene: SiteScene;
  let before: unknown;

  beforeAll(async () => {
    scene = await SiteScene.start({ env: { PARTNER_BODY_LIMIT: LIMIT, PARTNER_ANSWER_TIMEOUT: 2_000 } });
    await scene.renew();
    before = await begin(scene);
  });
  afterAll(() => scene.stop());

  /** Synchronises the good data, and returns its rows. */
  async function begin(of: SiteScene): Promise<unknown> {
    expect((await of.sync(good)).status).toBe('succeeded');
    return of.stored();
  }

  async function failsIn(scene: SiteScene, before: unknown, reply: ScriptedReply, sentence: RegExp): Promise<void> {
    scene.partner.on(SITES_ROUTE, reply);
    const run = await scene.sync();
    expect([run.status, run.error]).toEqual(['failed', expect.stringMatching(sentence)]);
    expect(run.error).not.toContain(PARTNER_KEY);
    expectSentence(run.error);
    expect(await scene.stored()).toEqual(before);
    const [row] = await scene.service.dataSource.query<[{ attempts: number; last_error: string; inMinutes: number }]>(
      `SELECT attempts, last_error, extract(epoch FROM due_at - now())::float8 / 60 AS "inMinutes" FROM connections WHERE id = $1`,
      [scene.connectionId],
    );
    expect(row?.last_error).toBe(run.error);
    expect(row?.inMinutes).toBeGreaterThan(1);
    // Each case starts without failures.
    await scene.service.dataSource.query('UPDATE connections SET attempts = 0 WHERE id = $1', [scene.connectionId]);
  }

  test.each(CASES)('%s', async (_, reply, sentence) => {
    await failsIn(scene, before, reply, sentence);
  });

  test.concurrent('a connection that breaks off at each of three attempts', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    const asked = own.partner.asked.length;
    await failsIn(own, stored, breaks(body, 40), /broke/);
    expect(own.partner.asked.length - asked).toBe(3);
    await own.partner.stop();
  });

  test.concurrent('503 at each of three attempts; a success at the third one is a success of the run', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    const asked = own.partner.asked.length;
    await failsIn(own, stored, refuses(503, 'INTERNAL_ERROR'), /503/);
    expect(own.partner.asked.length - asked).toBe(3);
    own.partner.on(
      SITES_ROUTE,
      refuses(503, 'INTERNAL_ERROR'),
      refuses(429, 'INTERNAL_ERROR', 'slow', { 'Retry-After': '0.2' }),
      answer(good),
    );
    expect((await own.sync()).status).toBe('succeeded');
    await own.partner.stop();
  });

  test('a Retry-After of more than five minutes, which is also when the next run is due (decision 36)', async () => {
    const asked = scene.partner.asked.length;
    scene.partner.on(SITES_ROUTE, refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '3600' }));
    const run = await scene.sync();
    expect([run.status, scene.partner.asked.length - asked]).toEqual(['failed', 1]);
    expectSentence(run.error);
    const [row] = await scene.service.dataSource.query<[{ seconds: number }]>(
      'SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM connections WHERE id = $1',
      [scene.connectionId],
    );
    expect(row?.seconds).toBeGreaterThan(3590);
    expect(row?.seconds).toBeLessThanOrEqual(3601);
  });

  test('but not wrong types, dates in the future, cycles and repeated ids, which quarantine their records only', async () => {
    const run = await scene.sync({
      sites: [...good.sites, site('c', { name: 7 }), site('d', { updatedAt: '2099-01-01T00:00:00Z' }), site('a')],
      kiosks: [...good.kiosks, kiosk('self', 'self')],
    });
    expect([run.status, run.counts.sites.quarantined, run.counts.kiosks.quarantined]).toEqual(['succeeded', 3, 1]);
    expect(await scene.stored()).toEqual(before);
  });

  test.concurrent.each([
    ['that does not answer', hangs()],
    ['that sends a byte now and then', trickles(20)],
  ])('a partner %s', async (_, reply) => {
    const own = await scene.neighbour();
    await failsIn(own, await begin(own), reply, /did not send its whole answer within 2 s/);
    await own.partner.stop();
  });

  test.concurrent('a partner that is not reachable', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    await own.partner.stop();
    const run = await own.sync();
    expect([run.status, run.error]).toEqual(['failed', expect.stringMatching(/could not be reached/)]);
    expectSentence(run.error);
    expect(await own.stored()).toEqual(stored);
  });
});
