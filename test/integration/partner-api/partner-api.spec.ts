import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExchangeDetail, ExchangeList } from '../../../src/contracts/admin/exchange.dto.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { createHauler, issueKey, type TestKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';

let scene: SandboxScene;
let service: TestApp;
let own: TestKey;
let other: TestKey;
beforeAll(async () => {
  scene = await startSandboxScene();
  service = scene.service;
  const haulerId = await createHauler(service);
  own = await issueKey(service, ['account', 'scale'], { haulerId, expiresAt: '2099-01-01T00:00:00Z' });
  other = await issueKey(service, ['account'], { haulerId });
  for (const { key } of [own, other]) {
    await service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key },
      body: { accountName: 'Green Valley' },
    });
  }
  await service.app.get(ExchangeLog).flush();
});
afterAll(() => service.close());

const get = <T>(path: string, headers: Record<string, string> = { 'PLATFORM-API-KEY': own.key }) =>
  service.call<T>('GET', `/partner/v1${path}`, { headers });

test('a key reads what it opens, in either header', async () => {
  const expected = {
    interfaces: ['account', 'scale'],
    haulerId: own.haulerId,
    keyPrefix: own.prefix,
    expiresAt: '2099-01-01T00:00:00Z',
    lastSynchronisation: null,
    sandbox: true,
  };
  for (const header of ['PLATFORM-API-KEY', 'API-KEY']) {
    expect((await get('/me', { [header]: own.key })).body).toEqual(expected);
  }
  const vision = await issueKey(service, ['vision'], { customerId: 'green-valley' });
  const { body } = await get('/me', { 'API-KEY': vision.key });
  expect(body).toMatchObject({ interfaces: ['vision'], customerId: 'green-valley', expiresAt: null });
});

test('a key lists its own calls alone, and reads one of them in full', async () => {
  const { body } = await get<ExchangeList>('/exchanges?reference=accountName:Green%20Valley');
  expect(body.data).toMatchObject([{ status: 200, result: 'created', keyPrefix: own.prefix }]);
  const { id = '' } = body.data[0] ?? {};
  const { body: full } = await get<ExchangeDetail>(`/exchanges/${id}`);
  expect(full.request.body?.text).toBe('{"accountName":"Green Valley"}');
  expect(full.explanation).toContain('received 200');
  const foreign = await get<ExchangeList>('/exchanges', { 'PLATFORM-API-KEY': other.key });
  expect(foreign.body.data).toMatchObject([{ status: 409, result: '409 NAME_TAKEN' }]);
  expect((await get(`/exchanges/${id}`, { 'PLATFORM-API-KEY': other.key })).status).toBe(404);
});

