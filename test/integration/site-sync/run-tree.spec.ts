import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SyncTreeSite } from '../../../src/contracts/admin/sync-tree.dto.js';
import { issueKey } from '../../support/api-keys.js';
import { idOf, kiosk, material, site } from '../../support/site-data.js';
import { SiteScene } from '../../support/site-scene.js';

let scene: SiteScene;
let runId: string;
beforeAll(async () => {
  scene = await SiteScene.start();
  await scene.renew();
  await scene.sync({
    sites: [site('a', { name: 'North' }), site('b', { name: 'South' })],
    kiosks: [kiosk('k', 'a', { name: 'Scale 1' })],
    materials: [
      material('m', { siteId: idOf('a'), materialType: 'Concrete' }),
      material('n', { kioskId: idOf('k'), materialType: 'Asphalt' }),
      material('o', { siteId: idOf('b'), materialType: 'Soil' }),
    ],
  });
  const { key } = await issueKey(scene.service, ['scale'], { haulerId: scene.haulerId });
  for (const [number, names] of Object.entries({ 'IN-1': ['m'], 'IN-2': ['m', 'n'], 'IN-3': ['n'] })) {
    const { status } = await scene.service.call('POST', '/platform-api/v1/tickets', {
      headers: { 'PLATFORM-API-KEY': key },
      body: {
        siteId: idOf('a'),
        materials: names.map((name) => {
          return { id: idOf(name).toUpperCase(), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };
        }),
        inboundFlow: { ticketNumber: number, updatedAt: '2026-01-31T08:00:00Z' },
      },
    });
    expect(status).toBe(200);
  }
  // A ticket of two months ago, and one of another hauler with the same site.
  await scene.service.dataSource.query(
    `INSERT INTO tickets (hauler_id, id, site_id, revision, created_at, updated_at, inbound_number, materials)
     SELECT $1::uuid, '01900000-0000-7000-8000-000000000001'::uuid, $2::uuid, 1, now(), now(), 'OLD', '[]'
     UNION ALL SELECT gen_random_uuid(), max(id::text)::uuid, $2::uuid, 1, now(), now(), 'OTHER', '[]' FROM tickets`,
    [scene.haulerId, idOf('a')],
  );
  const run = await scene.sync({
    sites: [site('a', { name: 'North yard' }), site('c', { name: 'West' })],
    kiosks: [],
    materials: [],
  });
  expect(run.status).toBe('held');
  runId = run.id;
});
afterAll(() => scene.stop());

const tree = async (query = '') =>
  (
    await scene.service.admin<{ data: SyncTreeSite[]; pagination: { totalItems: number } }>(
      'GET',
      `/sync-runs/${runId}/tree${query}`,
    )
  ).body;

test('a held run is a tree of sites: what would be removed, added and changed, with the tickets that use it', async () => {
  const { data } = await tree();
  const shown = data.map(({ name, change, changes, tickets, records, total }) => {
    const lines = records.map((record) => [record.name, record.kind, record.change, record.tickets?.count]);
    return { name, change, changes, tickets: tickets.count, total, lines };
  });
  expect(shown).toEqual(
    expect.arrayContaining([
      {
        name: 'North yard',
        change: 'updated',
        changes: ['name'],
        tickets: 3,
        total: 3,
        lines: [
          ['Scale 1', 'kiosks', 'held', undefined],
          ['Asphalt', 'materials', 'held', 2],
          ['Concrete', 'materials', 'held', 2],
        ],
      },
      {
        name: 'South',
        change: 'deactivated',
        changes: ['active'],
        tickets: 0,
        total: 1,
        lines: [['Soil', 'materials', 'held', 0]],
      },
      { name: 'West', change: 'created', changes: expect.any(Array), tickets: 0, total: 0, lines: [] },
    ]),
  );
  expect(data.map(({ name }) => name)[0]).toBe('North yard');
  expect(data[0]?.tickets.more).toBe(false);
});

test('the tree has pages of sites, and belongs to a run that exists', async () => {
  expect((await tree('?pageSize=1&page=2')).data.map(({ name }) => name)).toEqual(['South']);
  expect((await tree('?pageSize=1')).pagination.totalItems).toBe(3);
  expect((await scene.service.admin('GET', `/sync-runs/${idOf('nowhere')}/tree`)).status).toBe(404);
});
