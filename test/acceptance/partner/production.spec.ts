import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { testServer } from '../../support/test-run.js';
import { type ErrorBody, Hauler } from '../support/hauler.js';
import { at, HostedCustomer } from '../support/hosted.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, call, read } from '../support/target.js';

const MAIN = join(import.meta.dirname, '../../../dist/src/main.js');
const PUBLIC_URL = 'https://videos.example.com/base';

let service: OwnService;
let customer: HostedCustomer;
beforeAll(async () => {
  // An empty variable counts as absent.
  const unset = { DEMO: '', SANDBOX: '', OUTBOUND_ALLOW_PRIVATE: '', SHUTDOWN_DRAIN: '0' };
  service = await startOwnService({
    env: { NODE_ENV: 'production', ...unset, PUBLIC_URL: `${PUBLIC_URL}/`, VISION_LINK_TTL: '30m' },
  });
  customer = await HostedCustomer.create(service, { interfaces: ['site', 'vision'] });
  await customer.record([0]);
});

describe('in production', () => {
  test('a start without DATABASE_URL is refused, and names what switches the embedded database on (decision 53)', () => {
    const env = { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: '0', DATA_DIR: dataDir() };
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8', timeout: 30_000 });
    expect(status).toBeGreaterThan(0);
    expect(stdout + stderr).toMatch(/DATABASE_URL is required[^]*EMBEDDED_DATABASE=true/);
  });

  test('no demo is there unless it is switched on (decision 53)', async () => {
    expect((await read<{ data: object[] }>('/haulers', service)).data).toEqual([]);
  });

  test('outbound calls go to public addresses by https alone unless that is switched off (decisions 50, 53)', async () => {
    const { id: haulerId } = await Hauler.create({ service });
    for (const baseUrl of ['http://partner.example.com', 'https://127.0.0.1:9', 'https://10.0.0.1']) {
      const body = { haulerId, interface: 'site', baseUrl, apiKey: 'key' };
      expect([baseUrl, (await admin('POST', '/connections', body, service)).status]).toEqual([baseUrl, 400]);
    }
  });

  test('an error names the line of /docs/errors for its code, below PUBLIC_URL (decision 11)', async () => {
    const page = (await call<string>('GET', '/docs/errors', {}, service)).text;
    for (const path of ['/nowhere', '/admin/v1/haulers', '/platform-api/v1/tickets', '/partner/v1/me']) {
      const { body } = await call<ErrorBody>('GET', path, {}, service);
      expect(body.error.details?.['help']).toBe(`${PUBLIC_URL}/docs/errors#${body.error.code}`);
      expect(page).toContain(` id="${body.error.code}"`);
    }
    const list = await call<ErrorBody>('GET', '/video-platform/v1/videos/continuous', {}, service);
    const withoutUrl = await call<ErrorBody>('GET', '/nowhere');
    expect([list.body.error.details, withoutUrl.body.error.details]).toEqual([undefined, undefined]);
  });

  test('the calls of the sandbox are 404, whatever their body is (decision 53)', async () => {
    const scenario = `/sandbox/haulers/${randomUUID()}/scenarios/server-error`;
    const calls = await Promise.all([
      admin('GET', '/sandbox/scenarios', undefined, service),
      admin('GET', `/sandbox/customers/${encodeURIComponent(customer.id)}`, undefined, service),
      admin('PUT', scenario, { times: 1 }, service),
      admin('PUT', scenario, { times: 'x' }, service),
      admin('DELETE', scenario, undefined, service),
      admin('POST', '/sandbox/customers/c/clock', { advanceSeconds: 1 }, service),
      admin('POST', '/sandbox/customers/c/clock', '{', service),
      ...(['GET', 'PUT'] as const).map((method) => {
        const path = `/partner/v1/sandbox/scenarios${method === 'PUT' ? '/server-error' : ''}`;
        return call(method, path, { headers: { 'API-KEY': customer.key } }, service);
      }),
      call('POST', '/partner/v1/sandbox/clock', { headers: { 'API-KEY': customer.key }, body: {} }, service),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 404));
  });

  test('neither the header nor a magic truck starts a scenario (decision 53)', async () => {
    const { status, headers } = await customer.continuous({}, { headers: { 'Sandbox-Scenario': 'server-error' } });
    expect([status, headers.get('Sandbox-Scenario')]).toEqual([200, null]);
    expect((await customer.continuous({ truckId: 'SANDBOX-SERVER-ERROR' })).status).toBe(404);
  });

  test('download links begin with PUBLIC_URL, and are valid for VISION_LINK_TTL (section 8 expiresAt; decision 46)', async () => {
    const [recording] = (await customer.continuous({ endTime: at(1) })).body.data.recordings;
    expect(recording?.downloadUrl).toMatch(new RegExp(`^${PUBLIC_URL}/media/v1/recordings/`));
    const minutes = (Date.parse(recording?.expiresAt ?? '') - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(28);
    expect(minutes).toBeLessThanOrEqual(30);
  });
});

const dataDir = (): string => mkdtempSync(join(testServer().folder, 'refused-'));
