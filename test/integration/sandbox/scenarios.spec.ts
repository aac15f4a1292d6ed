import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Scenario,
  SCENARIO_NAMES,
  SCENARIO_ROUTES,
  type ScenarioName,
  type ScenarioRoute,
  SCENARIOS,
} from '../../../src/contracts/sandbox/scenarios.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { type Demo, seedDemo } from '../../../src/demo/seed.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { CUSTOMER } from '../../support/reference-vision.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';
import { hurryVideo } from '../../support/time.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

const named = (name: string) => ({ 'Sandbox-Scenario': name });

describe('the catalogue', () => {
  test('lists every scenario with its interfaces, operations and magic value', async () => {
    const { status, body } = await scene.service.admin<{ data: { name: string }[] }>('GET', '/sandbox/scenarios');
    expect(status).toBe(200);
    expect(body.data.map(({ name }) => name)).toEqual(SCENARIO_NAMES);
    expect(body.data).toContainEqual({
      name: 'slow-clip',
      interface: 'vision',
      route: 'requestVideo',
      description: 'The clip stays in preparation for a while',
      parameters: { seconds: { description: 'Seconds of preparation', default: 120 } },
      magicValue: { truckId: 'SANDBOX-SLOW-CLIP' },
    });
  });

  test('is 404 where SANDBOX is off, as all calls of the sandbox are', async () => {
    const plain = await startTestApp({ on: scene.service, env: { SANDBOX: false } });
    try {
      const calls = [
        plain.admin('GET', '/sandbox/scenarios'),
        plain.admin('GET', `/sandbox/haulers/${scene.haulerId}`),
        plain.admin('PUT', `/sandbox/haulers/${scene.haulerId}/scenarios/server-error`, { times: 1 }),
        plain.admin('DELETE', `/sandbox/haulers/${scene.haulerId}/scenarios/server-error`),
        plain.admin('POST', '/sandbox/customers/c/clock', { advanceSeconds: 1 }),
        plain.admin('POST', '/sandbox/customers/c/clock', '{'),
        plain.admin('PUT', `/sandbox/haulers/${scene.haulerId}/scenarios/server-error`, { times: 'x' }),
      ];
      expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([404]));
      const headers = { 'API-KEY': scene.partnerKey, ...named('server-error') };
      const sites = await plain.call('GET', `/scale-platform/v1/sites?haulerId=${scene.haulerId}`, { headers });
      expect(sites.status).toBe(200);
    } finally {
      await plain.close();
    }
  });
});

describe('a scenario', () => {
  const subject = () => `haulers/${scene.haulerId}`;
  const active = async () => (await scene.service.admin<{ data: object[] }>('GET', `/sandbox/${subject()}`)).body.data;

  test('acts a number of times on a hauler, shows what is left, and ends by itself', async () => {
    expect((await scene.start(subject(), 'server-error', { times: 2 })).status).toBe(200);
    expect((await scene.getSites()).status).toBe(500);
    expect(await active()).toEqual([{ name: 'server-error', parameters: {}, remainingTimes: 1, endsAt: null }]);
    expect((await scene.pushTicket()).status).toBe(500);
    expect((await scene.getSites()).status).toBe(200);
    expect(await active()).toEqual([]);
  });

  test('is counted once by all instances together', async () => {
    const other = await startTestApp({ on: scene.service });
    try {
      await scene.start(subject(), 'unavailable', { times: 5 });
      const path = `/scale-platform/v1/sites?haulerId=${scene.haulerId}`;
      const headers = { 'API-KEY': scene.partnerKey };
      const calls = Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? scene.service : other).call('GET', path, { headers }),
      );
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 503)).toHaveLength(5);
      expect(statuses.filter((status) => status === 200)).toHaveLength(15);
    } finally {
      await other.close();
    }
  });

  test('acts for a time, on one operation only if it is restricted, until it is deleted', async () => {
    await scene.start(`customers/${CUSTOMER}`, 'unavailable', { forSeconds: 60, parameters: { route: 'listVideos' } });
    expect((await scene.listContinuous()).status).toBe(200);
    expect((await scene.listVideos()).status).toBe(503);
    const path = `/sandbox/customers/${encodeURI(CUSTOMER)}/scenarios/unavailable`;
    expect((await scene.service.admin('DELETE', path)).status).toBe(204);
    expect((await scene.listVideos()).status).toBe(200);
  });

  test('acts on no other hauler', async () => {
    await scene.start('haulers/00000000-0000-4000-8000-000000000001', 'server-error', { times: 1 });
    expect((await scene.getSites()).status).toBe(200);
  });

  test.each([
    ['without a bound', 'server-error', {}, 400],
    ['with an unknown parameter', 'server-error', { times: 1, parameters: { seconds: 1 } }, 400],
    ['with a text for a number', 'slow-answer', { times: 1, parameters: { seconds: 'x' } }, 400],
    ['of a customer', 'slow-clip', { times: 1 }, 400],
    ['that is unknown', 'no-such-scenario', { times: 1 }, 404],
  ])('%s is refused for a hauler', async (_what, name, body, status) => {
    expect((await scene.start(subject(), name, body)).status).toBe(status);
  });

  test('of another operation, or unknown, is refused in the header', async () => {
    expect((await scene.getSites(named('slow-clip'))).status).toBe(400);
    expect((await scene.getSites(named('toString'))).status).toBe(400);
  });
});

