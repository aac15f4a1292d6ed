import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { welcome } from '../../src/demo/welcome.js';
import { readPackets } from './media/sample-files.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

interface Page<T> {
  readonly data: T[];
}

/** The service with its demo. */
class Scene {
  private constructor(
    readonly service: TestApp,
    readonly demo: Demo,
  ) {}

  static async start(): Promise<Scene> {
    const service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
    return new Scene(service, await seedDemo(service.env, service.url));
  }

  stop(): Promise<void> {
    return this.service.close();
  }

  seedAgain(): Promise<Demo> {
    return seedDemo(this.service.env, this.service.url);
  }

  async list<T>(path: string): Promise<T[]> {
    return (await this.service.admin<Page<T>>('GET', path)).body.data;
  }
}

/** The address, headers and body of each `curl` in the welcome. */
function curls(text: string): { url: string; headers: Record<string, string>; body: string | undefined }[] {
  return text
    .split('\n')
    .filter((line) => line.trim().startsWith('curl'))
    .map((line) => ({
      url: /(https?:[^\s']+)/.exec(line)?.[1] ?? '',
      headers: Object.fromEntries(
        [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
      ),
      body: /-d '(.+)'$/.exec(line)?.[1],
    }));
}

/** Path and status of each call in the welcome. */
async function pasted(text: string): Promise<string[]> {
  const statuses = [];
  for (const { url, headers, body } of curls(text)) {
    const response = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
    statuses.push(`${new URL(url).pathname} ${response.status}`);
  }
  return statuses;
}

describe('the demo', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.start();
  });
  afterAll(() => scene.stop());

  it('prints a call for each interface that works as pasted', async () => {
    const { service, demo } = scene;
    const text = welcome(service.env, service.url, demo);
    // A shell would expand the brackets of http://[::1]:3000 without quotes.
    for (const [, url] of text.matchAll(/curl -sS (\S+)/g)) expect(url).toMatch(/^'http[^']+'$/);
    expect(await pasted(text)).toEqual([
      '/platform-api/v1/tickets 200',
      '/platform-api/v1/accounts 200',
      '/scale-platform/v1/sites 200',
      '/video-platform/v1/videos/requests 202',
    ]);
  });

  it('stores the playable clips of two recordings, and all recordings of the subscription', async () => {
    const { service } = scene;
    const clip = await eventually(async () => {
      const [request] = await scene.list<{ status: string; recordingIds: string[] }>('/video-requests');
      expect(request?.status).toBe('stored');
      expect(request?.recordingIds).toHaveLength(2);
      return request?.recordingIds[0] ?? '';
    });
    const { body } = await service.admin<{ startTime: string; endTime: string }>('GET', `/recordings/${clip}`);
    const content = await fetch(`${service.url}/admin/v1/recordings/${clip}/content`, {
      headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` },
    });
    const bytes = Buffer.from(await content.arrayBuffer());
    const seconds = (Date.parse(body.endTime) - Date.parse(body.startTime)) / 1_000;
    expect(Math.abs((await readPackets(bytes)).durationSeconds - seconds)).toBeLessThan(1);
    await eventually(async () => {
      const recordings = await scene.list<{ status: string }>('/recordings?source=continuous&pageSize=100');
      expect(recordings.filter((each) => each.status === 'stored')).toHaveLength(20);
    });
  }, 90_000);

  it('adds nothing twice when it starts again, and keeps its keys', async () => {
    const again = await scene.seedAgain();
    expect(again.keys).toEqual(scene.demo.keys);
    for (const path of ['/haulers', '/api-keys', '/connections', '/video-subscriptions']) {
      const { length } = await scene.list(path);
      expect(`${path} ${length}`).toBe(`${path} ${{ '/haulers': 1, '/video-subscriptions': 1 }[path] ?? 2}`);
    }
    expect((await scene.list('/video-requests')).length).toBe(1);
  });
});
