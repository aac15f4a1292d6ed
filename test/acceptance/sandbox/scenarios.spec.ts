import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { Hauler, type Plain } from '../support/hauler.js';
import { at, type ListBody, type Video } from '../support/hosted.js';
import { type CallChange, HOSTED_SITES, type Outcome, outcomeOf, ROUTES, SandboxScene } from '../support/sandbox.js';
import { admin, administer, call } from '../support/target.js';

interface Scenario {
  readonly name: string;
  readonly interface: readonly string[];
  readonly route: readonly string[];
  readonly description: string;
  readonly parameters: Readonly<Record<string, object>>;
  readonly magicValue: { readonly truckId?: string; readonly siteId?: string } | null;
}

let scene: SandboxScene;
let catalogue: readonly Scenario[];
beforeAll(async () => {
  scene = await SandboxScene.create();
  catalogue = (await administer<{ data: Scenario[] }>('GET', '/sandbox/scenarios')).data;
});

const named = (name: string): CallChange => ({ headers: { 'Sandbox-Scenario': name } });
const json = <Body = Plain>({ text }: Outcome): Body => JSON.parse(text) as Body;
const errorOf = (outcome: Outcome) => [outcome.status, json<ListBody>(outcome).error.code];
const listOf = (outcome: Outcome) => json<ListBody>(outcome).data;

interface Case {
  readonly route: string;
  readonly change?: CallChange;
  readonly parameters?: Plain;
  readonly shows: (outcome: Outcome) => void | Promise<void>;
}