describe('what the platform has of the hauler of a key', () => {
  const material = { id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };
  const push = async (quantity: number, second: number) => {
    const inboundFlow = { ticketNumber: 'IN-READ', updatedAt: `2026-11-20T14:00:0${second}Z` };
    const reply = await scene.pushTicket({}, { inboundFlow, materials: [{ ...material, quantity }] });
    return (reply.body as unknown as { disposalTicketId: string }).disposalTicketId;
  };
  const read = <T>(path: string) => get<T>(path, { 'PLATFORM-API-KEY': scene.platformKey });

  test('is the state of a ticket with its pushes, found by its number', async () => {
    const id = await push(2, 2);
    await push(1, 1);
    const list = await read<{ data: object[] }>('/tickets?ticketNumber=IN-READ');
    expect(list.body.data).toMatchObject([{ id, materials: [{ quantity: 2 }] }]);
    const { body } = await read<object>(`/tickets/${id}`);
    expect(body).toMatchObject({
      id,
      materials: [{ quantity: 2 }],
      revisions: [
        { revision: 2, result: 'stale', keyPrefix: scene.platformKey.slice(0, 11) },
        { revision: 1, result: 'created', requestId: expect.any(String) },
      ],
    });
    const pushes = await read<{ data: object[] }>(`/tickets/${id}/revisions`);
    expect(pushes.body.data).toMatchObject([
      { body: { materials: [{ quantity: 2 }] } },
      { changes: expect.any(Array) },
    ]);
    for (const path of [`/tickets/${id}`, `/tickets/${id}/revisions`]) expect((await get(path)).status).toBe(404);
    expect((await get<{ data: object[] }>('/tickets?ticketNumber=IN-READ')).body.data).toEqual([]);
  });

  test('is its accounts, sites and materials', async () => {
    const accounts = await get<{ data: object[] }>(`/accounts?search=green&haulerId=${scene.haulerId}`);
    expect(accounts.body.data).toMatchObject([{ accountName: 'Green Valley', haulerId: own.haulerId }]);
    expect((await read<{ data: object[] }>('/sites')).body.data).toMatchObject([{ externalId: DEMO.siteId }]);
    const materials = await read<{ data: object[] }>(`/materials?siteId=${DEMO.siteId}`);
    expect(materials.body.data).toContainEqual(expect.objectContaining({ externalId: DEMO.materialId }));
    expect((await read<{ lastSynchronisation: unknown }>('/me')).body).toHaveProperty('lastSynchronisation');
  });

  test('is 404 for a key that does not open the interface, or has no hauler', async () => {
    const vision = await issueKey(service, ['vision'], { customerId: 'green-valley' });
    for (const path of ['/tickets', '/accounts', '/sites', '/materials']) {
      expect((await get(path, { 'API-KEY': vision.key })).status).toBe(404);
      expect((await get(path, {})).status).toBe(401);
    }
    expect((await get('/tickets', { 'PLATFORM-API-KEY': other.key })).status).toBe(404);
  });
});

test('filters of the admin API, unknown filters, and cursors of another key are 400', async () => {
  for (const query of [`apiKeyId=${other.id}`, `haulerId=${own.haulerId}`, 'colour=red', 'status=nice']) {
    expect((await get(`/exchanges?${query}`)).status).toBe(400);
  }
  await get('/me');
  await service.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': own.key }, body: {} });
  await service.app.get(ExchangeLog).flush();
  const { body } = await get<ExchangeList>('/exchanges?pageSize=1');
  expect(body.next).not.toBeNull();
  const path = `/exchanges?pageSize=1&cursor=${body.next}`;
  expect((await get(path)).status).toBe(200);
  expect((await get(path, { 'PLATFORM-API-KEY': other.key })).status).toBe(400);
});

test('no key is 401', async () => {
  for (const path of ['/me', '/exchanges']) expect((await get(path, {})).status).toBe(401);
});

const call = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  service.call<{ data: unknown[]; now: string }>(method, `/partner/v1/sandbox${path}`, { headers, body });
const platform = () => ({ 'PLATFORM-API-KEY': scene.platformKey });
const partner = () => ({ 'API-KEY': scene.partnerKey });

test('a partner reads the catalogue with its key, in either header', async () => {
  for (const headers of [platform(), partner(), { 'API-KEY': scene.platformKey }]) {
    const { status, body } = await call('GET', '/scenarios', headers);
    expect([status, body.data.length]).toEqual([200, 28]);
  }
});

test.each([
  ['no key', () => ({})],
  ['a wrong key', () => ({ 'API-KEY': 'hb_wrong' })],
  ['keys in both headers', () => ({ ...platform(), ...partner() })],
])('%s is 401', async (_what, headers) => {
  expect((await call('GET', '/scenarios', headers())).status).toBe(401);
});

test('a scenario acts on the hauler of the key, and ends by its deletion', async () => {
  expect((await call('PUT', '/scenarios/rule-violated', platform(), { forSeconds: 60 })).status).toBe(200);
  expect((await scene.pushTicket()).status).toBe(422);
  expect((await call('DELETE', '/scenarios/rule-violated', platform())).status).toBe(204);
  expect((await scene.pushTicket()).status).toBe(200);
});

test('a scenario of every interface acts on the hauler and on the customer of the key', async () => {
  await call('PUT', '/scenarios/unavailable', partner(), { times: 1 });
  expect((await scene.getSites()).status).toBe(503);
  expect((await scene.listVideos()).status).toBe(503);
});

