import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp } from '../support/app.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

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
