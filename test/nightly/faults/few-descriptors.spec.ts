import { execFileSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import { beforeAll, expect, test } from '@jest/globals';
import { held } from '../../support/held.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';

/** Each kind of file that the service reads at its first request. */
const PATHS = [
  ...['/docs', '/docs/swagger-ui-bundle.js', '/docs/scale.json', '/docs/admin.yaml', '/docs/guides'],
  ...[
    '/docs/guides/operator',
    '/docs/conformance.mjs',
    '/docs/errors',
    '/docs/changelog',
    '/console',
    '/console/tickets',
  ],
];

let service: OwnService;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeAll(async () => {
  service = await startOwnService();
  held(async () => agent.destroy());
});

/** On the one connection that is open: a new one needs a descriptor. */
const get = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const call = request(service.url + path, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    call.once('error', reject).end();
  });

const statuses = async (): Promise<[string, number][]> => {
  const found: [string, number][] = [];
  for (const path of PATHS) found.push([path, await get(path)]);
  return found;
};

const limitFiles = (soft: string) =>
  execFileSync('prlimit', ['--pid', String(service.child.pid), `--nofile=${soft}:`], { stdio: 'ignore' });

test('a page that was first asked for without a free file descriptor is served once there is one (decision 13)', async () => {
  expect(await get('/health/live')).toBe(200);
  limitFiles('3');
  const failed = await statuses();
  expect(failed.filter(([, status]) => status >= 500).length).toBeGreaterThan(5);
  // None of them says that the page does not exist.
  expect(failed.filter(([, status]) => status === 404)).toEqual([]);
  limitFiles('1024');
  expect(await statuses()).toEqual(PATHS.map((path) => [path, 200]));
});
