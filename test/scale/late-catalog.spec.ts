import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueKey } from '../support/api-keys.js';
import { eventually } from '../support/eventually.js';
import { type TicketReply, TICKETS } from '../support/scale-house.js';
import { idOf, material, site } from '../support/site-data.js';
import { SITES_ROUTE, SiteScene } from '../support/site-scene.js';

let scene: SiteScene;
let key: string;
beforeAll(async () => {
  scene = await SiteScene.start();
  await scene.renew();
  ({ key } = await issueKey(scene.service, ['scale'], { haulerId: scene.haulerId }));
});
afterAll(() => scene.stop());

const push = () =>
  scene.service.call<TicketReply>('POST', TICKETS, {
    headers: { 'PLATFORM-API-KEY': key },
    body: {
      siteId: idOf('new'),
      inboundFlow: { ticketNumber: 'IN-1', updatedAt: '2026-01-31T08:30:00Z' },
      materials: [{ id: idOf('m'), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
    },
  });
const synchronisations = () => scene.partner.askedOf(SITES_ROUTE).length;

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
  expect(refused.body.error?.message).toMatch(/were last synchronised at \d{4}-.*send the ticket again in a minute\.$/);
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
