import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExchangeList } from '../../../src/contracts/admin/exchange.dto.js';
import type { Overview } from '../../../src/contracts/admin/overview.dto.js';
import { type Demo, seedDemo } from '../../../src/demo/seed.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import type { Reply } from '../../support/http.js';
import { eventually } from '../../support/eventually.js';
import { CUSTOMER, TRUCK } from '../../support/reference-vision.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

const named = (name: string) => ({ 'Sandbox-Scenario': name });
const shown = ({ headers }: Reply): string | null => headers.get('Sandbox-Scenario');

describe('a scenario is shown on each call that it touches', () => {
  test('also on the lists of a clip that it delays or lets fail', async () => {
    const slow = (await scene.requestVideo({}, named('endless-clip'))).body.requestId;
    const failed = (await scene.requestVideo({}, named('failed-clip'))).body.requestId;
    const plain = (await scene.requestVideo()).body.requestId;
    const list = (requestId: string) => scene.listVideos({ requestId });
    await eventually(async () => {
      expect((await list(failed)).body.data.request?.status).toBe('failed');
      expect((await list(plain)).body.data.request?.status).toBe('ready');
    });
    const calls = [await list(slow), await list(failed), await list(plain)];
    expect(calls.map(shown)).toEqual(['endless-clip', 'failed-clip', null]);
    await scene.service.app.get(ExchangeLog).flush();
    const { body } = await scene.service.admin<ExchangeList>('GET', '/exchanges?direction=inbound&pageSize=3');
    expect(body.data.map(({ scenario }) => scenario)).toEqual([undefined, 'failed-clip', 'endless-clip']);
  });

  test('also on a list of all trucks that has an element of a magic truck, and on its links', async () => {
    await scene.requestVideo({ truckId: 'SANDBOX-LINK-EXPIRED-AT-BIRTH' });
    const list = await eventually(async () => {
      const reply = await scene.listVideos({ pageSize: '100' });
      expect(reply.body.data.videos.map(({ truckId }) => truckId)).toContain('SANDBOX-LINK-EXPIRED-AT-BIRTH');
      return reply;
    });
    expect(shown(list)).toBe('link-expired-at-birth');
    const link = list.body.data.videos.find(({ truckId }) => truckId !== TRUCK)?.downloadUrl ?? '';
    const download = await fetch(link);
    expect([download.status, download.headers.get('Sandbox-Scenario')]).toEqual([410, 'link-expired-at-birth']);
    expect(shown(await scene.listVideos({ truckId: TRUCK }))).toBeNull();
  });

  test('also where the route refuses the call for another reason', async () => {
    const slow = { forSeconds: 60, parameters: { seconds: 0.01 } };
    for (const subject of [`haulers/${scene.haulerId}`, `customers/${CUSTOMER}`]) {
      await scene.start(subject, 'slow-answer', slow);
    }
    const calls = [
      await scene.pushTicket({}, { materials: 'none' }),
      await scene.createAccount(''),
      await scene.requestVideo({ cameraId: 'no such camera' }),
      await scene.listContinuous({ truckId: 'no such truck' }),
    ];
    expect(calls.map(({ status }) => status)).toEqual([400, 400, 404, 404]);
    expect(new Set(calls.map(shown))).toEqual(new Set(['slow-answer']));
    for (const subject of [`haulers/${scene.haulerId}`, `customers/${CUSTOMER}`]) {
      await scene.service.admin('DELETE', `/sandbox/${encodeURI(subject)}/scenarios/slow-answer`);
    }
  });
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
  const metrics = async () =>
    (
      await scene.service.call('GET', '/metrics', {
        headers: { Authorization: `Bearer ${scene.service.env.ADMIN_TOKEN}` },
      })
    ).text;
  /** The requests of a route, by status. */
  const requests = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('http_request_duration_seconds_count') && !/admin|metrics/.test(line));

  test('counts as a refusal neither in the overview nor in the metrics', async () => {
    const before = await counted();
    const calm = requests(await metrics());
    for (const name of ['unauthorized', 'too-many-requests', 'server-error', 'unavailable', 'rule-violated']) {
      await scene.pushTicket(named(name));
    }
    await scene.createAccount('Refused', named('conflict'));
    await scene.getSites(named('unavailable'));
    await scene.listVideos({}, named('cut-answer')).catch(() => undefined);
    await scene.pushTicket(named('answer-lost')).catch(() => undefined);
    expect(await counted()).toEqual({ ...before, created: before.created + 1 });
    const text = await metrics();
    expect(requests(text)).toEqual(calm);
    expect(text).toContain('sandbox_answers_total{scenario="rule-violated"} 1');
    const real = await scene.pushTicket({}, { materials: 'none' });
    expect(real.status).toBe(400);
    expect((await counted()).refusedTickets).toBe(before.refusedTickets + 1);
  });

  test('is no refused key of a partner, and nothing that needs attention', async () => {
    const { service, haulerId, partnerKey } = scene;
    const { body } = await service.admin<{ id: string }>('POST', '/connections', {
      haulerId,
      interface: 'site',
      baseUrl: service.url,
      apiKey: partnerKey,
      enabled: false,
    });
    await scene.start(`haulers/${haulerId}`, 'unauthorized', { times: 1 });
    await service.admin('POST', `/connections/${body.id}/sync`);
    await eventually(async () => expect(await metrics()).toContain('outcome="sandbox"} 1'));
    expect(await metrics()).toContain('partner_calls_total{interface="site",outcome="unauthorized"} 0');
    const run = await eventually(async () => {
      const runs = await service.admin<{ data: { error?: string }[] }>('GET', `/sync-runs?connectionId=${body.id}`);
      expect(runs.body.data[0]?.error).toBeDefined();
      return runs.body.data[0];
    });
    expect(run?.error).toContain('The sandbox injected the scenario unauthorized.');
    await service.dataSource.query('UPDATE connections SET enabled = true WHERE id = $1', [body.id]);
    const { data } = (await service.admin<{ data: { connection?: { id: string } }[] }>('GET', '/attention')).body;
    expect(data.filter(({ connection }) => connection?.id === body.id)).toEqual([]);
  });
});

describe("the demo's keys", () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await seedDemo(scene.service.env, scene.service.url);
  });

  const own = (method: string, path: string, key: string, body?: object) =>
    scene.service.call(method, `/partner/v1/sandbox${path}`, { headers: { 'API-KEY': key }, body });

  test('start and end scenarios, and the key of the partner moves the clock', async () => {
    const { platform, partner } = demo.keys;
    for (const [key, name] of [
      [platform, 'rule-violated'],
      [partner, 'site-list-shrinks'],
      [partner, 'slow-clip'],
      [partner, 'unavailable'],
    ] as const) {
      expect([name, (await own('PUT', `/scenarios/${name}`, key, { times: 1 })).status]).toEqual([name, 200]);
      expect([name, (await own('DELETE', `/scenarios/${name}`, key)).status]).toEqual([name, 204]);
    }
    expect((await own('GET', '/scenarios', partner)).status).toBe(200);
    expect((await own('POST', '/clock', partner, { advanceSeconds: 1 })).status).toBe(200);
    expect((await own('POST', '/clock', partner, { advanceTo: 'link-expired' })).status).toBe(200);
  });

  test('read the demo alone', async () => {
    const sites = (haulerId: string) =>
      scene.service.call('GET', `/scale-platform/v1/sites?haulerId=${haulerId}`, {
        headers: { 'API-KEY': demo.keys.partner },
      });
    expect([(await sites(DEMO.haulerId)).status, (await sites(scene.haulerId)).status]).toEqual([200, 404]);
  });
});
