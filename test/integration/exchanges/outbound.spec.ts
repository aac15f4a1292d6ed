import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ExchangeDetail } from '../../../src/contracts/admin/exchange.dto.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { exchangeInFull, listExchanges, newestExchange } from '../../support/exchange-scene.js';
import { breaks, gzipped, hangs, json, refuses } from '../../support/scripted-partner.js';
import { answer, PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

let scene: SiteScene;
beforeAll(async () => {
  scene = await SiteScene.start({ env: { PARTNER_ANSWER_TIMEOUT: 300 } });
});
beforeEach(() => scene.renew());
afterAll(() => scene.stop());

const check = (connectionId = scene.connectionId) => scene.service.admin('POST', `/connections/${connectionId}/check`);
const newest = () => exchangeInFull(scene.service, { connectionId: scene.connectionId });

test('a call to a partner is kept with its response, without the key', async () => {
  scene.partner.on(
    SITES_ROUTE,
    json({ success: true, data: {}, echo: PARTNER_KEY }, { headers: { 'X-Echo': PARTNER_KEY } }),
  );
  await check();
  const found = await newest();
  expect(found).toMatchObject({
    direction: 'outbound',
    interface: 'site',
    route: 'getSites',
    method: 'GET',
    path: `/scale-platform/v1/sites?haulerId=${scene.haulerId}`,
    haulerId: scene.haulerId,
    apiKeyId: null,
    status: 200,
  });
  expect(found.requestId).toBe(scene.partner.asked.at(-1)?.headers['x-request-id']);
  expect(found.request.headers['API-KEY']).toBe('[redacted]');
  expect(found.response?.body?.text).toBe('{"success":true,"data":{},"echo":"[redacted]"}');
  expect(found.response?.body?.redacted).toBe(true);
  expect(JSON.stringify(found)).not.toContain(PARTNER_KEY);
});

test.each([
  ['refuses with a status', refuses(503, 'INTERNAL_ERROR', 'maintenance'), 503, undefined],
  ['does not respond', hangs(), null, 'timed-out'],
  ['breaks off', breaks('{"success":true,"data":{}}', 10), 200, 'broken'],
  ['sends no JSON', gzipped('<html>'), 200, 'not-json'],
])('a partner that %s', async (_what, reply, status, failure) => {
  scene.partner.on(SITES_ROUTE, reply);
  await check();
  const calls = await listExchanges(scene.service, { connectionId: scene.connectionId });
  const { id } = calls.body.data.at(-1) ?? {};
  const { body: found } = await scene.service.admin<ExchangeDetail>('GET', `/exchanges/${id}`);
  expect([found.status ?? null, found.failure]).toEqual([status, failure]);
  expect(found.explanation).toMatch(/^Our call GET \/scale-platform\/v1\/sites received/);
});

test('the bytes of a compressed response are those that were received', async () => {
  const text = JSON.stringify({
    success: true,
    data: { sites: [], kiosks: [], materials: [] },
    filler: 'x'.repeat(5_000),
  });
  scene.partner.on(SITES_ROUTE, gzipped(text));
  await check();
  const found = await newest();
  expect(found.responseBytes).toBe(gzipSync(text).length);
  expect(found.response?.body?.sizeBytes).toBe(found.responseBytes);
});

test('a partner that cannot be reached, and an address that is refused', async () => {
  const unreachable = await scene.connect();
  await scene.service.dataSource.query("UPDATE connections SET base_url = 'http://127.0.0.1:1' WHERE id = $1", [
    unreachable,
  ]);
  await check(unreachable);
  expect(await newestExchange(scene.service, { connectionId: unreachable })).toMatchObject({
    status: null,
    failure: 'unreachable',
  });
  const strict = await startTestApp({ on: scene.service, env: { OUTBOUND_ALLOW_PRIVATE: false } });
  try {
    await strict.admin('POST', `/connections/${unreachable}/check`);
    const refused = await newestExchange(strict, { connectionId: unreachable });
    expect(refused).toMatchObject({ status: null, failure: 'address-refused', direction: 'outbound' });
  } finally {
    await strict.close();
  }
});

test('the calls of a synchronisation are found by its run', async () => {
  scene.partner.on(SITES_ROUTE, answer({ sites: [], kiosks: [], materials: [] }));
  const { body } = await scene.service.admin<{ runId: string }>('POST', `/connections/${scene.connectionId}/sync`);
  await eventually(async () => {
    const found = await newestExchange(scene.service, { reference: `syncRunId:${body.runId}` });
    expect(found).toMatchObject({ connectionId: scene.connectionId, status: 200 });
  });
});
