import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Attention } from '../../../src/contracts/admin/attention.dto.js';
import type { ExchangeReasons } from '../../../src/contracts/admin/exchange-reason.dto.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { createHauler, issueKey } from '../../support/api-keys.js';
import { listExchanges } from '../../support/exchange-scene.js';
import { html } from '../../support/scripted-partner.js';
import { idOf, material, site } from '../../support/site-data.js';
import { SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

type Filter = Readonly<Record<string, string>>;

let scene: SiteScene;
const haulers: string[] = [];
beforeAll(async () => {
  scene = await SiteScene.start();
  await scene.renew();
  await scene.sync({ sites: [site('a')], materials: [material('m', { siteId: idOf('a') })] });
  haulers.push(scene.haulerId, await createHauler(scene.service));
  const [key, other] = await Promise.all(haulers.map((haulerId) => issueKey(scene.service, ['scale'], { haulerId })));
  for (let n = 0; n < 3; n++) await push(key?.key ?? '', idOf('a'), 'unknown');
  for (let n = 0; n < 2; n++) await push(other?.key ?? '', idOf('a'), 'm');
  await push(key?.key ?? '', 'nonsense', 'm');
  await push('wrong', idOf('a'), 'm');
  expect((await push(key?.key ?? '', idOf('a'), 'm')).status).toBe(200);
  scene.partner.on(SITES_ROUTE, html(502));
  await scene.sync();
});
afterAll(() => scene.stop());

const push = (key: string, siteId: string, name: string) =>
  scene.service.call('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': key },
    body: {
      siteId,
      materials: [{ id: idOf(name), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
      inboundFlow: { ticketNumber: 'IN-1', updatedAt: '2026-01-31T08:00:00Z' },
    },
  });

async function reasons(filter: Filter = {}): Promise<ExchangeReasons> {
  await scene.service.app.get(ExchangeLog).flush();
  const path = `/exchanges/reasons?${new URLSearchParams(filter).toString()}`;
  const { status, body } = await scene.service.admin<ExchangeReasons>('GET', path);
  expect(status).toBe(200);
  return body;
}

const counted = async (filter?: Filter) => (await reasons(filter)).data.map(({ reason, count }) => [reason, count]);

test('failed exchanges are counted by reason, each with a sentence, over the whole filter', async () => {
  const inbound = await reasons({ direction: 'inbound' });
  expect(inbound.data.map(({ reason, count, sentence }) => [reason, count, sentence])).toEqual([
    ['materialExists', 3, 'The platform has no material with this id for your hauler.'],
    ['siteExists, materialExists', 2, 'The platform has no site with this id for your hauler. With another fault.'],
    ['UNAUTHORIZED', 1, expect.stringContaining('The API key was missing, wrong')],
    ['isUuid', 1, 'The value is no UUID.'],
  ]);
  expect(inbound.complete).toBe(true);
  const [failing] = (await reasons({ direction: 'outbound' })).data;
  expect(failing).toMatchObject({ direction: 'outbound', reason: expect.any(String), sentence: expect.any(String) });
  expect(await counted({ haulerId: haulers[1] ?? '' })).toEqual([['siteExists, materialExists', 2]]);
  expect(await counted({ direction: 'inbound', status: '400' })).toEqual([['isUuid', 1]]);
  expect(await counted({ reference: 'ticketNumber:IN-1', status: '422' })).toEqual([
    ['materialExists', 3],
    ['siteExists, materialExists', 2],
  ]);
  expect(await counted({ from: '2999-01-01T00:00:00Z' })).toEqual([]);
});

test('each reason lists its exchanges, and no others', async () => {
  for (const { direction, reason, count } of (await reasons()).data) {
    const { data } = (await listExchanges(scene.service, { direction, reason, pageSize: '100' })).body;
    expect([reason, data.length, new Set(data.map((each) => each.reason))]).toEqual([reason, count, new Set([reason])]);
  }
  const { data: failed } = (await listExchanges(scene.service, { direction: 'inbound', failed: 'true' })).body;
  expect(failed).toHaveLength(7);
  const { data: others } = (await listExchanges(scene.service, { direction: 'inbound', failed: 'false' })).body;
  expect(others.map(({ status, reason }) => [status, reason])).toEqual([[200, undefined]]);
});

test('refused pushes that need attention lead to exactly the exchanges that are counted', async () => {
  const { data } = (await scene.service.admin<Attention>('GET', '/attention')).body;
  const refused = data.filter(({ kind }) => kind === 'refused-pushes');
  expect(refused.map(({ count }) => count).sort()).toEqual([1, 1, 2, 3]);
  for (const { count, page } of refused) {
    const { body } = await listExchanges(scene.service, Object.fromEntries(new URL(page, 'http://x').searchParams));
    expect([page, body.data.length]).toEqual([page, count]);
  }
});

test('an unknown filter is refused', async () => {
  expect((await scene.service.admin('GET', '/exchanges/reasons?colour=red')).status).toBe(400);
});
