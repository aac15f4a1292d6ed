import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExchangeDetail, ExchangeList } from '../../../src/contracts/admin/exchange.dto.js';
import { IssueKeysForConnections1795570510000 } from '../../../migrations/1795570510000-issue-keys-for-connections.js';
import { PARTNER_CONNECTION_ROUTES } from '../../../src/contracts/partner/partner-connection.routes.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { issueConnectionKey, issueKey, type TestKey } from '../../support/api-keys.js';
import type { Reply } from '../../support/http.js';
import { refuses } from '../../support/scripted-partner.js';
import { site } from '../../support/site-data.js';
import { PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let scene: SiteScene;
let other: SiteScene;
let own: TestKey;
let foreign: TestKey;
beforeAll(async () => {
  scene = await SiteScene.start();
  await scene.renew();
  other = await scene.neighbour();
  own = await issueConnectionKey(scene.service, scene.connectionId, { name: 'Camera vendor' });
  foreign = await issueConnectionKey(scene.service, other.connectionId);
  for (const each of [scene, other]) {
    each.partner.on(SITES_ROUTE, refuses(403, 'NOT_FOUND', `no sites today, ${PARTNER_KEY}`));
    await each.service.admin('POST', `/connections/${each.connectionId}/check`);
  }
  await scene.service.app.get(ExchangeLog).flush();
});
afterAll(async () => {
  await other.partner.stop();
  await scene.stop();
});

const get = <T = Record<string, never>>(path: string, { key }: { key: string } = own): Promise<Reply<T>> =>
  scene.service.call<T>('GET', `/partner/v1${path}`, { headers: { 'API-KEY': key } });
const issue = (body: object) => scene.service.admin<{ id: string }>('POST', '/api-keys', body);

describe('a key of a connection', () => {
  test('says which connection and hauler it is', async () => {
    expect((await get('/me')).body).toMatchObject({
      interfaces: [],
      haulerId: scene.haulerId,
      connectionId: scene.connectionId,
      connection: { id: scene.connectionId, interface: 'site', baseUrl: scene.partner.url, enabled: false },
      keyPrefix: own.prefix,
      lastSynchronisation: null,
    });
  });

  test('opens none of the interfaces, nor the admin API', async () => {
    const headers = { 'PLATFORM-API-KEY': own.key, 'API-KEY': own.key };
    const calls: [method: string, path: string][] = [
      ['POST', '/platform-api/v1/tickets'],
      ['POST', '/platform-api/v1/accounts'],
      ['GET', `/scale-platform/v1/sites?haulerId=${scene.haulerId}`],
      ['GET', '/video-platform/v1/videos?customerId=c'],
      ['POST', '/video-platform/v1/videos/requests'],
      ['GET', '/admin/v1/connections'],
      ['GET', '/metrics'],
    ];
    for (const [method, path] of calls) {
      expect([path, (await scene.service.call(method, path, { headers })).status]).toEqual([path, 401]);
    }
    const bearer = { Authorization: `Bearer ${own.key}` };
    expect((await scene.service.call('GET', '/admin/v1/connections', { headers: bearer })).status).toBe(401);
  });

  test('reads no records of its hauler, and starts no scenario', async () => {
    for (const path of ['/tickets', `/tickets/${UNKNOWN}`, '/accounts']) expect((await get(path)).status).toBe(404);
    const headers = { 'API-KEY': own.key };
    const start = { headers, body: { times: 1 } };
    const scenario = await scene.service.call('PUT', '/partner/v1/sandbox/scenarios/server-error', start);
    expect(scenario.status).toBeGreaterThanOrEqual(400);
  });

  test('is listed with its connection and name, and is rotated', async () => {
    const { body } = await scene.service.admin<{ data: object[] }>('GET', `/api-keys?connectionId=${own.connectionId}`);
    expect(body.data).toMatchObject([
      { id: own.id, connectionId: scene.connectionId, haulerId: scene.haulerId, interfaces: [], name: 'Camera vendor' },
    ]);
    const rotated = await scene.service.admin<TestKey>('POST', `/api-keys/${own.id}/rotate`, { overlapSeconds: 600 });
    expect(rotated.body).toMatchObject({ connectionId: scene.connectionId, interfaces: [], name: 'Camera vendor' });
    expect((await get('/me', rotated.body)).body).toMatchObject({ connectionId: scene.connectionId });
    expect((await get('/me')).status).toBe(200);
  });

  test('expires and is revoked', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const brief = await issueConnectionKey(scene.service, scene.connectionId, { expiresAt });
    const revoked = await issueConnectionKey(scene.service, scene.connectionId);
    expect((await get('/me', revoked)).status).toBe(200);
    await scene.service.admin('DELETE', `/api-keys/${revoked.id}`);
    expect((await get('/me', revoked)).status).toBe(401);
    await new Promise((resolve) => setTimeout(resolve, Date.parse(expiresAt) - Date.now() + 50));
    expect((await get('/me', brief)).status).toBe(401);
  });

  test('ends with its connection, its successor too', async () => {
    const connectionId = await scene.connect();
    const key = await issueConnectionKey(scene.service, connectionId);
    expect((await get('/me', key)).status).toBe(200);
    const { body: next } = await scene.service.admin<TestKey>('POST', `/api-keys/${key.id}/rotate`);
    await scene.service.admin('DELETE', `/connections/${connectionId}`);
    expect([(await get('/me', key)).status, (await get('/me', next)).status]).toEqual([401, 401]);
    const { body } = await scene.service.admin<{ data: object[] }>('GET', `/api-keys?connectionId=${connectionId}`);
    expect(body.data).toMatchObject([{ revokedAt: expect.any(String) }, { revokedAt: expect.any(String) }]);
    expect((await scene.service.admin('POST', `/api-keys/${key.id}/rotate`)).status).toBe(409);
    expect((await issue({ connectionId })).status).toBe(400);
  });

  test.each<[string, object, string[]]>([
    ['an unknown connection', { connectionId: UNKNOWN }, ['connectionId']],
    ['what is no id', { connectionId: 'x' }, ['connectionId']],
    ['interfaces beside it', { connectionId: 'C', interfaces: ['site'] }, ['interfaces']],
    [
      'a hauler and a customer beside it',
      { connectionId: 'C', haulerId: UNKNOWN, customerId: 'c' },
      ['haulerId', 'customerId'],
    ],
    ['all customers', { connectionId: 'C', allCustomers: true }, ['allCustomers']],
    ['an end in the past', { connectionId: 'C', expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt']],
  ])('is not issued for %s', async (_what, body, paths) => {
    const named = 'connectionId' in body && body.connectionId === 'C' ? { connectionId: scene.connectionId } : {};
    const { status, body: answer } = await issue({ ...body, ...named });
    const { violations } = (answer as unknown as { error: { details: { violations: { path: string }[] } } }).error
      .details;
    expect([status, violations.map(({ path }) => path)]).toEqual([400, paths]);
  });
});

describe('the calls that we made', () => {
  test('are those to its partner alone, with bodies and without our key', async () => {
    const { body } = await get<ExchangeList>('/exchanges?direction=outbound&status=4xx');
    expect(body.data.length).toBeGreaterThan(0);
    for (const each of body.data)
      expect(each).toMatchObject({ connectionId: scene.connectionId, direction: 'outbound' });
    const { body: full } = await get<ExchangeDetail>(`/exchanges/${body.data[0]?.id}`);
    expect(full.response?.body?.text).toContain('no sites today');
    expect(full.explanation).toContain('The partner refused the request.');
    expect(JSON.stringify(full)).not.toContain(PARTNER_KEY);
  });

  test("are neither those of another connection nor the hauler's pushes", async () => {
    const { haulerId, service } = scene;
    const scale = await issueKey(service, ['scale'], { haulerId });
    await service.call('POST', '/platform-api/v1/tickets', {
      headers: { 'PLATFORM-API-KEY': scale.key },
      body: { siteId: DEMO.siteId, materials: [] },
    });
    await service.app.get(ExchangeLog).flush();
    const ids = async (path: string, key = own) => (await get<ExchangeList>(path, key)).body.data.map(({ id }) => id);
    const pushes = await ids('/exchanges', scale);
    const theirs = await ids('/exchanges', foreign);
    expect([pushes.length, theirs.length > 0]).toEqual([1, true]);
    expect(await ids('/exchanges?direction=inbound')).toEqual([]);
    expect((await ids('/exchanges')).filter((id) => [...pushes, ...theirs].includes(id))).toEqual([]);
    for (const id of [...pushes, ...theirs, UNKNOWN]) expect((await get(`/exchanges/${id}`)).status).toBe(404);
    for (const filter of ['connectionId', 'haulerId', 'apiKeyId']) {
      expect((await get(`/exchanges?${filter}=${other.connectionId}`)).status).toBe(400);
    }
  });
});

describe('the synchronisation runs', () => {
  interface Runs {
    readonly data: { id: string; status: string; connectionId: string }[];
  }

  test('are those of its connection, with changes and quarantined records', async () => {
    const data = { sites: [site('north'), site('bad', { name: 7 })], kiosks: [], materials: [] };
    const [run, theirs] = [await scene.sync(data), await other.sync(data)];
    const { body } = await get<Runs>(`/sync-runs?quarantined=true&connectionId=${other.connectionId}`);
    expect(body.data).toMatchObject([{ id: run.id, connectionId: scene.connectionId, status: 'succeeded' }]);
    expect((await get(`/sync-runs/${run.id}`)).body).toMatchObject({ id: run.id, counts: { sites: { created: 1 } } });
    const records = async (path: string) => (await get<{ data: object[] }>(path)).body.data;
    expect(await records(`/sync-runs/${run.id}/changes?change=created`)).toMatchObject([{ name: 'Site north' }]);
    expect(await records(`/sync-runs/${run.id}/quarantine`)).toMatchObject([
      { path: 'sites[1].name', reason: expect.stringContaining('name must be'), raw: { name: 7 } },
    ]);
    for (const path of [`/sync-runs/${run.id}/changes`, `/sync-runs/${run.id}/quarantine`, '/findings']) {
      const headers = { 'API-KEY': own.key, Accept: 'text/csv' };
      const csv = await scene.service.call('GET', `/partner/v1${path}`, { headers });
      expect([path, csv.headers.get('content-type')]).toEqual([path, 'text/csv; charset=utf-8; header=present']);
    }
    expect((await get('/me')).body).toMatchObject({ lastSynchronisation: run.finishedAt });
    expect(await records('/sites')).toMatchObject([{ name: 'Site north', connectionId: scene.connectionId }]);
    const another = await issueConnectionKey(scene.service, await scene.connect());
    expect((await get<{ data: object[] }>('/sites', another)).body.data).toEqual([]);
    expect((await get<{ data: object[] }>('/materials', another)).body.data).toEqual([]);
    for (const path of ['', '/changes', '/quarantine']) {
      expect((await get(`/sync-runs/${theirs.id}${path}`)).status).toBe(404);
      expect((await get(`/sync-runs/${run.id}${path}`, foreign)).status).toBe(404);
    }
    expect((await get<Runs>('/sync-runs?status=failed')).body.data).toEqual([]);
  });

  test('are neither confirmed nor rejected by the partner', async () => {
    const { data } = (await get<Runs>('/sync-runs')).body;
    for (const path of ['confirm', 'reject']) {
      const call = scene.service.call('POST', `/partner/v1/sync-runs/${data[0]?.id}/${path}`, {
        headers: { 'API-KEY': own.key },
      });
      expect((await call).status).toBe(404);
    }
  });
});

describe('every call for keys of a connection', () => {
  const routes = Object.values(PARTNER_CONNECTION_ROUTES);

  test.each(routes.map(({ method, path }) => [`${method} ${path}`, method, path] as const))(
    '%s is 404 for an unknown id and for keys of the hauler, and 401 without a key',
    async (_name, method, path) => {
      const { haulerId, service } = scene;
      const hauler = await issueKey(service, ['scale', 'account', 'site', 'vision'], { haulerId });
      const address = `/partner/v1${path.replace('{id}', UNKNOWN)}`;
      const status = async (headers: Record<string, string>) =>
        (await service.call(method, address, { headers })).status;
      expect(await status({ 'API-KEY': hauler.key })).toBe(404);
      expect(await status({ 'API-KEY': own.key })).toBe(path.includes('{id}') ? 404 : 200);
      expect(await status({})).toBe(401);
    },
  );
});

test('the migration goes back without these keys, and on again', async () => {
  const runner = scene.service.dataSource.createQueryRunner();
  await runner.startTransaction();
  await new IssueKeysForConnections1795570510000().down(runner);
  expect(await runner.query("SELECT FROM api_keys WHERE interfaces = '{}'")).toEqual([]);
  await new IssueKeysForConnections1795570510000().up(runner);
  await runner.rollbackTransaction();
  await runner.release();
});