describe('faults of HTTP on all four interfaces', () => {
  const calls = {
    createTicket: (name: string) => scene.pushTicket(named(name)),
    createAccount: (name: string) => scene.createAccount('Faulty', named(name)),
    getSites: (name: string) => scene.getSites(named(name)),
    requestVideo: (name: string) => scene.requestVideo({}, named(name)),
    listVideos: (name: string) => scene.listVideos({}, named(name)),
    listContinuous: (name: string) => scene.listContinuous({}, named(name)),
  };

  test.each(Object.entries(calls))('%s', async (_route, call) => {
    for (const [name, status] of [
      ['unauthorized', 401],
      ['too-many-requests', 429],
      ['server-error', 500],
      ['unavailable', 503],
    ] as const) {
      const reply = await call(name);
      expect(reply.status).toBe(status);
      expect(reply.headers.get('Sandbox-Scenario')).toBe(name);
      if (status === 429 || status === 503) expect(reply.headers.get('Retry-After')).toBe('5');
      expect(reply.body).toMatchObject({ success: false });
    }
  });

  test('a slow answer is correct', async () => {
    await scene.start(`haulers/${scene.haulerId}`, 'slow-answer', { times: 1, parameters: { seconds: 0.3 } });
    const started = performance.now();
    expect((await scene.pushTicket()).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(290);
  });

  test('magic values act without any preparation', async () => {
    expect((await scene.requestVideo({ truckId: 'SANDBOX-SERVER-ERROR' })).status).toBe(500);
    expect((await scene.listContinuous({ truckId: 'SANDBOX-UNAVAILABLE' })).status).toBe(503);
    const siteId = '5A4D0B0C-0000-4000-8000-000000000005';
    expect((await scene.pushTicket({}, { siteId })).status).toBe(422);
  });

  test.each(['getSites', 'requestVideo', 'listVideos', 'listContinuous'] as const)(
    'responses of the partner that are no JSON: %s',
    async (route) => {
      await expect(calls[route]('cut-answer')).rejects.toThrow();
      const malformed = calls[route]('malformed-json');
      await expect(malformed).rejects.toThrow(SyntaxError);
      const text = await calls[route]('wrong-content-type');
      expect(text.headers.get('Content-Type')).toMatch(/^text\/plain/);
      expect(JSON.parse(text.text)).toMatchObject({ success: true });
      const html = await calls[route]('html-answer');
      expect([html.status, html.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    },
  );

  test('a hanging answer ends with the connection', async () => {
    await scene.start(`haulers/${scene.haulerId}`, 'hanging-answer', { times: 1, parameters: { seconds: 0.2 } });
    await expect(scene.getSites()).rejects.toThrow();
  });
});

describe('faults for callers of the platform', () => {
  test('409: no account is created', async () => {
    const { status, body } = await scene.createAccount('Not created', named('conflict'));
    expect([status, body.error.details?.['reason']]).toEqual([409, 'NAME_TAKEN']);
    expect((await scene.createAccount('Not created')).status).toBe(200);
  });

  test('422: nothing is stored', async () => {
    const { status, body } = await scene.pushTicket(named('rule-violated'));
    expect([status, body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    const material = { id: randomUUID(), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };
    const real = await scene.pushTicket({}, { materials: [material] });
    expect(body.error.details).toEqual(real.body.error.details);
  });

  test('500: the error is that of the service, with the request id', async () => {
    const { headers, body } = await scene.pushTicket(named('server-error'));
    expect(body.error.details).toEqual({ requestId: headers.get('X-Request-Id') });
    expect(JSON.stringify(body)).not.toContain('sandbox');
  });

  test('a lost answer was committed: the repeat with its Idempotency-Key gets it', async () => {
    const key = { 'Idempotency-Key': 'lost-1' };
    await expect(scene.pushTicket({ ...key, ...named('answer-lost') })).rejects.toThrow();
    const repeat = await scene.pushTicket(key);
    expect([repeat.status, repeat.headers.get('Idempotency-Replayed')]).toEqual([200, 'true']);
    await expect(scene.createAccount('Lost', named('answer-lost'))).rejects.toThrow();
    expect((await scene.createAccount('Lost')).status).toBe(409);
  });
});

const scenarios = Object.entries<Scenario>(SCENARIOS) as [ScenarioName, Scenario][];
const scenariosOf = (route: ScenarioRoute) =>
  scenarios.flatMap(([name, { routes }]) => (routes.includes(route) ? [name] : []));

type Headers = Readonly<Record<string, string>>;
/** One call of each operation; the second page shows a page that shifts. */
const CALLS: Readonly<
  Record<ScenarioRoute, (headers?: Headers, magic?: { truckId?: string; siteId?: string }) => Promise<unknown>>
> = {
  createTicket: (headers, magic) => scene.pushTicket(headers, magic),
  createAccount: (headers) => scene.createAccount(`Account ${Math.random()}`, headers),
  getSites: (headers) => scene.getSites(headers),
  requestVideo: (headers, magic) => scene.requestVideo(magic, headers),
  listVideos: (headers, magic) => scene.listVideos({ page: '2', pageSize: '1', ...magic }, headers),
  listContinuous: (headers, magic) => scene.listContinuous({ page: '2', pageSize: '1', ...magic }, headers),
};

interface Logged {
  readonly id: string;
  readonly route: string;
  readonly scenario?: string;
}

/** The scenarios in the exchange log of an operation, newest first, once there are `count` calls since `after`. */
async function logged(route: ScenarioRoute | 'download', count: number, after: string): Promise<string[]> {
  let found: string[] = [];
  await eventually(async () => {
    const query = `/exchanges?direction=inbound&pageSize=100&from=${after}`;
    const { body } = await scene.service.admin<{ data: Logged[] }>('GET', query);
    found = body.data.filter((each) => each.route === route).map(({ scenario }) => scenario ?? 'none');
    expect(found).toHaveLength(count);
  });
  return found.sort();
}

/** Makes the calls one after the other; a connection that closes is the fault of some scenarios. */
async function callAll(calls: readonly (() => Promise<unknown>)[]): Promise<string> {
  const after = new Date().toISOString();
  for (const call of calls) await call().catch(() => undefined);
  return after;
}

/** What ends these scenarios soon; the others have no such parameter. */
const soon = (name: ScenarioName, route: ScenarioRoute) => {
  const { parameters }: Scenario = SCENARIOS[name];
  return { route, ...(parameters?.['seconds'] === undefined ? {} : { seconds: 0.05 }) };
};

/** They take long where their parameter cannot be given. */
const LONG: readonly ScenarioName[] = ['hanging-answer', 'slow-answer'];

const subjectOf = (route: ScenarioRoute) =>
  /Video|Continuous/.test(route) ? `customers/${CUSTOMER}` : `haulers/${scene.haulerId}`;

describe.each(SCENARIO_ROUTES)('every scenario of %s acts once, and is marked in the exchange log', (route) => {
  const names = scenariosOf(route);

  test('started by the admin', async () => {
    const started = names.map((name) =>
      scene.start(subjectOf(route), name, { times: 1, parameters: soon(name, route) }),
    );
    expect(new Set((await Promise.all(started)).map(({ status }) => status))).toEqual(new Set([200]));
    const after = await callAll([...names, 'none'].map(() => () => CALLS[route]()));
    expect(await logged(route, names.length + 1, after)).toEqual([...names, 'none'].sort());
  });
});

describe.each(['createAccount', 'listContinuous'] as const)('each scenario of %s acts once', (route) => {
  const names = scenariosOf(route);
  const brief = names.filter((name) => !LONG.includes(name));

  test('started by the partner', async () => {
    const isPush = route === 'createAccount';
    const headers = { 'API-KEY': isPush ? scene.platformKey : scene.partnerKey };
    const started = names.map((name) =>
      scene.service.call('PUT', `/partner/v1/sandbox/scenarios/${name}`, {
        headers,
        body: { times: 1, parameters: soon(name, route) },
      }),
    );
    expect(new Set((await Promise.all(started)).map(({ status }) => status))).toEqual(new Set([200]));
    const after = await callAll(names.map(() => () => CALLS[route]()));
    expect(await logged(route, names.length, after)).toEqual([...names].sort());
    for (const name of names) await scene.service.call('DELETE', `/partner/v1/sandbox/scenarios/${name}`, { headers });
  });

  test('named by the header', async () => {
    const after = await callAll(brief.map((name) => () => CALLS[route]({ 'Sandbox-Scenario': name })));
    expect(await logged(route, brief.length, after)).toEqual([...brief].sort());
  });
});

describe.each(['createTicket', 'requestVideo', 'listVideos', 'listContinuous'] as const)('%s', (route) => {
  test('meets a scenario by its magic value', async () => {
    const key = route === 'createTicket' ? 'siteId' : 'truckId';
    const magic = scenarios.flatMap(([name, { routes, magicValue }]) => {
      const value = magicValue?.[key];
      return value === undefined || !routes.includes(route) || LONG.includes(name)
        ? []
        : [{ name, value: { [key]: value } }];
    });
    expect(magic.length).toBeGreaterThan(4);
    const after = await callAll(
      magic.map(
        ({ value }) =>
          () =>
            CALLS[route]({}, value),
      ),
    );
    expect(await logged(route, magic.length, after)).toEqual(magic.map(({ name }) => name).sort());
  });
});

const ON_LINKS = [
  'link-expired-at-birth',
  'link-expires-during-download',
  'truncated-file',
  'etag-changes',
  'no-range',
] as const;

test.each(ON_LINKS)('the download of a link with %s is marked in the exchange log', async (name) => {
  await scene.start(`customers/${CUSTOMER}`, name, { times: 1, parameters: soon(name, 'listContinuous') });
  const { body } = await scene.listContinuous();
  const [link] = body.data.recordings;
  const after = await callAll([async () => (await fetch(link?.downloadUrl ?? '')).arrayBuffer()]);
  expect(await logged('download', 1, after)).toEqual([name]);
});

test('every scenario of Vision has a magic truck', () => {
  const without = scenarios.filter(
    ([, { routes, magicValue }]) =>
      routes.some((route) => /Video|Continuous/.test(route)) && magicValue?.truckId === undefined,
  );
  expect(without.map(([name]) => name)).toEqual([]);
});

test.each([86_401, 31_536_000])('a step of the clock of %d s is 400', async (advanceSeconds) => {
  const { status } = await scene.service.admin('POST', '/sandbox/customers/c/clock', { advanceSeconds });
  expect(status).toBe(400);
});

describe('the bounds of a scenario', () => {
  const subject = () => `haulers/${scene.haulerId}`;
  const list = async () => (await scene.service.admin<{ data: object[] }>('GET', `/sandbox/${subject()}`)).body.data;

  test('it ends by itself after forSeconds', async () => {
    await scene.start(subject(), 'server-error', { forSeconds: 1 });
    expect(await list()).toEqual([
      { name: 'server-error', parameters: {}, remainingTimes: null, endsAt: expect.stringMatching(/^20.*Z$/) },
    ]);
    await eventually(async () => expect((await scene.getSites()).status).toBe(200));
    expect(await list()).toEqual([]);
  });

  test('whichever bound comes first ends it', async () => {
    await scene.start(subject(), 'server-error', { times: 1, forSeconds: 60 });
    expect((await scene.getSites()).status).toBe(500);
    expect((await scene.getSites()).status).toBe(200);
    await scene.start(subject(), 'server-error', { times: 1_000, forSeconds: 1 });
    await eventually(async () => expect((await scene.getSites()).status).toBe(200));
  });

  test.each<object>([
    { times: 0 },
    { times: -1 },
    { times: 1.5 },
    { times: '2' },
    { times: null, forSeconds: null },
    { forSeconds: 0 },
    { forSeconds: 1e12 },
    { times: 1_001 },
    { forSeconds: 86_401 },
    { times: 1, forSeconds: 31_536_000 },
    { times: 1, parameters: { route: 'createMoney' } },
    { times: 1, parameters: [] },
    { times: 1, parameters: { constructor: 1 } },
  ])('%j is 400', async (body) => {
    expect((await scene.start(subject(), 'server-error', body)).status).toBe(400);
    expect(await list()).toEqual([]);
  });
});

let service: TestApp;
let demo: Demo;
let connectionId: string;
beforeAll(async () => {
  service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
  demo = await seedDemo(service.env, service.url);
  const { body } = await service.admin<{ data: { id: string; interface: string }[] }>('GET', '/connections');
  connectionId = body.data.find((each) => each.interface === 'vision')?.id ?? '';
});
afterAll(() => service.close());

/** What becomes of a clip that the platform requests of a truck of the catalogue. */
test.each([
  ['SANDBOX-FAILED-CLIP', { status: 'failed', reason: expect.stringContaining('The camera was switched off') }],
  ['SANDBOX-NO-RANGE', { status: 'stored' }],
  ['SANDBOX-ETAG-CHANGES', { status: 'stored' }],
  ['SANDBOX-CAMERA-ALIAS', { status: 'stored' }],
  ['SANDBOX-ENDLESS-CLIP', { status: 'processing' }],
])('the platform requests a clip of %s', async (truckId, expected) => {
  const body = { connectionId, truckId, cameraId: 'front', ...demo.clip };
  const { status, body: request } = await service.admin<{ id: string }>('POST', '/video-requests', body);
  expect(status).toBe(202);
  await eventually(async () => {
    await hurryVideo(service);
    expect((await service.admin('GET', `/video-requests/${request.id}`)).body).toMatchObject(expected);
  });
});

test('the platform repeats a call of a synchronisation that got 503', async () => {
  const parameters = { seconds: 0 };
  await service.admin('PUT', `/sandbox/haulers/${DEMO.haulerId}/scenarios/unavailable`, { times: 1, parameters });
  const { body } = await service.admin<{ data: { id: string; interface: string }[] }>('GET', '/connections');
  const site = body.data.find((each) => each.interface === 'site')?.id ?? '';
  const run = await service.admin<{ runId: string }>('POST', `/connections/${site}/sync`);
  await eventually(async () =>
    expect((await service.admin('GET', `/sync-runs/${run.body.runId}`)).body).toMatchObject({ status: 'succeeded' }),
  );
  const active = await service.admin('GET', `/sandbox/haulers/${DEMO.haulerId}`);
  expect(active.body).toEqual({ data: [] });
});