test('a key reaches only the interfaces that it opens', async () => {
  expect((await call('PUT', '/scenarios/slow-clip', platform(), { times: 1 })).status).toBe(400);
  expect((await call('POST', '/clock', platform(), { advanceSeconds: 1 })).status).toBe(400);
  const { key } = await issueKey(service, ['vision'], { haulerId: scene.haulerId });
  expect((await call('PUT', '/scenarios/server-error', { 'API-KEY': key }, { times: 1 })).status).toBe(200);
});

const start = (key: string, name: string, body: object) => call('PUT', `/scenarios/${name}`, { 'API-KEY': key }, body);
const end = (key: string, name: string) => call('DELETE', `/scenarios/${name}`, { 'API-KEY': key });
const active = async () =>
  (await service.admin<{ data: object[] }>('GET', `/sandbox/haulers/${scene.haulerId}`)).body.data;

test('a scenario acts on the operations that the key opens, and on no other of its hauler', async () => {
  const { key } = await issueKey(service, ['account'], { haulerId: scene.haulerId });
  for (const name of ['rule-violated', 'site-list-shrinks', 'slow-clip']) {
    expect((await start(key, name, { times: 1 })).status).toBe(400);
  }
  for (const route of ['createTicket', 'getSites', 'listVideos']) {
    expect((await start(key, 'server-error', { times: 1, parameters: { route } })).status).toBe(400);
  }
  expect(await active()).toEqual([]);
  const { status, body } = await start(key, 'server-error', { forSeconds: 600 });
  expect([status, body]).toEqual([200, expect.objectContaining({ routes: ['createAccount'] })]);
  expect([(await scene.pushTicket()).status, (await scene.getSites()).status]).toEqual([200, 200]);
  const push = { headers: { 'PLATFORM-API-KEY': key }, body: { accountName: 'Scoped' } };
  expect((await service.call('POST', '/platform-api/v1/accounts', push)).status).toBe(500);
  expect((await end(key, 'server-error')).status).toBe(204);
  expect((await service.call('POST', '/platform-api/v1/accounts', push)).status).toBe(200);
});

test('a key neither replaces nor ends a scenario on operations that it does not open', async () => {
  const { key } = await issueKey(service, ['account'], { haulerId: scene.haulerId });
  const path = `/sandbox/haulers/${scene.haulerId}/scenarios/unavailable`;
  await service.admin('PUT', path, { times: 1_000, parameters: { route: 'createTicket' } });
  await start(key, 'unavailable', { times: 1 });
  await end(key, 'unavailable');
  expect((await scene.pushTicket()).status).toBe(503);
  await start(key, 'unavailable', { times: 1 });
  expect(await active()).toHaveLength(2);
  await service.admin('DELETE', path);
  expect(await active()).toEqual([]);
});

test.each([{ times: 1_001 }, { forSeconds: 86_401 }])(
  '%j is 400, and so is a step of the clock of more than a day',
  async (bounds) => {
    expect((await call('PUT', '/scenarios/unavailable', partner(), bounds)).status).toBe(400);
    expect((await call('POST', '/clock', partner(), { advanceSeconds: 86_401 })).status).toBe(400);
  },
);

test('the clock of the customer moves', async () => {
  const { status, body } = await call('POST', '/clock', partner(), { advanceSeconds: 86_400 });
  expect(status).toBe(200);
  expect(Date.parse(body.now)).toBeGreaterThan(Date.now() + 86_000_000);
});

test('all of it is 404 where SANDBOX is off', async () => {
  const plain = await startTestApp({ on: service, env: { SANDBOX: false } });
  try {
    const headers = partner();
    const calls = [
      plain.call('GET', '/partner/v1/sandbox/scenarios', { headers }),
      plain.call('PUT', '/partner/v1/sandbox/scenarios/server-error', { headers, body: { times: 1 } }),
      plain.call('PUT', '/partner/v1/sandbox/scenarios/server-error', { headers, body: '{' }),
      plain.call('POST', '/partner/v1/sandbox/clock', { headers, body: { advanceSeconds: 1 } }),
    ];
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  } finally {
    await plain.close();
  }
});
