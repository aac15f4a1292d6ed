import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SyncRun } from '../../src/contracts/admin/sync-run.dto.js';
import { createHauler } from '../support/api-keys.js';
import { html } from '../support/scripted-partner.js';
import { ADDRESS, idOf, kiosk, material, site, STAMP } from '../support/site-data.js';
import { SITES_ROUTE, SiteScene } from '../support/site-scene.js';

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
    expect(pages[1]?.pagination).toEqual({ page: 2, pageSize: 2, totalItems: 5, totalPages: 3 });
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

    test('have the fields of the contract, `error` only where there is one', () => {
      const fields = ['id', 'connectionId', 'status', 'startedAt', 'finishedAt', 'counts'];
      expect(runs.map((run) => Object.keys(run).sort())).toEqual(
        [fields, [...fields, 'error'], fields].map((names) => names.sort()),
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
