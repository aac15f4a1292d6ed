import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueKey } from '../support/api-keys.js';
import { startTestApp } from '../support/app.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

const call = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  scene.service.call<{ data: unknown[]; now: string }>(method, `/partner/v1/sandbox${path}`, { headers, body });
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
  const { key } = await issueKey(scene.service, ['vision'], { haulerId: scene.haulerId });
  expect((await call('PUT', '/scenarios/server-error', { 'API-KEY': key }, { times: 1 })).status).toBe(200);
});

test('the clock of the customer moves', async () => {
  const { status, body } = await call('POST', '/clock', partner(), { advanceSeconds: 86_400 });
  expect(status).toBe(200);
  expect(Date.parse(body.now)).toBeGreaterThan(Date.now() + 86_000_000);
});

test('all of it is 404 where SANDBOX is off', async () => {
  const plain = await startTestApp({ on: scene.service, env: { SANDBOX: false } });
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
