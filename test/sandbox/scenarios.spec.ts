import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCENARIO_NAMES } from '../../src/contracts/sandbox/scenarios.js';
import { startTestApp } from '../support/app.js';
import { CUSTOMER } from '../support/reference-vision.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';

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
