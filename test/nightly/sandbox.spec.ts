import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Overview } from '../../src/contracts/admin/overview.dto.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';
import { hurryVideo } from '../support/time.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

const named = (name: string) => ({ 'Sandbox-Scenario': name });

test('a scenario is counted once by all instances together', async () => {
  const other = await startTestApp({ on: scene.service });
  try {
    await scene.start(`haulers/${scene.haulerId}`, 'unavailable', { times: 5 });
    const path = `/scale-platform/v1/sites?haulerId=${scene.haulerId}`;
    const headers = { 'API-KEY': scene.partnerKey };
    const calls = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? scene.service : other).call('GET', path, { headers }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(15).fill(200), ...Array<number>(5).fill(503)]);
  } finally {
    await other.close();
  }
});

describe('a call that a scenario touched', () => {
  const counted = async () => {
    await scene.service.app.get(ExchangeLog).flush();
    const { body } = await scene.service.admin<Overview>('GET', '/overview');
    const sum = (read: (hour: Overview['hours'][number]) => number) =>
      body.hours.reduce((total, hour) => total + read(hour), 0);
    return {
      refusedTickets: sum(({ tickets }) => tickets.refused),
      refused: sum(({ exchanges }) => exchanges.refused),
      failed: sum(({ exchanges }) => exchanges.failed),
      unanswered: sum(({ exchanges }) => exchanges.unanswered),
      created: sum(({ tickets }) => tickets.created),
      reasons: body.refusedPushes.map(({ status, count }) => [status, count]),
    };
  };
  const metrics = async () => {
    const headers = { Authorization: `Bearer ${scene.service.env.ADMIN_TOKEN}` };
    return (await scene.service.call('GET', '/metrics', { headers })).text;
  };
  const requestsByStatus = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('http_request_duration_seconds_count') && !/admin|metrics/.test(line));

  test('counts as a refusal neither in the overview nor in the metrics', async () => {
    const before = await counted();
    const calm = requestsByStatus(await metrics());
    for (const name of ['unauthorized', 'too-many-requests', 'server-error', 'unavailable', 'rule-violated']) {
      await scene.pushTicket(named(name));
    }
    await scene.createAccount('Refused', named('conflict'));
    await scene.getSites(named('unavailable'));
    await expect(scene.listVideos({}, named('cut-answer'))).rejects.toThrow();
    await expect(scene.pushTicket(named('answer-lost'))).rejects.toThrow();
    expect(await counted()).toEqual({ ...before, created: before.created + 1 });
    const text = await metrics();
    expect(requestsByStatus(text)).toEqual(calm);
    expect(text).toContain('sandbox_answers_total{scenario="rule-violated"} 1');
    expect((await scene.pushTicket({}, { materials: 'none' })).status).toBe(400);
    expect((await counted()).refusedTickets).toBe(before.refusedTickets + 1);
  });

  test('is no refused key of a partner, and nothing that needs attention', async () => {
    const { service, haulerId, partnerKey: apiKey } = scene;
    const connection = { haulerId, interface: 'site', baseUrl: service.url, apiKey, enabled: false };
    const { body } = await service.admin<{ id: string }>('POST', '/connections', connection);
    await scene.start(`haulers/${haulerId}`, 'unauthorized', { times: 1 });
    await service.admin('POST', `/connections/${body.id}/sync`);
    const error = await eventually(async () => {
      const runs = await service.admin<{ data: { error?: string }[] }>('GET', `/sync-runs?connectionId=${body.id}`);
      expect(runs.body.data[0]?.error).toBeDefined();
      return runs.body.data[0]?.error;
    });
    expect(error).toContain('The sandbox injected the scenario unauthorized.');
    const text = await metrics();
    expect(text).toContain('outcome="sandbox"} 1');
    expect(text).toContain('partner_calls_total{interface="site",outcome="unauthorized"} 0');
    await service.admin('PATCH', `/connections/${body.id}`, { enabled: true });
    const { data } = (await service.admin<{ data: { connection?: { id: string } }[] }>('GET', '/attention')).body;
    expect(data.filter((each) => each.connection?.id === body.id)).toEqual([]);
  });
});

describe('the demo, whose partner side is that of the same service', () => {
  let service: TestApp;
  let demo: Demo;
  const connections = new Map<string, string>();
  beforeAll(async () => {
    service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
    demo = await seedDemo(service.env, service.url);
    const { body } = await service.admin<{ data: { id: string; interface: string }[] }>('GET', '/connections');
    for (const each of body.data) connections.set(each.interface, each.id);
  });
  afterAll(() => service.close());

  test.each([
    ['SANDBOX-FAILED-CLIP', { status: 'failed', reason: expect.stringContaining('The camera was switched off') }],
    ['SANDBOX-NO-RANGE', { status: 'stored' }],
    ['SANDBOX-ETAG-CHANGES', { status: 'stored' }],
    ['SANDBOX-CAMERA-ALIAS', { status: 'stored' }],
    ['SANDBOX-ENDLESS-CLIP', { status: 'processing' }],
  ])('gets a clip of the truck %s as its scenario says', async (truckId, expected) => {
    const body = { connectionId: connections.get('vision'), truckId, cameraId: 'front', ...demo.clip };
    const { status, body: request } = await service.admin<{ id: string }>('POST', '/video-requests', body);
    expect(status).toBe(202);
    await eventually(async () => {
      await hurryVideo(service);
      expect((await service.admin('GET', `/video-requests/${request.id}`)).body).toMatchObject(expected);
    });
  });

  test('repeats a call of a synchronisation that got 503', async () => {
    const parameters = { seconds: 0 };
    await service.admin('PUT', `/sandbox/haulers/${DEMO.haulerId}/scenarios/unavailable`, { times: 1, parameters });
    const run = await service.admin<{ runId: string }>('POST', `/connections/${connections.get('site')}/sync`);
    await eventually(async () =>
      expect((await service.admin('GET', `/sync-runs/${run.body.runId}`)).body).toMatchObject({ status: 'succeeded' }),
    );
    expect((await service.admin('GET', `/sandbox/haulers/${DEMO.haulerId}`)).body).toEqual({ data: [] });
  });

  test('has keys that read the demo alone, start scenarios and move the clock', async () => {
    const headers = { 'API-KEY': demo.keys.partner };
    const sites = (haulerId: string) =>
      service.call('GET', `/scale-platform/v1/sites?haulerId=${haulerId}`, { headers });
    const own = (method: string, path: string, body: object, key = demo.keys.partner) =>
      service.call(method, `/partner/v1/sandbox${path}`, { headers: { 'API-KEY': key }, body });
    expect([(await sites(DEMO.haulerId)).status, (await sites(scene.haulerId)).status]).toEqual([200, 404]);
    expect((await own('PUT', '/scenarios/rule-violated', { times: 1 }, demo.keys.platform)).status).toBe(200);
    expect((await own('PUT', '/scenarios/slow-clip', { times: 1 })).status).toBe(200);
    expect((await own('POST', '/clock', { advanceSeconds: 1 })).status).toBe(200);
  });
});
