import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueKey } from '../../support/api-keys.js';
import { eventually } from '../../support/eventually.js';
import { type TicketReply, TICKETS } from '../../support/scale-house.js';
import { idOf, kiosk, material, type Plain, type PlainSiteData, site } from '../../support/site-data.js';
import { counts, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

/** Master data as companies keep it: what was reported, and what the service makes of it. */
let scene: SiteScene;
let key: string;
beforeAll(async () => {
  scene = await SiteScene.start();
});
afterAll(() => scene.stop());

async function renew(): Promise<void> {
  await scene.renew();
  ({ key } = await issueKey(scene.service, ['scale'], { haulerId: scene.haulerId }));
}

let tickets = 0;

const push = (siteName = 'new', materialName = 'm') =>
  scene.service.call<TicketReply>('POST', TICKETS, {
    headers: { 'PLATFORM-API-KEY': key },
    body: {
      siteId: idOf(siteName),
      inboundFlow: { ticketNumber: `IN-${++tickets}`, updatedAt: '2026-01-31T08:30:00Z' },
      materials: [{ id: idOf(materialName), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
    },
  });
const statuses = async (...sites: string[]) => {
  const answers = [];
  for (const name of sites) answers.push((await push(name)).status);
  return answers;
};

const under = (parent: Plain, change: Plain = {}) => material('m', { ...parent, ...change });
const [A, B, C] = [{ siteId: idOf('a') }, { siteId: idOf('b') }, { siteId: idOf('c') }];
const at = (name: string) => ({ kioskId: idOf(name) });
const SITES = [site('a'), site('b'), site('c')];
const KIOSKS = [kiosk('ka', 'a'), kiosk('kb', 'b')];
const withMaterials = (...materials: Plain[]): PlainSiteData => ({ sites: SITES, kiosks: KIOSKS, materials });

describe('one material id under several sites or kiosks', () => {
  beforeAll(renew);

  // Source: a company with one material list for all its scales; every second ticket was refused with 422.
  test.each<[string, Plain[], (200 | 422)[]]>([
    ['two sites', [under(A), under(B)], [200, 200, 422]],
    ['three sites', [under(C), under(A), under(B)], [200, 200, 200]],
    ['two kiosks of two sites', [under(at('ka')), under(at('kb'))], [200, 200, 422]],
    ['a site and the kiosk of another', [under(A), under(at('kb'))], [200, 200, 422]],
    ['a kiosk and a site', [under(at('kb')), under(C)], [422, 200, 200]],
    ['sites with their kiosks', [under({ ...A, ...at('ka') }), under({ ...B, ...at('kb') })], [200, 200, 422]],
    ['two sites, inactive at one', [under(A), under(B, { active: false })], [200, 200, 422]],
    ['two sites, with their own times', [under(A), under(B, { updatedAt: '2026-01-16T10:00:00Z' })], [200, 200, 422]],
    ['an id in capitals', [under(A), under(B, { id: idOf('m').toUpperCase() })], [200, 200, 422]],
  ])(
    '%s: one material, and tickets of all of them are taken, in any order of the list',
    async (_, listed, expected) => {
      const ids = [];
      for (const materials of [listed, [...listed].reverse()]) {
        const run = await scene.sync(withMaterials(...materials));
        expect(run).toMatchObject({
          status: 'succeeded',
          counts: { materials: { received: listed.length, quarantined: 0 } },
        });
        const [stored, ...others] = await scene.materials();
        expect(others).toEqual([]);
        ids.push(stored?.id);
        expect(await statuses('a', 'b', 'c')).toEqual(expected);
      }
      expect(ids[0]).toBe(ids[1]);
      const again = await scene.sync();
      expect(counts(again, 'materials')).toEqual({ received: listed.length, unchanged: 1 });
    },
  );

  test('is listed under each of its sites, with all of them', async () => {
    await scene.sync(withMaterials(under(A), under(at('kb')), under(C)));
    for (const name of ['a', 'b', 'c']) {
      expect(await scene.materials(`&siteId=${idOf(name)}`)).toMatchObject([
        { externalId: idOf('m'), siteIds: [idOf('a'), idOf('c')].sort(), kioskIds: [idOf('kb')] },
      ]);
    }
  });

  test.each<[string, Plain[], string[]]>([
    ['another unit', [under(A), under(B, { measureUnit: 'Pound' })], ['materials[1].id']],
    ['another type', [under(A), under(B, { materialType: 'Dirt' })], ['materials[1].id']],
    ['the same site again', [under(A), under(A)], ['materials[1].id']],
    ['an unknown site', [under(A), under({ siteId: idOf('unknown') })], ['materials[1].siteId']],
    ['a malformed element before it', [under(B, { measureUnit: 'Barrel' }), under(A)], ['materials[0].measureUnit']],
  ])('%s is quarantined, and the first one counts', async (_, listed, paths) => {
    await renew();
    const run = await scene.sync(withMaterials(...listed));
    expect(counts(run, 'materials')).toEqual({ received: 2, created: 1, quarantined: 1 });
    expect((await scene.quarantine(run.id)).map(({ path }) => path)).toEqual(paths);
    expect(await statuses('a', 'b')).toEqual([200, 422]);
  });

  // Source: a material that was moved from one yard to another, and one that a yard no longer takes.
  test.each<[string, Plain[], Plain[], (200 | 422)[]]>([
    ['one parent goes away', [under(A), under(B)], [under(A)], [200, 422, 422]],
    ['the first parent goes away', [under(A), under(B)], [under(B)], [422, 200, 422]],
    [
      'the newest parent goes away',
      [under(A, { updatedAt: '2026-01-16T10:00:00Z' }), under(B)],
      [under(B)],
      [422, 200, 422],
    ],
    ['it is moved', [under(A)], [under(B)], [422, 200, 422]],
    ['one of two is moved', [under(A), under(B)], [under(C), under(B)], [422, 200, 200]],
    ['it gets a second one', [under(A)], [under(A), under(B)], [200, 200, 422]],
    [
      'it gets one with an older time',
      [under(A)],
      [under(A), under(B, { updatedAt: '2026-01-01T00:00:00Z' })],
      [200, 200, 422],
    ],
    [
      'one parent becomes malformed, which states nothing',
      [under(A), under(B)],
      [under(A), under(B, { materialType: 7 })],
      [200, 200, 422],
    ],
    [
      'it gets another type everywhere',
      [under(A), under(B)],
      [under(B, { materialType: 'Dirt' }), under(A, { materialType: 'Dirt' })],
      [200, 200, 422],
    ],
  ])('%s in a later run', async (_, before, after, expected) => {
    await renew();
    await scene.sync(withMaterials(...before));
    const run = await scene.sync(withMaterials(...after));
    expect(run.counts.materials).toMatchObject({ created: 0, deactivated: 0 });
    expect(await statuses('a', 'b', 'c')).toEqual(expected);
    expect(counts(await scene.sync(), 'materials')).not.toHaveProperty('updated');
  });

  test('counts once for the guard: two of two materials that go away are held', async () => {
    await renew();
    const second = (parent: Plain) => material('n', parent);
    await scene.sync(withMaterials(under(A), under(B), second(A), second(B)));
    const run = await scene.sync({ sites: SITES, kiosks: KIOSKS, materials: [] });
    expect(run).toMatchObject({ status: 'held', guard: { kind: 'materials', removed: 2, of: 2 } });
  });

  // Source: one connection for each yard's system, with the material list of the company in both.
  test('belongs to the sites of both connections of a hauler, whichever is synchronised last', async () => {
    await renew();
    const second = await scene.connect();
    for (const [connection, name] of [
      [scene.connectionId, 'a'],
      [second, 'b'],
      [scene.connectionId, 'a'],
    ] as const) {
      const run = await scene.sync(
        { sites: [site(name)], kiosks: [], materials: [under({ siteId: idOf(name) })] },
        connection,
      );
      expect(run.status).toBe('succeeded');
    }
    expect(await statuses('a', 'b')).toEqual([200, 200]);
    await scene.sync({ sites: [site('b')], kiosks: [], materials: [under(B)] }, second);
    expect(counts(await scene.sync(undefined, second), 'materials')).toEqual({ received: 1, unchanged: 1 });
  });
});

describe('a run that quarantined records', () => {
  beforeAll(renew);

  // Source: 135 of 700 materials were refused for weeks below a green "succeeded".
  test.each<[string, PlainSiteData, string | undefined]>([
    ['a material', { ...withMaterials(under(A, { measureUnit: 'Barrel' })) }, '1 of 6 records are in quarantine'],
    [
      'a site and a material',
      { sites: [site('a'), site('b', { name: 7 })], materials: [material('n')] },
      'sites 1, materials 1.',
    ],
    ['none', withMaterials(under(A)), undefined],
  ])('says so beside its status: %s', async (_, data, sentence) => {
    const run = await scene.sync(data);
    expect(run.status).toBe('succeeded');
    if (sentence === undefined) expect(run).not.toHaveProperty('attention');
    else expect(run.attention).toContain(sentence);
    const found = async (query: string) => {
      const path = `/sync-runs?connectionId=${scene.connectionId}&latest=true&${query}`;
      return (await scene.service.admin<{ data: { id: string }[] }>('GET', path)).body.data.map(({ id }) => id);
    };
    expect(await found('quarantined=true')).toEqual(sentence === undefined ? [] : [run.id]);
    expect(await found('quarantined=false')).toEqual(sentence === undefined ? [run.id] : []);
    const history = await scene.service.admin('GET', `/sync-runs/${run.id}/history`);
    expect(history.text.includes('are in quarantine')).toBe(sentence !== undefined);
  });
});

describe('a ticket that comes before its master data', () => {
  beforeAll(renew);
  const synchronisations = () => scene.partner.askedOf(SITES_ROUTE).length;

  // Source: a new material was weighed before the next synchronisation, and every retry was refused.
  test('a ticket that comes before its site makes the connection due at once, once a minute, and is then taken', async () => {
    scene.answers({ sites: [site('new')], kiosks: [], materials: [material('m', { siteId: idOf('new') })] });
    scene.connectionId = await scene.connect({ enabled: true, intervalSeconds: 3_600 });
    await eventually(async () => expect((await scene.runs())[0]).toMatchObject({ status: 'succeeded' }));
    await scene.service.dataSource.query('DELETE FROM materials');
    await scene.service.dataSource.query('DELETE FROM sites');
    // The last run was more than a minute ago.
    await scene.service.dataSource.query("UPDATE sync_runs SET created_at = created_at - interval '2 minutes'");
    const before = synchronisations();

    const refused = await push();
    expect(refused.status).toBe(422);
    expect(refused.body.error?.message).toMatch(
      /were last synchronised at \d{4}-.*send the ticket again in a minute\.$/,
    );
    await eventually(async () => expect((await push()).status).toBe(200));
    expect(synchronisations()).toBe(before + 1);

    // Nobody makes a connection due more than once a minute.
    await scene.service.dataSource.query('DELETE FROM tickets');
    await scene.service.dataSource.query('DELETE FROM materials');
    expect((await push()).status).toBe(422);
    const [row] = await scene.service.dataSource.query<{ later: boolean }[]>(
      'SELECT due_at > now() AS later FROM connections WHERE id = $1',
      [scene.connectionId],
    );
    expect(row?.later).toBe(true);
  });

  test('a connection that an admin changes at this moment delays no push', async () => {
    const { dataSource } = scene.service;
    await dataSource.query("UPDATE sync_runs SET created_at = created_at - interval '2 minutes'");
    await dataSource.transaction(async (manager) => {
      await manager.query('SELECT FROM connections FOR UPDATE');
      expect((await push()).status).toBe(422);
    });
  });
});