/** One call of each scenario, and what it shows. */
const CASES: Readonly<Record<string, Case>> = {
  unauthorized: {
    route: 'createTicket',
    shows: (outcome) => expect(errorOf(outcome)).toEqual([401, 'UNAUTHORIZED']),
  },
  'too-many-requests': {
    route: 'createAccount',
    shows: ({ status, headers }) => expect([status, headers.get('Retry-After')]).toEqual([429, '5']),
  },
  'server-error': {
    route: 'createTicket',
    shows(outcome) {
      expect(errorOf(outcome)).toEqual([500, 'INTERNAL_ERROR']);
      const { error } = json<ListBody>(outcome);
      expect(error.details).toEqual({ requestId: outcome.headers.get('X-Request-Id') });
      expect(outcome.text).not.toContain('sandbox');
    },
  },
  unavailable: {
    route: 'listVideos',
    parameters: { seconds: 7 },
    shows: ({ status, headers }) => expect([status, headers.get('Retry-After')]).toEqual([503, '7']),
  },
  'slow-answer': {
    route: 'getSites',
    parameters: { seconds: 0.3 },
    shows({ status, took }) {
      expect(status).toBe(200);
      expect(took).toBeGreaterThan(290);
    },
  },
  'cut-answer': {
    route: 'listContinuous',
    shows: ({ status, isCut }) => expect([status, isCut]).toEqual([200, true]),
  },
  'hanging-answer': {
    route: 'getSites',
    parameters: { seconds: 0.2 },
    shows: ({ status, isCut }) => expect([status, isCut]).toEqual([undefined, true]),
  },
  'malformed-json': {
    route: 'listVideos',
    shows(outcome) {
      expect([outcome.status, outcome.headers.get('Content-Type')]).toEqual([200, expect.stringContaining('json')]);
      expect(() => json(outcome)).toThrow(SyntaxError);
    },
  },
  'wrong-content-type': {
    route: 'getSites',
    shows(outcome) {
      expect(outcome.headers.get('Content-Type')).toMatch(/^text\/plain/);
      expect(json(outcome)).toMatchObject({ success: true });
    },
  },
  'html-answer': {
    route: 'requestVideo',
    shows({ status, headers, text }) {
      expect([status, headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(text).toMatch(/^<!doctype html>/);
    },
  },
  conflict: {
    route: 'createAccount',
    change: { fields: { accountName: 'Not created' } },
    async shows(outcome) {
      expect(errorOf(outcome)).toEqual([409, 'CONFLICT']);
      expect(json<ListBody>(outcome).error.details?.reason).toBe('NAME_TAKEN');
      const again = await scene.call('createAccount', { fields: { accountName: 'Not created' } });
      expect(again.status).toBe(200);
    },
  },
  'rule-violated': {
    route: 'createTicket',
    async shows(outcome) {
      expect(errorOf(outcome)).toEqual([422, 'VALIDATION_ERROR']);
      const fields = { materials: [{ id: randomUUID(), name: 'x', quantity: 1, unitOfMeasure: 'Ton' }] };
      const real = json<ListBody>(await scene.call('createTicket', { fields }));
      expect(json<ListBody>(outcome).error.details).toEqual(real.error.details);
    },
  },
  'answer-lost': {
    route: 'createTicket',
    change: { headers: { 'Idempotency-Key': 'lost' } },
    async shows({ status }) {
      expect(status).toBeUndefined();
      const again = await scene.call('createTicket', { headers: { 'Idempotency-Key': 'lost' } });
      expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true']);
    },
  },
  'site-list-shrinks': {
    route: 'getSites',
    async shows(outcome) {
      const { data } = json<{ data: typeof HOSTED_SITES }>(outcome);
      const [left] = data.sites;
      expect(data).toEqual({
        sites: [left],
        kiosks: HOSTED_SITES.kiosks.filter(({ siteId }) => siteId === left?.id),
        materials: [expect.anything()],
      });
      expect(json<typeof data>(await scene.call('getSites'))).toMatchObject({ data: { sites: [{}, {}] } });
    },
  },
  'material-without-parent': {
    route: 'getSites',
    shows(outcome) {
      const { sites, materials } = json<{ data: typeof HOSTED_SITES }>(outcome).data;
      const ids = new Set(sites.map(({ id }) => id));
      expect(materials.filter(({ siteId, kioskId }) => kioskId === undefined && !ids.has(siteId))).toHaveLength(1);
    },
  },
  'stale-records': {
    route: 'getSites',
    shows(outcome) {
      const { sites } = json<{ data: typeof HOSTED_SITES }>(outcome).data;
      expect(new Set(sites.map(({ updatedAt }) => updatedAt))).toEqual(new Set(['2000-01-01T00:00:00Z']));
    },
  },
  'slow-clip': {
    route: 'requestVideo',
    async shows(outcome) {
      const { requestId } = json<{ requestId: string }>(outcome);
      expect(await stateOf(requestId)).toBe('processing');
      await scene.customer.clock({ advanceTo: 'clip-ready' });
      await eventually(async () => expect(await stateOf(requestId)).not.toBe('processing'));
    },
  },
  'failed-clip': {
    route: 'requestVideo',
    parameters: { reason: 'The lens is broken.' },
    async shows(outcome) {
      const { requestId } = json<{ requestId: string }>(outcome);
      const { request } = await scene.customer.ended(requestId);
      expect(request).toMatchObject({ status: 'failed', message: 'The lens is broken.' });
    },
  },
  'endless-clip': {
    route: 'requestVideo',
    async shows(outcome) {
      const { requestId } = json<{ requestId: string }>(outcome);
      const path = `/sandbox/customers/${encodeURIComponent(scene.customer.id)}/clock`;
      expect((await admin('POST', path, { advanceTo: 'clip-ready' })).status).toBe(409);
      expect(await stateOf(requestId)).toBe('processing');
    },
  },
  'link-expired-at-birth': {
    route: 'listContinuous',
    shows: async (outcome) => expect((await download(outcome)).status).toBe(410),
  },
  'link-expires-during-download': {
    route: 'listContinuous',
    // Long enough for the request to arrive on a busy machine.
    parameters: { seconds: 3 },
    async shows(outcome) {
      expect(await download(outcome)).toMatchObject({ status: 200, isCut: true });
      expect((await download(outcome)).status).toBe(410);
    },
  },
  'truncated-file': {
    route: 'listContinuous',
    shows: async (outcome) => expect(await sizeOf(outcome)).toBe(1_000),
  },
  'etag-changes': {
    route: 'listContinuous',
    shows: async (outcome) => expect(await resumed(outcome)).toEqual([200, 2_000]),
  },
  'no-range': {
    route: 'listContinuous',
    shows: async (outcome) => expect(await resumed(outcome)).toEqual([200, 2_000]),
  },
  'shifting-pages': {
    route: 'listContinuous',
    change: { fields: { page: '2', pageSize: '2' } },
    async shows(outcome) {
      const idsOf = (list: Outcome) => listOf(list).recordings.map(({ id }) => id);
      const first = idsOf(await scene.call('listContinuous', { fields: { pageSize: '2' } }));
      expect(idsOf(outcome)[0]).toBe(first[1]);
      const second = await scene.call('listContinuous', { fields: { page: '2', pageSize: '2' } });
      expect(idsOf(second)).not.toContain(first[1]);
    },
  },
  'wrong-totals': {
    route: 'listContinuous',
    shows: (outcome) => expect(listOf(outcome).pagination.totalItems).toBeGreaterThan(4),
  },
  'late-chunks': {
    route: 'listContinuous',
    async shows(outcome) {
      expect(listOf(outcome).recordings).toHaveLength(2);
      expect(listOf(await scene.call('listContinuous')).recordings).toHaveLength(4);
    },
  },
  'camera-alias': {
    route: 'listContinuous',
    shows: (outcome) => expect(listOf(outcome).recordings.map(({ cameraId }) => cameraId)).toEqual(Array(4).fill('1')),
  },
};

const stateOf = async (requestId: string) => (await scene.customer.videos({ requestId })).body.data.request?.status;
const linkOf = (outcome: Outcome): string => (listOf(outcome).recordings[0] as Video).downloadUrl;
const download = (outcome: Outcome): Promise<Outcome> => outcomeOf(fetch(linkOf(outcome)));
const sizeOf = async (outcome: Outcome) => (await (await fetch(linkOf(outcome))).arrayBuffer()).byteLength;
/** The answer to a request for the rest, after a first one that broke off. */
async function resumed(outcome: Outcome): Promise<[number, number]> {
  const first = await fetch(linkOf(outcome));
  await expect(first.arrayBuffer()).rejects.toThrow();
  const headers = { Range: 'bytes=100-', 'If-Range': first.headers.get('ETag') ?? '' };
  const rest = await fetch(linkOf(outcome), { headers });
  return [rest.status, (await rest.arrayBuffer()).byteLength];
}

describe('the catalogue of the sandbox', () => {
  test('has a case here for each scenario', () => {
    expect(catalogue.map(({ name }) => name).sort()).toEqual(Object.keys(CASES).sort());
  });

  test('names interface, operation, parameters and magic value of a scenario', () => {
    expect(catalogue).toContainEqual({
      name: 'slow-clip',
      interface: ['vision'],
      route: ['requestVideo'],
      description: expect.stringMatching(/\w/),
      parameters: { seconds: { description: expect.any(String), default: 120 } },
      magicValue: { truckId: 'SANDBOX-SLOW-CLIP' },
    });
    const { interface: interfaces, route } = catalogue.find(({ name }) => name === 'server-error') as Scenario;
    expect([interfaces, [...route].sort()]).toEqual([['scale', 'account', 'site', 'vision'], [...ROUTES].sort()]);
  });

  test.each(Object.entries(CASES))('%s acts once when the administrator starts it', async (name, scenario) => {
    const { route, change, parameters = {}, shows } = scenario;
    await scene.start(name, route, { times: 1, parameters: { route, ...parameters } });
    const outcome = await scene.call(route, change);
    await shows(outcome);
    const { data } = await administer<{ data: object[] }>('GET', `/sandbox/${scene.subjectOf(route)}`);
    expect(data).toEqual([]);
  });

  test.each([
    ['scale', 'rule-violated'],
    ['account', 'conflict'],
    ['site', 'stale-records'],
    ['vision', 'wrong-totals'],
  ])('a scenario of %s acts on the one call whose header names it: %s', async (_, name) => {
    const { route, change, shows } = CASES[name] as Case;
    const other = change?.fields?.['accountName'] === undefined ? {} : { fields: { accountName: 'Another' } };
    const outcome = await scene.call(route, { ...change, ...other, ...named(name) });
    expect(outcome.headers.get('Sandbox-Scenario')).toBe(name);
    if (name !== 'conflict') await shows(outcome);
    expect((await scene.call(route)).headers.get('Sandbox-Scenario')).toBeNull();
  });

  test.each(ROUTES)('the faults of HTTP act on %s', async (route) => {
    const faults = { unauthorized: 401, 'too-many-requests': 429, 'server-error': 500, unavailable: 503 };
    for (const [name, status] of Object.entries(faults)) {
      const outcome = await scene.call(route, named(name));
      expect([outcome.status, outcome.headers.get('Sandbox-Scenario')]).toEqual([status, name]);
      expect(json(outcome)).toMatchObject({ success: false });
    }
  });

  test.each(['requestVideo', 'listVideos', 'listContinuous', 'createTicket'])(
    'each magic value of %s starts its scenario',
    async (route) => {
      const field = route === 'createTicket' ? 'siteId' : 'truckId';
      const isLong = (name: string) => name === 'slow-answer' || name === 'hanging-answer' || name === 'cut-answer';
      const magic = catalogue.filter(
        ({ magicValue, name, ...each }) =>
          magicValue?.[field] !== undefined && !isLong(name) && each.route.includes(route),
      );
      expect(magic.length).toBeGreaterThan(4);
      for (const { name, magicValue } of magic) {
        const outcome = await scene.call(route, { fields: { [field]: magicValue?.[field], page: '2' } });
        expect(outcome.headers.get('Sandbox-Scenario')).toBe(name);
      }
    },
  );

  test('each scenario of Vision has a magic truck, which has the recordings of a real one', async () => {
    const ofVision = catalogue.filter((each) => each.interface.includes('vision'));
    expect(ofVision.filter(({ magicValue }) => magicValue?.truckId === undefined)).toEqual([]);
    const { recordings } = listOf(await scene.call('listContinuous', { fields: { truckId: 'SANDBOX-WRONG-TOTALS' } }));
    expect(recordings.map(({ truckId }) => truckId)).toEqual(Array(4).fill('SANDBOX-WRONG-TOTALS'));
  });

  test('the exchange log names the scenario of a call', async () => {
    for (const [name, route] of Object.entries({ 'rule-violated': 'createTicket', 'malformed-json': 'getSites' })) {
      const outcome = await scene.call(route, named(name));
      const query = `/exchanges?direction=inbound&requestId=${outcome.headers.get('X-Request-Id')}`;
      await eventually(async () =>
        expect(await administer('GET', query)).toMatchObject({ data: [{ route, scenario: name }] }),
      );
    }
  });

  test('the header with an unknown scenario, or with one of another operation, is 400', async () => {
    for (const name of ['slow-clip', 'toString', ''])
      expect((await scene.call('getSites', named(name))).status).toBe(400);
  });
});

describe('an active scenario', () => {
  const active = async (route = 'getSites') =>
    (await administer<{ data: Plain[] }>('GET', `/sandbox/${scene.subjectOf(route)}`)).data;
  const put = (name: string, body: unknown, subject = scene.subjectOf('getSites')) =>
    admin('PUT', `/sandbox/${subject}/scenarios/${name}`, body);

  test('acts the number of times that was given, shows what is left, and ends by itself', async () => {
    await scene.start('server-error', 'getSites', { times: 2 });
    expect((await scene.call('getSites')).status).toBe(500);
    expect(await active()).toEqual([{ name: 'server-error', parameters: {}, remainingTimes: 1, endsAt: null }]);
    expect((await scene.call('createTicket')).status).toBe(500);
    expect((await scene.call('getSites')).status).toBe(200);
    expect(await active()).toEqual([]);
  });

  test('acts for the time that was given, and ends by itself', async () => {
    await scene.start('server-error', 'getSites', { forSeconds: 1, times: 1_000 });
    expect(await active()).toMatchObject([{ name: 'server-error', endsAt: expect.stringMatching(/^20.*Z$/) }]);
    await eventually(async () => expect((await scene.call('getSites')).status).toBe(200));
    expect(await active()).toEqual([]);
  });

  test('acts on one operation alone where that is named, until it is deleted', async () => {
    await scene.start('unavailable', 'listVideos', { forSeconds: 60, parameters: { route: 'listVideos' } });
    expect((await scene.call('listContinuous')).status).toBe(200);
    expect((await scene.call('listVideos')).status).toBe(503);
    const path = `/sandbox/${scene.subjectOf('listVideos')}/scenarios/unavailable`;
    expect((await admin('DELETE', path)).status).toBe(204);
    expect((await scene.call('listVideos')).status).toBe(200);
  });

  test('acts on no other hauler', async () => {
    const other = await Hauler.create();
    await administer('PUT', `/sandbox/haulers/${other.id}/scenarios/server-error`, { times: 1 });
    expect((await scene.call('getSites')).status).toBe(200);
  });

  test('can be started and ended by the key of its hauler or customer', async () => {
    const headers = { 'API-KEY': scene.customer.key };
    const path = '/partner/v1/sandbox/scenarios';
    expect((await call('PUT', `${path}/unavailable`, { headers, body: { times: 5 } })).status).toBe(200);
    expect((await scene.call('listContinuous')).status).toBe(503);
    expect((await call('DELETE', `${path}/unavailable`, { headers })).status).toBe(204);
    expect((await scene.call('listContinuous')).status).toBe(200);
    const { body } = await call<{ data: Plain[] }>('GET', path, { headers });
    expect(body.data.map(({ name }) => name)).toContain('slow-clip');
  });

  test('marks also the lists of a clip that it delays, and a call that the route refuses', async () => {
    const { requestId } = json<{ requestId: string }>(await scene.call('requestVideo', named('endless-clip')));
    const list = await scene.call('listVideos', { fields: { requestId } });
    expect(list.headers.get('Sandbox-Scenario')).toBe('endless-clip');
    await scene.start('slow-answer', 'createTicket', { times: 1, parameters: { seconds: 0.01 } });
    const refused = await scene.call('createTicket', { fields: { materials: 'none' } });
    expect([refused.status, refused.headers.get('Sandbox-Scenario')]).toEqual([400, 'slow-answer']);
  });

  test.each<[string, number, unknown]>([
    ['no bound', 400, {}],
    ['0 times', 400, { times: 0 }],
    ['-1 times', 400, { times: -1 }],
    ['1.5 times', 400, { times: 1.5 }],
    ['a text as number of times', 400, { times: '2' }],
    ['1,001 times', 400, { times: 1_001 }],
    ['0 seconds', 400, { forSeconds: 0 }],
    ['more than a day', 400, { forSeconds: 86_401 }],
    ['both bounds null', 400, { times: null, forSeconds: null }],
    ['an unknown parameter', 400, { times: 1, parameters: { seconds: 1 } }],
    ['a parameter of the language', 400, { times: 1, parameters: { constructor: 1 } }],
    ['an unknown operation', 400, { times: 1, parameters: { route: 'createMoney' } }],
    ['a list of parameters', 400, { times: 1, parameters: [] }],
  ])('is refused with %s: %i', async (_, status, body) => {
    expect((await put('server-error', body)).status).toBe(status);
    expect(await active()).toEqual([]);
  });

  test.each([
    ['with a text for a number', 'slow-answer', { times: 1, parameters: { seconds: 'x' } }, 400],
    ['that acts on customers', 'slow-clip', { times: 1 }, 400],
    ['that is unknown', 'no-such-scenario', { times: 1 }, 404],
  ])('is refused for a hauler %s: %s', async (_, name, body, status) => {
    expect((await put(name, body)).status).toBe(status);
  });
});

describe('the clock of a customer', () => {
  const move = (body: unknown) =>
    admin<{ now: string }>('POST', `/sandbox/customers/${encodeURIComponent(scene.customer.id)}/clock`, body);

  test('moves by seconds, for one customer', async () => {
    const { body: before } = await move({ advanceSeconds: 1 });
    const { status, body } = await move({ advanceSeconds: 3_600 });
    const moved = (Date.parse(body.now) - Date.parse(before.now)) / 1_000;
    expect([status, Math.floor(moved / 60)]).toEqual([200, 60]);
    const other = await SandboxScene.create();
    const [link] = (await other.customer.continuous()).body.data.recordings;
    expect(Date.parse(link?.expiresAt ?? '')).toBeLessThanOrEqual(Date.now() + 8 * 3_600_000);
  });

  test('moves to the end of the links, and to the time at which the window of the last recording is closed', async () => {
    const { customer } = await SandboxScene.create();
    const [old] = (await customer.continuous()).body.data.recordings as [Video];
    await customer.clock({ advanceTo: 'link-expired' });
    expect((await fetch(old.downloadUrl)).status).toBe(410);
    const [renewed] = (await customer.continuous()).body.data.recordings as [Video];
    expect((await fetch(renewed.downloadUrl)).status).toBe(200);
    const end = new Date(Date.now() + 4 * 3_600_000).toISOString();
    await customer.upload(0, { startTime: at(0), endTime: at(1), truckId: 'T2' });
    await customer.upload(0, { startTime: new Date(Date.parse(end) - 60_000).toISOString(), endTime: end });
    const { now } = await customer.clock({ advanceTo: 'window-closed' });
    expect(Date.parse(now) - Date.parse(end)).toBeGreaterThanOrEqual(6 * 3_600_000);
  });

  test.each<[number, unknown]>([
    [400, {}],
    [400, { advanceSeconds: 1, advanceTo: 'clip-ready' }],
    [400, { advanceSeconds: 86_401 }],
    [400, { advanceSeconds: 0 }],
    [400, { advanceTo: 'tomorrow' }],
    [409, { advanceTo: 'window-closed' }],
  ])('answers %i to %j', async (status, body) => {
    expect((await move(body)).status).toBe(status);
  });
});
