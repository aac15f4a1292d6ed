import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Scenario,
  SCENARIO_ROUTES,
  type ScenarioName,
  type ScenarioRoute,
  SCENARIOS,
} from '../../src/contracts/sandbox/scenarios.js';
import { eventually } from '../support/eventually.js';
import { CUSTOMER } from '../support/reference-vision.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

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
  const brief = names.filter((name) => !LONG.includes(name));

  test('started by the admin', async () => {
    const started = names.map((name) =>
      scene.start(subjectOf(route), name, { times: 1, parameters: soon(name, route) }),
    );
    expect(new Set((await Promise.all(started)).map(({ status }) => status))).toEqual(new Set([200]));
    const after = await callAll([...names, 'none'].map(() => () => CALLS[route]()));
    expect(await logged(route, names.length + 1, after)).toEqual([...names, 'none'].sort());
  });

  test('started by the partner', async () => {
    const isPush = route === 'createTicket' || route === 'createAccount';
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
    { times: 1, parameters: { route: 'createMoney' } },
    { times: 1, parameters: [] },
    { times: 1, parameters: { constructor: 1 } },
  ])('%j is 400', async (body) => {
    expect((await scene.start(subject(), 'server-error', body)).status).toBe(400);
    expect(await list()).toEqual([]);
  });
});
